"""The text to the ids of its most likely pieces. In graph.

Axes: M bytes, E = M + 1 ends, L bytes of the longest piece.
"""

import numpy as np
import tensorflow as tf
from keras import ops

from kformer.export.byte_codec.scan import looked_up, reached, scattered, walk
from kformer.export.byte_codec.tables import UTF8

_NEVER = -1e30  # A score; sums of some thousands of it are still finite.
_LONGEST_CHARACTER = 4


def segment(pieces, text):
    """Returns the ids of a text, and how many there are.

    Args:
        pieces: `tables.Pieces`.
        text: `normalize.Text`.

    Returns:
        ids: int32 tensor (M,); of no meaning after the last.
        count: int32 tensor ().
    """
    ends, values = walk(pieces.keys, text.bytes)
    depth = max(pieces.keys.depth, _LONGEST_CHARACTER)
    if missing := depth - pieces.keys.depth:
        ends = tf.concat([ends, tf.zeros([missing, ends.shape[1]], tf.bool)], axis=0)
        values = tf.pad(values, ((0, missing), (0, 0)))
    unknown = _unknown(ends, text)
    values = tf.where(ends, values, 0)
    scores = tf.cast(looked_up(pieces.scores, values), tf.float32) * pieces.scale
    scores = tf.where(ends, scores, _NEVER)
    scores = tf.where(unknown, pieces.unknown_score, scores)
    values = tf.where(unknown, pieces.unknown_id, values)
    lengths, ids = _best(_by_end(scores, _NEVER), _by_end(values, 0), text.length)
    return _emitted(pieces, text, lengths, ids)


def _unknown(ends, text):
    """Where a character begins that is no piece: bool (L, M), in the row of its length."""
    sizes = tf.reshape(tf.range(1, ends.shape[0] + 1), (-1, 1))
    return tf.equal(looked_up(UTF8.length, text.bytes), sizes) & ~ends


def _by_end(values, fill):
    """Sorts (L, M) by length and start into (L, E) by start and end, the earliest start first."""
    depth, size = values.shape
    values = tf.pad(tf.reverse(values, [0]), ((0, 0), (depth, 0)), constant_values=fill)
    return _diagonals(values, size + 1)


def _diagonals(values, count):
    """Moves row r of (L, W) r places to the left; returns the first `count` columns."""
    depth, width = values.shape
    flat = tf.pad(tf.reshape(values, [-1]), ((0, depth),))
    return tf.slice(tf.reshape(flat, (depth, width + 1)), [0, 0], [depth, count])


def _best(scores, ids, length):
    """Returns of the best piece that ends at each place its length and its id, int32 (E,) each."""
    depth, count = scores.shape
    by_end = tf.transpose(scores)  # (E, L)

    def advance(end, best):
        before = tf.slice(best, [end], [depth])
        here = tf.reduce_max(before + tf.reshape(tf.slice(by_end, [end, 0], [1, depth]), [-1]))
        # Places are counted from `depth` places before the beginning.
        return end + 1, ops.slice_update(best, (end + depth,), tf.reshape(here, (1,)))

    first = tf.constant(np.where(np.arange(depth + count) == depth, 0, _NEVER), tf.float32)
    _, best = tf.while_loop(lambda end, _: end <= length, advance, (1, first))
    before = _diagonals(tf.tile(tf.expand_dims(best, 0), (depth, 1)), count)
    row = tf.argmax(before + scores, axis=0, output_type=tf.int32)  # Of equal ones the longest.
    ids = tf.gather(tf.reshape(ids, [-1]), row * count + tf.range(count))
    return depth - row, ids


def _emitted(pieces, text, lengths, ids):
    count = lengths.shape[0]
    places = tf.range(count)
    chosen = reached(tf.maximum(places - lengths, 0), text.length, count)
    chosen *= tf.minimum(places, 1)  # Nothing ends at 0.
    unknown = tf.cast(tf.equal(ids, pieces.unknown_id), tf.int32) * chosen
    if pieces.byte_ids is None:
        before = tf.gather(unknown, tf.maximum(places - lengths, 0))
        emitted = chosen * (1 - unknown * before)
    else:
        sizes = tf.pad(lengths * unknown, ((0, _LONGEST_CHARACTER - 1),))
        spelt = tf.zeros([count], tf.bool)
        for back in range(_LONGEST_CHARACTER):  # Whether the unknown one ends so much later.
            spelt |= tf.slice(sizes, [back], [count]) > back
        of_bytes = tf.concat([[0], looked_up(pieces.byte_ids, text.bytes)], axis=0)
        ids = tf.where(spelt, of_bytes, ids)
        emitted = tf.where(spelt, 1, chosen)
    number = tf.cumsum(emitted)
    room = text.bytes.shape[0]
    return scattered(tf.where(emitted > 0, number - 1, room), ids, room), number[-1]
