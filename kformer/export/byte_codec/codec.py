"""The byte codec for the signatures of a `.tflite` file: bytes to ids and back, in graph.

Axes: T ids, M bytes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from kformer.export.byte_codec.codec_tables import BROKEN, BYTES, SPACED, ZERO, tables_of
from kformer.export.byte_codec.double_array import NO_BYTE
from kformer.export.byte_codec.normalize import ByteText, normalize, read
from kformer.export.byte_codec.scan import (
    character_lengths,
    first,
    last_boundary,
    looked_up,
    narrowed,
    shifted,
    spread,
)
from kformer.export.byte_codec.segment import segment


def spell(spellings: Any, ids: tf.Tensor, room: int):
    """Returns the text of ids.

    Args:
        ids: int32 tensor (T,).

    Returns:
        text: uint8 tensor (M,), UTF-8, then zeros; U+0000 is left out.
        cut: bool tensor (), whether there was no room for all of it.
    """
    ids = tf.clip_by_value(ids, 0, spellings.kind.shape[0] - 1)
    start, length = looked_up(spellings.start, ids), looked_up(spellings.length, ids)
    kind = looked_up(spellings.kind, ids)
    start, length = _repaired(spellings, kind, start, length)
    spaced = tf.cast(tf.equal(kind, SPACED), tf.int32)
    before = tf.cumsum(length - spaced if spellings.strip_all else length, exclusive=True)
    stripped = tf.where(tf.equal(before, 0), spaced, 0)
    parts = spread(tf.where(tf.equal(kind, ZERO), 0, length - stripped), room + 1)
    places = tf.gather(start + stripped, parts.slice) + parts.offset
    written = looked_up(
        spellings.strings, tf.clip_by_value(places, 0, spellings.strings.shape[0] - 1)
    )
    cut = parts.total > room
    total = tf.where(cut, last_boundary(written, room), parts.total)
    text = tf.where(tf.range(room) < total, first(written, room), 0)
    return tf.cast(text, tf.uint8), cut


def _repaired(spellings, kind, start, length):
    """Spells pieces of one byte that are no part of a character as U+FFFD."""
    single = tf.equal(kind, BYTES)
    byte = tf.where(single, looked_up(spellings.strings, start), NO_BYTE)
    lengths = character_lengths(byte)
    whole = lengths > 0
    for back in (1, 2, 3):
        whole |= shifted(lengths, -back, 0) > back
    broken = single & ~whole
    return tf.where(broken, 0, start), tf.where(broken, len(BROKEN), length)


_SHORT = 192  # Bytes; texts within take less time.
_GROWTH = 64  # Bytes that normalization may add to a text.
_SHORT_GROWTH = 8  # The same, of a short one; where it adds more, the text counts as long.


class TextTokens(NamedTuple):
    """The result of `ByteCodec.tokenize`."""

    ids: tf.Tensor  # int32 (S,): pieces, the end id, padding
    count: tf.Tensor  # int32 (): number of ids of the text that was read, with the end id
    cut: tf.Tensor  # bool (): whether the text was cut


class ByteCodec:
    """UTF-8 bytes to ids and back, in ops that are built into LiteRT.

    Args:
        tokenizer: `kformer.Tokenizer`, of a unigram model.
        constant: Makes a tensor of an array of the tables.

    Raises:
        ValueError: The codec does not support the model.
    """

    def __init__(self, tokenizer: Any, constant: Callable = tf.constant):
        self._tables = _narrowed(tables_of(tokenizer.model))
        self._end_id, self._padding_id = tokenizer.end_id, tokenizer.padding_id
        self._prefix_id = tokenizer.prefix_id
        self._constant = constant

    def tokenize(
        self, source: tf.Tensor, most: int, prefix_id: tf.Tensor | None = None
    ) -> TextTokens:
        """Returns the `TextTokens` of `source`, uint8 (N,), without zeros at its end; S is `most`.

        Args:
            prefix_id: int32 (1,), an id to put before the others; by default the id of
                the tokenizer's prefix, if it has one.
        """
        if prefix_id is None and self._prefix_id is not None:
            prefix_id = [self._prefix_id]
        text, size = read(source), source.shape[0]
        if size <= _SHORT:
            return TextTokens(*self._tokens(text, size + _GROWTH, most, prefix_id))
        # Time depends only on the capacity, so a small one is tried first. It has no branch of its
        # own, because LiteRT would plan that anew at each call, which doubles the time.
        over = text.length > _SHORT
        begun = ByteText(
            first(text.bytes, _SHORT), tf.minimum(text.length, _SHORT), text.cut | over
        )
        short = self._tokens(begun, _SHORT + _SHORT_GROWTH, most, prefix_id)
        _, _, cut = short

        def whole():
            return self._tokens(text, size + _GROWTH, most, prefix_id)

        return TextTokens(*tf.cond(cut, whole, lambda: short))

    def _tokens(self, text, room, most, prefix_id):
        """Normalizes a `ByteText`, of which `room` bytes are kept, and tokenizes it."""
        text = normalize(self._in_graph(self._tables.normalizer), text, room)
        ids, count = segment(self._in_graph(self._tables.pieces), text)
        if prefix_id is not None:
            ids = tf.concat([prefix_id, ids], axis=0)
            count += tf.minimum(count, 1)
        ids = tf.pad(ids, ((0, max(most - ids.shape[0], 0)),))
        kept = tf.minimum(count, most - 1)
        places = tf.range(most)
        ids = tf.where(places < kept, first(ids, most), self._padding_id)
        ids = tf.where(tf.equal(places, kept), self._end_id, ids)
        return ids, count + 1, text.cut | (count >= most)

    def detokenize(self, ids: tf.Tensor, room: int):
        """Returns the text of `ids`, int32 (T,), as `spell` does."""
        return spell(self._in_graph(self._tables.spellings), ids, room)

    def _in_graph(self, tables):
        """Returns the same named tuple with a tensor for each array."""
        return type(tables)(*map(self._tensor, tables))

    def _tensor(self, part):
        if isinstance(part, np.ndarray):
            return self._constant(part)
        return self._in_graph(part) if isinstance(part, tuple) else part


def _narrowed(tables):
    """Returns the same named tuple with `narrowed` arrays."""
    if isinstance(tables, np.ndarray):
        return narrowed(tables)
    return type(tables)(*map(_narrowed, tables)) if isinstance(tables, tuple) else tables
