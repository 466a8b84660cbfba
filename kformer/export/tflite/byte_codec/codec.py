"""The codec as the signatures of a `.tflite` file use it. In graph."""

from typing import NamedTuple

import tensorflow as tf

from kformer.export.tflite.byte_codec.normalize import Text, normalize, read
from kformer.export.tflite.byte_codec.scan import first
from kformer.export.tflite.byte_codec.segment import segment
from kformer.export.tflite.byte_codec.spell import spell
from kformer.export.tflite.byte_codec.tables import tables_of

_SHORT = 192  # Bytes of a text that is done in less time.
_GROWTH = 64  # Bytes more that a normalised text may have than its source.


class Tokens(NamedTuple):
    """What `ByteCodec.tokenize` returns."""

    ids: tf.Tensor  # int32 (S,): pieces, the end id, padding
    count: tf.Tensor  # int32 (): how many there are in what was read, the end id included
    cut: tf.Tensor  # bool (): whether this is only the beginning of the text


class ByteCodec:
    """UTF-8 bytes to ids and back, in ops that are built into LiteRT.

    Args:
        tokenizer: `kformer.Tokenizer`, of a unigram model.

    Raises:
        ValueError: The model does something that the codec does not.
    """

    def __init__(self, tokenizer):
        self._tables = tables_of(tokenizer.model)
        self._end_id, self._padding_id = tokenizer.end_id, tokenizer.padding_id

    def tokenize(self, source, most: int) -> Tokens:
        """Returns the `Tokens` of `source`, uint8 (N,), zeros at its end left out; S is `most`."""
        text, size = read(source), source.shape[0]
        if size <= _SHORT:
            return Tokens(*self._tokens(text, size, most))
        # What time this takes depends on the room alone: it is tried with little. Not in a branch
        # of its own, which LiteRT would plan anew at each call, in twice the time that it takes.
        over = text.length > _SHORT
        begun = Text(first(text.bytes, _SHORT), tf.minimum(text.length, _SHORT), text.cut | over)
        short = self._tokens(begun, _SHORT, most)
        _, _, cut = short
        return Tokens(*tf.cond(cut, lambda: self._tokens(text, size, most), lambda: short))

    def _tokens(self, text, size, most):
        """As `tokenize`, of a `Text` with room for `size` bytes."""
        text = normalize(self._tables.normalizer, text, size + _GROWTH)
        ids, count = segment(self._tables.pieces, text)
        ids = tf.pad(ids, ((0, max(most - ids.shape[0], 0)),))
        kept = tf.minimum(count, most - 1)
        places = tf.range(most)
        ids = tf.where(places < kept, first(ids, most), self._padding_id)
        ids = tf.where(tf.equal(places, kept), self._end_id, ids)
        return ids, count + 1, text.cut | (count >= most)

    def detokenize(self, ids, room: int):
        """Returns the text of `ids`, int32 (T,), as `spell.spell` does."""
        return spell(self._tables.spellings, ids, room)
