"""One layer's share of a step: `kformer.decoding.step` calls one after the other.

What does not change between steps is computed here, when a layer's share is made: one matrix for
query, key and value with the scale of equation 1 in it, and biases with what the norm before adds.

Axes: M = B * K rows, H heads, K beams, W width of a head, D d_model.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.model.attention import KeysValues, precise
from kformer.model.dense import is_quantized


class _Affine(NamedTuple):
    kernel: Any  # float (D, any)
    bias: Any  # float (any,)

    def __call__(self, x):
        return ops.matmul(x, self.kernel) + self.bias


class _Quantized(NamedTuple):
    """A quantized layer, which also rounds what it reads: it computes by itself."""

    dense: Any
    scale: float
    extra_bias: Any  # float (any,), or 0

    def __call__(self, x):
        return self.dense(x) * self.scale + self.extra_bias


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
            _affine(own.query_projection, dtype, scale),
            _affine(own.key_projection, dtype),
            _affine(own.value_projection, dtype),
        ]
        self._query_key_value = _joined(parts)
        self._query = _affine(across.query_projection, dtype, scale)
        self._inner = _affine(layer.feed_forward.inner, dtype)
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


def _affine(dense, dtype, scale=1.0, extra_bias=None):
    """Returns what computes the layer, times `scale`, plus `extra_bias`."""
    if extra_bias is not None:
        extra_bias = ops.cast(extra_bias, dtype)
    if is_quantized(dense):
        return _Quantized(dense, scale, 0.0 if extra_bias is None else extra_bias)
    kernel, bias = _read(dense.kernel, dtype), _read(dense.bias, dtype)
    if scale != 1.0:
        kernel, bias = kernel * scale, bias * scale
    return _Affine(kernel, bias if extra_bias is None else bias + extra_bias)


def _joined(parts):
    """Returns what computes all `parts`, their outputs side by side."""
    if not all(isinstance(part, _Affine) for part in parts):
        return lambda x: ops.concatenate([part(x) for part in parts], axis=1)
    return _Affine(
        ops.concatenate([part.kernel for part in parts], axis=1),
        ops.concatenate([part.bias for part in parts], axis=0),
    )


def _read(variable, dtype):
    """Reads a variable now, not in every step."""
    return ops.copy(ops.cast(variable, dtype))


class Norm:
    """What a `LayerNorm` does to rows (M, D)."""

    def __init__(self, norm):
        self._gamma, self.beta = (precise(_read(p, p.dtype)) for p in (norm.gamma, norm.beta))
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
        residual: `kformer.model.residual.Residual`.
        output: Dense layer, the last of the sub-layer.
        dtype: What it computes in.
        before: `Norm` that what it reads comes from; None for none.

    Attributes:
        last_norm: `Norm` that what comes out comes from; None for none.
    """

    def __init__(self, residual, output, dtype, before):
        self._norm, self._first = Norm(residual.norm), residual.norm_first
        self._output = _affine(output, dtype, extra_bias=before.beta if before else None)
        self.last_norm = None if self._first else self._norm

    def enter(self, x):
        return self._norm(x.whole).whole if self._first else x.whole

    def leave(self, x, inner):
        x = x.bare + self._output(inner)
        return Vectors(x, x) if self._first else self._norm(x)
