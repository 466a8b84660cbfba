"""Scans of a text as operations over all of its positions at once, in ops that LiteRT has.

Axes: N bytes read, M bytes written, K states or slices.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kformer.export.byte_codec.codec_tables import UTF8
from kformer.export.byte_codec.double_array import DEAD, END, NO_BYTE, DoubleArray

_HALF = 2**15  # Of the numbers of 16 bits.


def shifted(values: tf.Tensor, by: int, fill: int | bool):
    """Returns `values` (N,) moved by `by` places to the left, or to the right if negative."""
    rest = values.shape[0] - abs(by)
    filled = tf.fill([abs(by)], tf.constant(fill, values.dtype))
    if by < 0:
        return tf.concat([filled, first(values, rest)], axis=0)
    return tf.concat([tf.slice(values, [by], [rest]), filled], axis=0)


def first(values: tf.Tensor, count: int):
    """Returns the first `count` of `values`; cheaper than `values[:count]` in LiteRT."""
    return tf.slice(values, [0], [count])


def narrowed(table: np.ndarray):
    """Returns an array for `looked_up`: int32 numbers in one byte or two if they fit.

    LiteRT cannot look up uint16 numbers, so they are int16, moved by 32,768. The converter cannot
    slice those, so an odd number of them is padded to whole words.
    """
    if table.dtype != np.int32 or table.min() < 0 or table.max() >= 2 * _HALF:
        return table
    if table.max() < 2**8:
        return table.astype(np.uint8)
    return np.pad((table - _HALF).astype(np.int16), (0, len(table) % 2))


def looked_up(table: tf.Tensor | np.ndarray, places: tf.Tensor):
    """Returns `table[places]` as int32; every one of `places` is in the table.

    Args:
        table: A tensor of an array of `narrowed`; or an array of int32 numbers.
        places: int32 tensor.
    """
    values = tf.cast(tf.gather(table, places), tf.int32)
    return values + _HALF if table.dtype == tf.int16 else values


def walk(automaton: DoubleArray, text: tf.Tensor):
    """Goes through an automaton from every position of a text.

    Args:
        text: int32 tensor (N,), bytes; `NO_BYTE` behind the end.

    Returns:
        int32 tensor (depth, N), the states after 1 byte, 2, and so on.
    """
    size = text.shape[0]
    state = tf.fill([size], automaton.start)
    states = []
    text = tf.where(tf.equal(text, END), NO_BYTE, text)  # No key contains a zero byte.
    text = tf.pad(text, ((0, automaton.depth),), constant_values=NO_BYTE)
    for distance in range(automaton.depth):
        byte = tf.slice(text, [distance], [size])
        slot = state + byte
        goes_on = tf.equal(looked_up(automaton.label, slot), byte)
        state = tf.where(goes_on, looked_up(automaton.follow, slot), DEAD)
        states.append(state)
    return tf.stack(states)


def character_lengths(text: tf.Tensor):
    """Returns the bytes of the character that begins at each position; 0 where none does.

    Args:
        text: int32 tensor (N,), bytes or `NO_BYTE`.

    Returns:
        int32 tensor (N,).
    """
    length = looked_up(UTF8.length, text)
    second, third, fourth = (shifted(text, by, NO_BYTE) for by in (1, 2, 3))
    in_range = (looked_up(UTF8.least, text) <= second) & (second <= looked_up(UTF8.most, text))
    whole = (
        tf.less_equal(length, 1)
        | (in_range & tf.equal(length, 2))
        | (in_range & is_trail(third) & tf.equal(length, 3))
        | (in_range & is_trail(third) & is_trail(fourth))
    )
    return tf.where(whole, length, 0)


def is_trail(byte: tf.Tensor):
    """Whether bytes are such as continue a character."""
    return (byte >= 0x80) & (byte <= 0xBF)


def reached(follow: tf.Tensor, start: tf.Tensor | int, size: int):
    """Finds the positions reached from `start` by following each position's link.

    By pointer doubling: after round k, all that 2^k steps reach is marked.

    Args:
        follow: int32 tensor (N,), positions; the last in a way names itself.
        start: int32 tensor, a position.

    Returns:
        int32 tensor (N,), 1 for reached positions, more for the last of them, else 0.
    """
    marked = tf.cast(tf.equal(tf.range(size), start), tf.int32)
    steps = 1
    while steps < size:
        marked += tf.scatter_nd(tf.expand_dims(follow, 1), marked, [size])
        follow = tf.gather(follow, follow)
        steps *= 2
    return marked


class Spread(NamedTuple):
    """Result of `spread`."""

    slice: tf.Tensor  # int32 (M,): which slice the byte is of
    offset: tf.Tensor  # int32 (M,): which byte of the slice it is
    total: tf.Tensor  # int32 (): bytes of all slices; it may be over M


def spread(sizes: tf.Tensor, room: int):
    """Lays slices one after the other, and returns the origin of each byte.

    Args:
        sizes: int32 tensor (K,), bytes of each slice; 0 to leave it out.
    """
    count = sizes.shape[0]
    end = tf.cumsum(sizes)
    begin = end - sizes
    occupied = tf.minimum(sizes, 1)
    # Slices that are not empty, numbered, and at each byte the number of slices that have begun.
    number = tf.where(occupied > 0, tf.cumsum(occupied) - 1, count)
    kept = scattered(number, tf.range(count), count)
    begun = tf.cumsum(scattered(tf.where(occupied > 0, begin, room), occupied, room))
    which = tf.gather(kept, tf.maximum(begun - 1, 0))
    return Spread(which, tf.range(room) - tf.gather(begin, which), end[-1])


def scattered(places: tf.Tensor, values: tf.Tensor, room: int):
    """Returns int32 (room,) with `values` (K,) at `places` (K,); places from `room` on are lost."""
    places = tf.expand_dims(tf.minimum(places, room), 1)
    return first(tf.scatter_nd(places, values, [room + 1]), room)


def last_boundary(text: tf.Tensor, limit: int):
    """Returns the most bytes up to `limit` that end no character half-way.

    Args:
        text: int32 tensor (limit + 1,) or more, well-formed UTF-8.
    """
    back = tf.constant(0)
    for distance in (2, 1, 0):
        back = tf.where(is_trail(text[limit - distance]), back, distance)
    return limit - back
