"""Attention of one position: the query of each beam over all slots of its row.

Equation 1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), with the scale already in
the query; its reference is `kformer.model.attention.scaled_dot_product_attention`.

Axes: B batch, K beams, M = B * K, N slots, S source length, H heads, W width of a head, D d_model.
"""

from typing import Any

import numpy as np
from keras import ops

from kformer.decoding.source_memory import SourceMemory
from kformer.model.attention import KeysValues, match, precise


class MatmulAttention:
    """Attention by products of matrices.

    Args:
        heads: Number of heads H.
        width: Width of a head W.
        beams: Number of beams K.
    """

    def __init__(self, heads: int, width: int, beams: int = 1):
        self._heads, self._width, self._beams = heads, width, beams

    def cache_shape(self, slots: Any) -> tuple:
        """Returns the shape of cached keys, and of cached values, without the batch."""
        return self._heads, slots, self._width

    def prepare_memory(self, memory: SourceMemory) -> SourceMemory:
        """Returns the memory in the layout that `attend_memory` reads."""
        return memory

    def split(self, vectors: Any, parts: int = 1) -> list:
        """(M, parts * D) -> as many of (B, H, K, W)."""
        heads = parts * self._heads
        if self._beams == 1:  # A reshape alone; nothing is transposed.
            vectors = ops.reshape(vectors, (-1, heads, 1, self._width))
        else:
            vectors = ops.reshape(vectors, (-1, 1, self._beams, heads, self._width))
            vectors = ops.transpose(vectors, (0, 1, 3, 2, 4))
            vectors = ops.reshape(vectors, (-1, heads, self._beams, self._width))
        return ops.split(vectors, parts, axis=1) if parts > 1 else [vectors]

    def attend_cache(self, query: Any, parts: tuple, masks: tuple) -> Any:
        """Averages the cached values.

        Args:
            query: float tensor (B, H, K, W).
            parts: one to three `KeysValues` (B, H, N, W).
            masks: the additive mask of each, float (B or 1, 1, K, N), equal but for N.

        Returns:
            float tensor (M, D).
        """
        scores = [self._match(query, part.keys) for part in parts]  # (B, H, K, N) each
        if len(parts) == 1:
            return self._join(self._average(_softmax(scores[0], masks[0]), parts[0].values))
        weights = _softmax(ops.concatenate(scores, -1), ops.concatenate(masks, -1))
        heads, end = [], 0
        for part in parts:
            start, end = end, end + ops.shape(part.keys)[2]
            heads.append(self._average(weights[..., start:end], part.values))
        return self._join(sum(heads[1:], heads[0]))

    def attend_memory(self, query: Any, memory: KeysValues, mask: Any) -> tuple[Any, Any]:
        """Averages the values of the source.

        Args:
            query: float tensor (B, H, K, W).

        Returns:
            float tensor (M, D), and the weights (B, H, K, S).
        """
        weights = _softmax(self._match_memory(query, memory.keys), mask)
        return self._join(self._average(weights, memory.values)), weights

    def _match(self, query, keys):
        return match(query, keys)

    def _match_memory(self, query, keys):
        return ops.matmul(query, keys)

    def _average(self, weights, values):
        return ops.matmul(ops.cast(weights, values.dtype), values)

    def _join(self, heads):
        """(B, H, K, W) -> (M, D)."""
        if self._beams > 1:
            heads = ops.reshape(heads, (-1, 1, self._heads, self._beams, self._width))
            heads = ops.transpose(heads, (0, 1, 3, 2, 4))
        return ops.reshape(heads, (-1, self._heads * self._width))


class ElementwiseAttention(MatmulAttention):
    """Attention of one beam by elementwise products and sums.

    LiteRT lays out the second matrix of every product anew, in columns of 32. For a single query
    that takes longer than the product: elementwise, a step of 32 rows in 8 bits takes 0.89 of the
    time, with the tiny model and with base. (Keys and values as (B, N, H, W) are no faster.)
    """

    def prepare_memory(self, memory: SourceMemory) -> SourceMemory:
        layers = [KeysValues(ops.swapaxes(keys, -2, -1), values) for keys, values in memory.layers]
        return memory._replace(layers=tuple(layers))

    def _match(self, query, keys):
        return ops.expand_dims(ops.sum(query * keys, axis=3), 2)

    _match_memory = _match

    def _average(self, weights, values):
        weights = ops.swapaxes(ops.cast(weights, values.dtype), 2, 3)  # (B, H, N, 1)
        return ops.sum(weights * values, axis=2, keepdims=True)


def _softmax(scores, mask):
    # Not an int, or Keras would warn of a softmax over one key.
    scores = precise(scores)
    return ops.softmax(scores + ops.cast(mask, scores.dtype), axis=np.int64(-1))
