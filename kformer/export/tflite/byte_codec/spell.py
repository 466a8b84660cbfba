"""Ids to the text that they spell. In graph.

Axes: T ids, M bytes.
"""

import tensorflow as tf

from kformer.export.tflite.byte_codec.double_array import NO_BYTE
from kformer.export.tflite.byte_codec.scan import (
    character_lengths,
    first,
    last_boundary,
    looked_up,
    shifted,
    spread,
)
from kformer.export.tflite.byte_codec.tables import BROKEN, BYTES, SPACED, ZERO


def spell(spellings, ids, room: int):
    """Returns the text of ids.

    Args:
        spellings: `tables.Spellings`.
        ids: int32 tensor (T,).
        room: M.

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
    """Lets U+FFFD stand for those pieces of one byte that are no part of a character."""
    single = tf.equal(kind, BYTES)
    byte = tf.where(single, looked_up(spellings.strings, start), NO_BYTE)
    lengths = character_lengths(byte)
    whole = lengths > 0
    for back in (1, 2, 3):
        whole |= shifted(lengths, -back, 0) > back
    broken = single & ~whole
    return tf.where(broken, 0, start), tf.where(broken, len(BROKEN), length)
