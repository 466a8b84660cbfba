"""Segmentation: a text to the ids of its most likely pieces, in graph.

A unigram model picks the split of the highest score. A text that repeats itself has several such
splits: "aaa" as "a", "aa", or as "aa", "a". Rounding decides between them, and the SentencePiece
library, which the byte codec follows, rounds otherwise than tensorflow-text. `are_tied` recognizes
these ties.

Axes: M bytes, E = M + 1 ends, L bytes of the longest piece.
"""

from typing import Any

import numpy as np
import tensorflow as tf
from keras import ops

from kformer.export.byte_codec.codec_tables import UTF8, Pieces
from kformer.export.byte_codec.double_array import DEAD
from kformer.export.byte_codec.piece_model import BYTE, UNKNOWN, read_piece_model
from kformer.export.byte_codec.scan import looked_up, reached, scattered, walk

_NEVER = -1e30  # A score; sums of some thousands of it are still finite.
_LONGEST_CHARACTER = 4
_AT_ONCE = 4  # Ends whose best pieces are found in one step of a loop.


def segment(pieces: Pieces, text: Any):
    """Returns the ids of a text, and how many there are.

    Returns:
        ids: int32 tensor (M,); of no meaning after the last.
        count: int32 tensor ().
    """
    states = walk(pieces.keys, text.bytes)
    if missing := max(_LONGEST_CHARACTER - pieces.keys.depth, 0):
        states = tf.pad(states, ((0, missing), (0, 0)))
    scores = _by_end(_scores(pieces, states, text), _NEVER)
    lengths, states = _best(scores, _by_end(states, DEAD), text.length)
    known = states >= pieces.keys.ends
    ids = tf.where(known, looked_up(pieces.keys.follow, states), pieces.unknown_id)
    return _emitted(pieces, text, lengths, ids)


def _scores(pieces, states, text):
    """Returns the score of the piece of 1 byte, 2 bytes and so on at each byte: float (L, M)."""
    ends = states >= pieces.keys.ends
    places = tf.where(ends, states - pieces.keys.ends, 0)
    scores = tf.cast(looked_up(pieces.scores, places), tf.float32) * pieces.scale
    scores = tf.where(ends, scores, _NEVER)
    # A character that is no piece.
    short = scores[:_LONGEST_CHARACTER]
    sizes = tf.reshape(tf.range(1, _LONGEST_CHARACTER + 1), (-1, 1))
    unknown = tf.equal(looked_up(UTF8.length, text.bytes), sizes) & ~ends[:_LONGEST_CHARACTER]
    short = tf.where(unknown, pieces.unknown_score, short)
    if scores.shape[0] == _LONGEST_CHARACTER:
        return short
    return tf.concat([short, scores[_LONGEST_CHARACTER:]], axis=0)


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


def _best(scores, states, length):
    """Returns of the best piece that ends at each place its length and its state, int32 (E,)."""
    depth, count = scores.shape
    by_end = tf.transpose(scores)  # (E, L)
    blocks = -(-count // _AT_ONCE)
    rows = tf.pad(by_end, ((0, blocks * _AT_ONCE + 1 - count), (0, 0)), constant_values=_NEVER)

    def advance(end, best):
        before = tf.slice(best, [end], [depth])
        block = tf.slice(rows, [end, 0], [_AT_ONCE, depth])
        scores = []
        for row in tf.split(block, _AT_ONCE):
            here = tf.reduce_max(before + tf.reshape(row, (depth,)), keepdims=True)
            scores.append(here)
            before = tf.concat([tf.slice(before, [1], [depth - 1]), here], axis=0)
        # Places are counted from `depth` places before the beginning.
        best = ops.slice_update(best, (end + depth,), tf.concat(scores, axis=0))
        return end + _AT_ONCE, best

    size = depth + blocks * _AT_ONCE + 1
    first = tf.constant(np.where(np.arange(size) == depth, 0, _NEVER), tf.float32)
    _, best = tf.while_loop(lambda end, _: end <= length, advance, (1, first))
    best = tf.slice(best, [0], [depth + count])
    before = _diagonals(tf.tile(tf.expand_dims(best, 0), (depth, 1)), count)
    # Of equal ones the first, which is the longest. LiteRT is faster in rows.
    row = tf.argmax(tf.transpose(before) + by_end, axis=1, output_type=tf.int32)
    states = tf.gather(tf.reshape(states, [-1]), row * count + tf.range(count))
    return depth - row, states


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
        byte_ids = tf.concat([[0], looked_up(pieces.byte_ids, text.bytes)], axis=0)
        ids = tf.where(spelt, byte_ids, ids)
        emitted = tf.where(spelt, 1, chosen)
    number = tf.cumsum(emitted)
    room = text.bytes.shape[0]
    return scattered(tf.where(emitted > 0, number - 1, room), ids, room), number[-1]


_ROUNDING = float(np.finfo(np.float32).eps) / 2  # Of one sum, for each unit of it, at most.


def are_tied(tokenizer: Any, ids: Any, other_ids: Any) -> bool:
    """Returns whether both spell one text, with equal scores up to float32's rounding."""
    texts = {tokenizer.detokenize([row]).numpy()[0] for row in (ids, other_ids)}
    if len(texts) > 1:
        return False
    model = read_piece_model(tokenizer.model)
    score, other_score = (sum(_score(model, i) for i in row) for row in (ids, other_ids))
    # All scores are below zero, so that no sum on the way is larger than the last.
    most = _ROUNDING * (len(ids) + len(other_ids)) * max(abs(score), abs(other_score))
    return abs(score - other_score) <= most


def _score(model, i) -> float:
    """Returns the score of an id; an unknown character's score counts at its first byte."""
    kind = model.types[i]
    if kind == BYTE and int(model.pieces[i][1:-1], 16) & 0xC0 == 0x80:  # Not the first.
        return 0.0
    return float(model.unknown_score if kind in (BYTE, UNKNOWN) else model.scores[i])
