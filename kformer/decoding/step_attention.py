"""Attention of one position: the query of each beam, against all slots of its row.

Equation 1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), the scale of it already in
the query.

Axes: B batch, K beams, M = B * K, N slots, S source length, H heads, W width of a head, D d_model.
"""

import numpy as np
from keras import ops

from kformer.model.attention import KeysValues, match, precise


class Products:
    """Attention by products of matrices.

    Args:
        heads: Number of heads H.
        width: Width of a head W.
        beams: Number of beams K.
    """

    def __init__(self, heads, width, beams=1):
        self._heads, self._width, self._beams = heads, width, beams

    def shape(self, slots):
        """Shape of the keys, and of the values, without the batch."""
        return self._heads, slots, self._width

    def memory(self, memory):
        """A `SourceMemory` as `look` wants it."""
        return memory

    def split(self, vectors, parts=1):
        """(M, parts * D) -> as many of (B, H, K, W)."""
        heads = parts * self._heads
        if self._beams == 1:  # Nothing has to move.
            vectors = ops.reshape(vectors, (-1, heads, 1, self._width))
        else:
            vectors = ops.reshape(vectors, (-1, 1, self._beams, heads, self._width))
            vectors = ops.transpose(vectors, (0, 1, 3, 2, 4))
            vectors = ops.reshape(vectors, (-1, heads, self._beams, self._width))
        return ops.split(vectors, parts, axis=1) if parts > 1 else [vectors]

    def mix(self, query, past, masks):
        """Averages the values of the past.

        Args:
            query: float tensor (B, H, K, W).
            past: tuple of one or two `KeysValues` (B, H, N, W).
            masks: tuple of what to add to the scores of each, float (B or 1, 1, K, N).

        Returns:
            float tensor (M, D).
        """
        scores = [self._match(query, part.keys) for part in past]  # (B, H, K, N) each
        if len(past) == 1:
            return self._join(self._average(self._weigh(scores[0], masks[0]), past[0].values))
        weights = self._weigh(ops.concatenate(scores, -1), ops.concatenate(masks, -1))
        slots = past[1].keys.shape[2]
        first = self._average(weights[..., :-slots], past[0].values)
        return self._join(first + self._average(weights[..., -slots:], past[1].values))

    def look(self, query, memory, mask):
        """Averages the values of the source.

        Args:
            query: float tensor (B, H, K, W).
            memory: `KeysValues` of one layer of what `memory` returned.
            mask: its mask.

        Returns:
            float tensors (M, D), and the weights (B, H, K, S).
        """
        weights = self._weigh(self._match_memory(query, memory.keys), mask)
        return self._join(self._average(weights, memory.values)), self._of_beams(weights)

    def _match(self, query, keys):
        return match(query, keys)

    def _match_memory(self, query, keys):
        return ops.matmul(query, keys)

    def _weigh(self, scores, mask):
        return _softmax(scores, mask)

    def _of_beams(self, weights):
        return weights

    def _average(self, weights, values):
        return ops.matmul(ops.cast(weights, values.dtype), values)

    def _join(self, heads):
        """(B, H, K, W) -> (M, D)."""
        if self._beams > 1:
            heads = ops.reshape(heads, (-1, 1, self._heads, self._beams, self._width))
            heads = ops.transpose(heads, (0, 1, 3, 2, 4))
        return ops.reshape(heads, (-1, self._heads * self._width))


class Sums(Products):
    """Attention by numbers multiplied and summed up, for one beam.

    LiteRT lays out the second matrix of every product anew, in columns of 32. For a single query
    that takes longer than the product: a step of 32 rows in 8 bits takes 0.89 of the time by sums,
    with the tiny model and with base. (Keys and values as (B, N, H, W) are no faster.)
    """

    def memory(self, memory):
        layers = [KeysValues(ops.swapaxes(keys, -2, -1), values) for keys, values in memory.layers]
        return memory._replace(layers=tuple(layers))

    def _match(self, query, keys):
        return ops.expand_dims(ops.sum(query * keys, axis=3), 2)

    _match_memory = _match

    def _weigh(self, scores, mask):
        return _softmax(scores, mask)

    def _of_beams(self, weights):
        return weights

    def _average(self, weights, values):
        weights = ops.swapaxes(ops.cast(weights, values.dtype), 2, 3)  # (B, H, N, 1)
        return ops.sum(weights * values, axis=2, keepdims=True)


def _softmax(scores, mask):
    # Not an int, or Keras would warn of a softmax over one key.
    scores = precise(scores)
    return ops.softmax(scores + ops.cast(mask, scores.dtype), axis=np.int64(-1))
