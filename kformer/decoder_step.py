"""One position of the decoder, for all beams of a row: what search calls again and again.

The equations are those of `kformer.decoder`. Done for one position, they cost what it takes to read
the weights and to start the operations; so here are as few operations as can be, and what does not
change between steps is computed once: the memory's keys and values, one matrix for query, key and
value with the scale of equation 1 in it, the masks as numbers to add, the table of positions.

What is kept of the past never moves: position t of beam k is slot t * K + k of its row, and a mask
says which slots are whose past. So keys and values of a whole row meet the queries of all its
beams in one product.

Axes: B batch, K beams, T most positions, N = T * K slots, S source length, H heads, W width of a
head, D d_model, L layers.
"""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from kformer.attention import MASKED_SCORE, KeysValues, precise


def write_by_select(buffer, rows, start):
    """Writes `rows` (B, H, K, W) at slot `start` of `buffer` (B, H, N, W); any runtime can."""
    beams = rows.shape[2]
    slots = ops.arange(ops.shape(buffer)[2])  # (N,)
    if beams > 1:
        copies = ops.shape(buffer)[2] // beams
        rows = ops.tile(rows, (1, 1, copies, 1))
    here = (slots >= start) & (slots < start + beams)
    return ops.where(here[:, None], rows, buffer)


def write_by_slice(buffer, rows, start):
    """As `write_by_select`, in one op that LiteRT and XLA have and a TensorFlow server has not."""
    return ops.slice_update(buffer, (0, 0, start, 0), rows)


class _Affine(NamedTuple):
    kernel: Any  # float (D, any)
    bias: Any  # float (any,)

    def __call__(self, x):
        return ops.matmul(x, self.kernel) + self.bias


class DecoderStep:
    """A decoder that has seen one batch of memories, ready to run step by step.

    Args:
        decoder: `kformer.decoder.Decoder`.
        memory: float tensor (B, S, D).
        memory_mask: boolean tensor (B, 1, 1, S), True for what is not padding.
        write: `write_by_select` or `write_by_slice`, as the runtime needs.
    """

    def __init__(self, decoder, memory, memory_mask, write=write_by_select):
        self._decoder = decoder
        self._write = write
        self._dtype = decoder.compute_dtype
        self._layers = [_LayerStep(layer, memory, self._dtype) for layer in decoder.layers]
        self._memory_mask = _additive(memory_mask)

    def empty_history(self, batch, slots):
        """Buffers for N `slots`: a tuple of L `KeysValues` of (batch, H, N, W)."""
        attention = self._decoder.layers[0].self_attention
        width = attention.d_model // attention.num_heads
        empty = ops.zeros((batch, attention.num_heads, slots, width), self._dtype)
        return tuple(KeysValues(empty, empty) for _ in self._layers)

    def __call__(self, x, position, visible, history):
        """Runs one position through all layers.

        Args:
            x: float tensor (B, K, D), the vectors at `position`.
            position: int32 scalar tensor.
            visible: boolean tensor (B or 1, K, N), which slots are the past of each beam, those of
                this position too.
            history: what `empty_history` or the step before returned.

        Returns:
            output: float tensor (B, K, D).
            history: with this position's slots filled.
            attention: float tensor (B, K, S), the mean over the heads of the last layer's
                attention to the memory.
        """
        mask = _additive(ops.expand_dims(visible, 1))  # (B, 1, K, N)
        start = position * x.shape[1]
        new_history = []
        for layer, past in zip(self._layers, history, strict=True):
            x, past, weights = layer(x, start, past, mask, self._memory_mask, self._write)
            new_history.append(past)
        if self._decoder.norm:
            x = _normalized(x, self._decoder.norm)
        return x, tuple(new_history), ops.mean(weights, axis=1)


class _LayerStep:
    """One layer's share of a step."""

    def __init__(self, layer, memory, dtype):
        self._layer = layer
        self._heads = layer.self_attention.num_heads
        own, across = layer.self_attention, layer.cross_attention
        scale = (own.d_model // own.num_heads) ** -0.5
        query = _weights(own.query_projection, dtype, scale)
        parts = [
            query,
            _weights(own.key_projection, dtype),
            _weights(own.value_projection, dtype),
        ]
        self._query_key_value = _Affine(
            ops.concatenate([part.kernel for part in parts], axis=1),
            ops.concatenate([part.bias for part in parts], axis=0),
        )
        self._own_output = _weights(own.output_projection, dtype)
        self._query = _weights(across.query_projection, dtype, scale)
        keys, values = across.project(memory)
        self._memory = KeysValues(ops.swapaxes(keys, -2, -1), values)  # (B, H, W, S), (B, H, S, W)
        self._output = _weights(across.output_projection, dtype)
        self._inner = _weights(layer.feed_forward.inner, dtype)
        self._outer = _weights(layer.feed_forward.outer, dtype)

    def __call__(self, x, start, history, mask, memory_mask, write):
        layer = self._layer
        joined = self._query_key_value(_enter(layer.self_residual, x))  # (B, K, 3 D)
        query, key, value = (self._split(part) for part in ops.split(joined, 3, axis=-1))
        history = KeysValues(write(history.keys, key, start), write(history.values, value, start))
        keys = ops.swapaxes(history.keys, -2, -1)
        mixed, _ = self._attend(query, keys, history.values, mask)
        x = _leave(layer.self_residual, x, self._own_output(mixed))
        query = self._split(self._query(_enter(layer.cross_residual, x)))
        mixed, weights = self._attend(query, *self._memory, memory_mask)
        x = _leave(layer.cross_residual, x, self._output(mixed))
        inner = ops.relu(self._inner(_enter(layer.feed_forward_residual, x)))
        return _leave(layer.feed_forward_residual, x, self._outer(inner)), history, weights

    def _attend(self, query, keys, values, mask):
        """Equation 1 for `keys` (B, H, W, N), its scale already in the query.

        Returns the mix (B, K, D) and the weights (B, H, K, N).
        """
        scores = ops.matmul(query, keys)  # (B, H, K, N)
        # Not an int, or Keras would warn of a softmax over one key.
        weights = ops.softmax(precise(scores) + mask, axis=np.int64(-1))
        return self._join(ops.matmul(ops.cast(weights, values.dtype), values)), weights

    def _split(self, vectors):
        """(B, K, D) -> (B, H, K, W)."""
        beams, d_model = vectors.shape[1:]
        width = d_model // self._heads
        if beams == 1:  # Nothing has to move.
            return ops.reshape(vectors, (-1, self._heads, 1, width))
        return ops.transpose(ops.reshape(vectors, (-1, beams, self._heads, width)), (0, 2, 1, 3))

    def _join(self, heads):
        """(B, H, K, W) -> (B, K, D)."""
        _, count, beams, width = heads.shape
        if beams > 1:
            heads = ops.transpose(heads, (0, 2, 1, 3))
        return ops.reshape(heads, (-1, beams, count * width))


def _weights(dense, dtype, scale=1.0):
    kernel, bias = ops.cast(dense.kernel, dtype), ops.cast(dense.bias, dtype)
    return _Affine(kernel, bias) if scale == 1.0 else _Affine(kernel * scale, bias * scale)


def _additive(mask):
    return ops.where(mask, 0.0, MASKED_SCORE)  # Of any float dtype.


def _enter(residual, x):
    return _normalized(x, residual.norm) if residual.norm_first else x


def _leave(residual, x, output):
    return x + output if residual.norm_first else _normalized(x + output, residual.norm)


def _normalized(x, norm):
    """What the `LayerNorm` `norm` makes of `x` (B, K, D)."""
    wide = precise(x)
    centered = wide - ops.mean(wide, axis=-1, keepdims=True)
    variance = ops.mean(ops.square(centered), axis=-1, keepdims=True)
    scale = ops.rsqrt(variance + norm.epsilon)
    return ops.cast(centered * scale * norm.gamma + norm.beta, x.dtype)
