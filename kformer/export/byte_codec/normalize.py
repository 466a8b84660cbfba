"""Normalization in graph: bytes to text with replacements, repaired UTF-8 and white space.

Axes: N bytes read, M bytes written.
"""

from typing import NamedTuple

import tensorflow as tf

from kformer.export.byte_codec.codec_tables import BROKEN, SPACE_BYTE, UTF8, Normalizer
from kformer.export.byte_codec.double_array import NO_BYTE
from kformer.export.byte_codec.scan import (
    character_lengths,
    first,
    is_trail,
    last_boundary,
    looked_up,
    reached,
    scattered,
    shifted,
    spread,
    walk,
)

_BAR = "\u2581".encode()  # The library writes a space so; in a text it means one.


class ByteText(NamedTuple):
    """A text of static room."""

    bytes: tf.Tensor  # int32 (M,); `NO_BYTE` behind the end
    length: tf.Tensor  # int32 ()
    cut: tf.Tensor  # bool (): whether there would have been more


def read(source: tf.Tensor):
    """Returns the `ByteText` in `source`, uint8 (N,), without the zeros at its end; M is N.

    Without a zero at the end, the text may have been cut: half of a character there is left out.
    """
    size = source.shape[0]
    places = tf.range(size)
    text = tf.cast(source, tf.int32)
    length = tf.reduce_max(tf.where(tf.equal(text, 0), 0, places + 1))
    begins = looked_up(UTF8.length, text)
    followed = tf.ones([size], tf.bool)  # By continuation bytes of a character alone.
    for by in (1, 2, 3):
        followed &= is_trail(shifted(text, by, 0x80))
    halved = followed & (places + begins > size)
    whole = tf.minimum(length, tf.reduce_min(tf.where(halved, places, size)))
    return ByteText(tf.where(places < whole, text, NO_BYTE), whole, whole < length)


def normalize(normalizer: Normalizer, text: ByteText, room: int) -> ByteText:
    """Returns the text that is split, with one byte for each space."""
    return _without_extra_spaces(normalizer, text, _replaced(normalizer, text, room))


def _replaced(normalizer, text, room):
    size = text.bytes.shape[0]
    places = tf.range(size)
    character = character_lengths(text.bytes)
    consumed = tf.maximum(character, 1)
    start = tf.where(character > 0, normalizer.strings.shape[0] + places, 0)
    length = tf.where(character > 0, character, len(BROKEN))
    if normalizer.keys.depth:
        longest, value = _longest_keys(normalizer.keys, text.bytes)
        has_key = longest > 0
        consumed = tf.where(has_key, longest, consumed)
        start = tf.where(has_key, value + 1, start)
        length = tf.where(has_key, looked_up(normalizer.strings, value), length)
    follow = tf.concat([tf.minimum(places + consumed, size), [size]], axis=0)
    counts = first(reached(follow, 0, size + 1), size)
    parts = spread(tf.where(places < text.length, length * counts, 0), room + 1)
    strings = tf.concat([normalizer.strings, tf.cast(text.bytes, tf.uint8)], axis=0)
    from_where = tf.gather(start, parts.slice) + parts.offset
    from_where = tf.clip_by_value(from_where, 0, strings.shape[0] - 1)
    written = tf.cast(tf.gather(strings, from_where), tf.int32)
    cut = parts.total > room
    total = tf.where(cut, last_boundary(written, room), parts.total)
    written = tf.where(tf.range(room) < total, first(written, room), NO_BYTE)
    return ByteText(written, total, cut | text.cut)


def _longest_keys(keys, text):
    """Returns the bytes of the longest key at each position, and the place in `strings`.

    Both are int32 (N,).
    """
    states = walk(keys, text)  # (depth, N)
    ends = tf.cast(states >= keys.ends, tf.float32)  # Of which LiteRT has the faster operations.
    lengths = tf.reshape(tf.range(1.0, keys.depth + 1), (-1, 1))
    longest = tf.reduce_max(ends * lengths, axis=0)
    last = tf.cast(tf.equal(lengths, longest), tf.float32)
    state = tf.reduce_max(tf.cast(states, tf.float32) * last, axis=0)
    return tf.cast(longest, tf.int32), 2 * looked_up(keys.follow, tf.cast(state, tf.int32))


def _without_extra_spaces(normalizer, source, text):
    room = text.bytes.shape[0]
    bar = tf.ones([room], tf.bool)
    for by, byte in enumerate(_BAR):
        bar &= tf.equal(shifted(text.bytes, by, NO_BYTE), byte)
    rest_of_bar = shifted(bar, -1, False) | shifted(bar, -2, False)
    space = tf.equal(text.bytes, SPACE_BYTE)
    kept = (tf.range(room) < text.length) & ~rest_of_bar
    if normalizer.remove_extra:
        kept &= ~(space & shifted(space, -1, True))
        seen = kept & ~space & ~bar
        last = tf.reduce_max(tf.where(seen, tf.range(room), -1))
        kept &= tf.range(room) <= last
        anything = last >= 0
    else:
        anything = source.length > 0
    kept = tf.cast(kept, tf.int32)
    prefix = int(normalizer.dummy_prefix)
    places = tf.where(kept > 0, tf.cumsum(kept) - 1 + prefix, room + prefix)
    written = scattered(places, tf.where(bar, SPACE_BYTE, text.bytes), room + prefix)
    length = tf.where(anything, tf.reduce_sum(kept) + prefix, 0)
    if prefix:
        written = tf.where(tf.equal(tf.range(room + 1), 0), SPACE_BYTE, written)
    return ByteText(tf.where(tf.range(room + prefix) < length, written, NO_BYTE), length, text.cut)
