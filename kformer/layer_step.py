"""One layer's share of a step: `kformer.decoder_step` calls one after the other.

What does not change between steps is computed here, when a layer's share is made: one matrix for
query, key and value with the scale of equation 1 in it, and biases with what the norm before adds.

Axes: M = B * K rows, H heads, K beams, W width of a head, D d_model.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.attention import KeysValues, precise


class _Affine(NamedTuple):
    kernel: Any  # float (D, any)
    bias: Any  # float (any,)

    def __call__(self, x):
        return ops.matmul(x, self.kernel) + self.bias


class Vectors(NamedTuple):
    """Rows, without and with the `beta` of the norm that they come from.

    The next sum adds to the bare ones what has it in its bias; and where weights are constants,
    compilers put it into the bias of what reads the whole ones, too. So it costs nothing.
    """

    bare: Any  # float (M, D)
    whole: Any  # float (M, D)


class LayerStep:
    """One layer's share of a step.

    Args:
        layer: `kformer.DecoderLayer`.
        attention: `Products` or `Sums`.
        dtype: What it computes in.
        before: `Norm` that what it reads comes from; None for none.

    Attributes:
        last_norm: that of its result.
    """

    def __init__(self, layer, attention, dtype, before):
        self._attention = attention
        own, across = layer.self_attention, layer.cross_attention
        scale = (own.d_model // own.num_heads) ** -0.5
        parts = [
            _weights(own.query_projection, dtype, scale),
            _weights(own.key_projection, dtype),
            _weights(own.value_projection, dtype),
        ]
        self._query_key_value = _Affine(
            ops.concatenate([part.kernel for part in parts], axis=1),
            ops.concatenate([part.bias for part in parts], axis=0),
        )
        self._query = _weights(across.query_projection, dtype, scale)
        self._inner = _weights(layer.feed_forward.inner, dtype)
        self._own = _Around(layer.self_residual, own.output_projection, dtype, before)
        self._across = _Around(
            layer.cross_residual, across.output_projection, dtype, self._own.last_norm
        )
        self._feed_forward = _Around(
            layer.feed_forward_residual, layer.feed_forward.outer, dtype, self._across.last_norm
        )
        self.last_norm = self._feed_forward.last_norm

    def __call__(self, x, settled, recent, write, masks, memory, memory_mask):
        joined = self._query_key_value(self._own.enter(x))  # (M, 3 D)
        query, key, value = self._attention.split(joined, 3)
        recent = write(recent, KeysValues(key, value))
        x = self._own.leave(x, self._attention.mix(query, (*settled, recent), masks))

        [query] = self._attention.split(self._query(self._across.enter(x)))
        mixed, weights = self._attention.look(query, memory, memory_mask)
        x = self._across.leave(x, mixed)

        inner = ops.relu(self._inner(self._feed_forward.enter(x)))
        return self._feed_forward.leave(x, inner), recent, weights


def _weights(dense, dtype, scale=1.0):
    kernel, bias = _read(dense.kernel, dtype), _read(dense.bias, dtype)
    return _Affine(kernel, bias) if scale == 1.0 else _Affine(kernel * scale, bias * scale)


def _read(variable, dtype):
    """Reads a variable now, not in every step."""
    return ops.copy(ops.cast(variable, dtype))


class Norm:
    """What a `LayerNorm` does to rows (M, D)."""

    def __init__(self, norm):
        self._gamma, self.beta = (_read(part, part.dtype) for part in (norm.gamma, norm.beta))
        self._epsilon = norm.epsilon

    def __call__(self, x):
        wide = precise(x)
        centered = wide - ops.mean(wide, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(centered), axis=-1, keepdims=True)
        bare = centered * ops.rsqrt(variance + self._epsilon) * self._gamma
        return Vectors(ops.cast(bare, x.dtype), ops.cast(bare + self.beta, x.dtype))


class _Around:
    """A `Residual` around a sub-layer: what goes in, and what comes out.

    Args:
        residual: `kformer.residual.Residual`.
        output: Dense layer, the last of the sub-layer.
        dtype: What it computes in.
        before: `Norm` that what it reads comes from; None for none.

    Attributes:
        last_norm: `Norm` that what comes out comes from; None for none.
    """

    def __init__(self, residual, output, dtype, before):
        self._norm, self._first = Norm(residual.norm), residual.norm_first
        self._output = _weights(output, dtype)
        if before:
            bias = self._output.bias + ops.cast(before.beta, dtype)
            self._output = self._output._replace(bias=bias)
        self.last_norm = None if self._first else self._norm

    def enter(self, x):
        return self._norm(x.whole).whole if self._first else x.whole

    def leave(self, x, inner):
        x = x.bare + self._output(inner)
        return Vectors(x, x) if self._first else self._norm(x)
