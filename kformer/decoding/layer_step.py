"""One decoder layer for one position; `kformer.decoding.decoder_step` calls one after the other.

It computes the same as `kformer.model.decoder.DecoderLayer.attend`. Everything that is the same
in
all steps is computed once, when a `LayerStep` is made: one matrix for query, key and value, with
the scale of equation 1 in it, and biases that include the `beta` of the norm before.

Axes: M = B * K rows, H heads, K beams, W width of a head, D d_model.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from keras import ops

from kformer.decoding.step_attention import MatmulAttention
from kformer.model.attention import KeysValues, precise
from kformer.model.decoder import DecoderLayer
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


class LayerStep:
    """One decoder layer for one position; its reference is `kformer.DecoderLayer`.

    Args:
        layer: `kformer.DecoderLayer`; or `kformer.EncoderLayer`, which has no attention to the
            source: then the memory belongs to a prompt, and the self-attention reads it.
        attention: `MatmulAttention` or `ElementwiseAttention`.
        dtype: The dtype that it computes in.
        before: The `FusedNorm` whose output it reads; None if it reads no norm's output.

    Attributes:
        last_norm: The `FusedNorm` that its output comes from, likewise.
    """

    def __init__(
        self, layer: Any, attention: MatmulAttention, dtype: str, before: "FusedNorm | None"
    ):
        self._attention = attention
        across = layer.cross_attention if isinstance(layer, DecoderLayer) else None
        if across:
            own, own_residual = layer.self_attention, layer.self_residual
        else:
            own, own_residual = layer.attention, layer.attention_residual
        scale = (own.d_model // own.num_heads) ** -0.5
        parts = [
            _affine(own.query_projection, dtype, scale),
            _affine(own.key_projection, dtype),
            _affine(own.value_projection, dtype),
        ]
        self._query_key_value = _joined(parts)
        self._inner = _affine(layer.feed_forward.inner, dtype)
        self._activate = layer.feed_forward.activate
        self._own = _FusedResidual(own_residual, own.output_projection, dtype, before)
        before, self._across = self._own.last_norm, None
        if across:
            self._query = _affine(across.query_projection, dtype, scale)
            self._across = _FusedResidual(
                layer.cross_residual, across.output_projection, dtype, before
            )
            before = self._across.last_norm
        self._feed_forward = _FusedResidual(
            layer.feed_forward_residual, layer.feed_forward.outer, dtype, before
        )
        self.last_norm = self._feed_forward.last_norm

    def __call__(
        self,
        x: Vectors,
        main: tuple,
        tail: KeysValues,
        write: Callable,
        masks: tuple,
        memory: KeysValues,
        memory_mask: Any,
    ) -> tuple[Vectors, KeysValues, Any]:
        """Returns the layer's output, its new tail, and the weights (B, H, K, S) of the source.

        The weights are None without attention to a source.

        Args:
            x: the layer's input, (M, D).
            main: the `KeysValues` of this layer in the main buffers, one or none.
            tail: its `KeysValues` in the tail.
            write: from `kformer.decoding.kv_cache.CacheLayout.tail_writer`.
            masks: additive masks of the prompt and of the main buffers, if any, and of the tail.
            memory: `KeysValues` of this layer in the `SourceMemory` or the `PromptMemory`.
            memory_mask: additive mask of the source.
        """
        # DecoderLayer.attend, self-attention: equation 1 over all cached positions.
        joined = self._query_key_value(self._own.enter(x))  # (M, 3 D)
        query, key, value = self._attention.split(joined, 3)
        tail = write(tail, KeysValues(key, value))
        past = (*main, tail) if self._across else (memory, *main, tail)
        x = self._own.leave(x, self._attention.attend_cache(query, past, masks))

        weights = None
        if self._across:
            # DecoderLayer.attend, cross-attention: equation 1 over the encoder's output.
            [query] = self._attention.split(self._query(self._across.enter(x)))
            heads, weights = self._attention.attend_memory(query, memory, memory_mask)
            x = self._across.leave(x, heads)

        # FeedForward.call: equation 2.
        inner = self._activate(self._inner(self._feed_forward.enter(x)))
        return self._feed_forward.leave(x, inner), tail, weights


def _affine(dense, dtype, scale=1.0, extra_bias=None):
    """Returns a callable: the output of the Dense layer, times `scale`, plus `extra_bias`."""
    if extra_bias is not None:
        extra_bias = ops.cast(extra_bias, dtype)
    if is_quantized(dense):
        return _Quantized(dense, scale, 0.0 if extra_bias is None else extra_bias)
    kernel, bias = _read_once(dense.kernel, dtype), _read_once(dense.bias, dtype)
    if scale != 1.0:
        kernel, bias = kernel * scale, bias * scale
    return _Affine(kernel, bias if extra_bias is None else bias + extra_bias)


def _joined(parts):
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


class _FusedResidual:
    """A `Residual` around a sub-layer, and the sub-layer's last Dense layer.

    Args:
        residual: `kformer.model.residual.Residual`, its reference.
        output: The last Dense layer of the sub-layer.
        dtype: The dtype that it computes in.
        before: The `FusedNorm` whose output it reads; None if it reads no norm's output.

    Attributes:
        last_norm: The `FusedNorm` that its output comes from, likewise.
    """

    def __init__(self, residual: Residual, output: Any, dtype: str, before: Any):
        self._norm, self._first = FusedNorm(residual.norm), residual.norm_first
        self._output = _affine(output, dtype, extra_bias=before.beta if before else None)
        self.last_norm = None if self._first else self._norm

    def enter(self, x: Any):
        """As `Residual.enter`."""
        return self._norm(x.whole).whole if self._first else x.whole

    def leave(self, x: Any, inner: Any):
        """As `Residual.leave`, of the sub-layer without its last Dense layer."""
        x = x.bare + self._output(inner)
        return Vectors(x, x) if self._first else self._norm(x)
