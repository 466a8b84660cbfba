"""Layers of a decoder for one position, with all that is the same in every step computed once.

Dense layers whose matrices are joined, biases that include the `beta` of the norm before, norms and
residual connections. Their references are the layers of `kformer.model`.

Axes: M rows, D d_model.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.model.attention import precise
from kformer.model.dense import is_quantized
from kformer.model.residual import LayerNorm, Residual


class _Affine(NamedTuple):
    kernel: Any  # float (D, any)
    bias: Any  # float (any,)

    def __call__(self, x: Any):
        return ops.matmul(x, self.kernel) + self.bias


class _Quantized(NamedTuple):
    """A quantized layer: it also rounds its input, so the layer itself must be called."""

    dense: Any
    scale: float
    extra_bias: Any  # float (any,), or 0

    def __call__(self, x: Any):
        return self.dense(x) * self.scale + self.extra_bias


class Vectors(NamedTuple):
    """The output of a norm, without and with its `beta`.

    `bare` omits beta; the bias of the projection that is added to it already includes it. Where
    weights are constants, compilers also move beta into the bias of the layer that reads `whole`.
    So adding beta costs nothing.
    """

    bare: Any  # float (M, D)
    whole: Any  # float (M, D)


def affine(dense, dtype, scale=1.0, extra_bias=None):
    """Returns a callable: the output of the Dense layer, times `scale`, plus `extra_bias`."""
    if extra_bias is not None:
        extra_bias = ops.cast(extra_bias, dtype)
    if is_quantized(dense):
        return _Quantized(dense, scale, 0.0 if extra_bias is None else extra_bias)
    kernel = _read_once(dense.kernel, dtype)
    outputs = kernel.shape[1]
    bias = _read_once(dense.bias, dtype) if dense.use_bias else ops.zeros((outputs,), dtype)
    if scale != 1.0:
        kernel, bias = kernel * scale, bias * scale
    return _Affine(kernel, bias if extra_bias is None else bias + extra_bias)


def joined(parts):
    """Returns a callable: the outputs of all `parts` side by side."""
    if not all(isinstance(part, _Affine) for part in parts):
        return lambda x: ops.concatenate([part(x) for part in parts], axis=1)
    return _Affine(
        ops.concatenate([part.kernel for part in parts], axis=1),
        ops.concatenate([part.bias for part in parts], axis=0),
    )


def _read_once(variable, dtype):
    """Reads a variable once, not in every step."""
    return ops.copy(ops.cast(variable, dtype))


class FusedNorm:
    """A `LayerNorm` of rows (M, D); its reference is `kformer.model.residual`."""

    def __init__(self, norm: LayerNorm):
        self._gamma, self.beta = (precise(_read_once(p, p.dtype)) for p in (norm.gamma, norm.beta))
        self._epsilon = norm.epsilon

    def __call__(self, x: Any) -> Vectors:
        wide = precise(x)
        centered = wide - ops.mean(wide, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(centered), axis=-1, keepdims=True)
        bare = centered * ops.rsqrt(variance + self._epsilon) * self._gamma
        return Vectors(ops.cast(bare, x.dtype), ops.cast(bare + self.beta, x.dtype))


class FusedResidual:
    """A `Residual` around a sub-layer, and the sub-layer's last Dense layer.

    Args:
        residual: `kformer.model.residual.Residual`, its reference.
        output: The last Dense layer of the sub-layer; None if it ends without one.
        dtype: The dtype that it computes in.
        before: The `FusedNorm` whose output it reads; None if it reads no norm's output.

    Attributes:
        last_norm: The `FusedNorm` that its output comes from, likewise.
    """

    def __init__(self, residual: Residual, output: Any, dtype: str, before: Any):
        self._norm, self._first = FusedNorm(residual.norm), residual.norm_first
        self._output = None
        if output is not None:
            self._output = affine(output, dtype, extra_bias=before.beta if before else None)
        self.last_norm = None if self._first else self._norm

    def enter(self, x: Any):
        """As `Residual.enter`."""
        return self._norm(x.whole).whole if self._first else x.whole

    def leave(self, x: Any, inner: Any):
        """As `Residual.leave`, of the sub-layer without its last Dense layer."""
        x = x.whole + inner if self._output is None else x.bare + self._output(inner)
        return Vectors(x, x) if self._first else self._norm(x)
