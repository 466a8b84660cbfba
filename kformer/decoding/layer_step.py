"""One decoder layer for one position; `kformer.decoding.decoder_step` calls one after the other.

It computes the same as `kformer.model.decoder.DecoderLayer.attend`. Everything that is the same in
all steps is computed once, when a `LayerStep` is made: one matrix for query, key and value, or for
both projections of an SSRU, with the scale of equation 1 in it, and biases that include the `beta`
of the norm before.

Axes: B batch, K beams, M = B * K rows, H heads, S source length, D d_model.
"""

from typing import Any

from keras import ops

from kformer.decoding.fused_layers import FusedNorm, FusedResidual, Vectors, affine, joined
from kformer.decoding.kv_cache import CachedPast
from kformer.decoding.step_attention import MatmulAttention
from kformer.model.attention import KeysValues, precise
from kformer.model.decoder import DecoderLayer
from kformer.model.ssru import next_state


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
        self._cell: AttentionCell | SSRUCell
        if not across:
            own = layer.attention, layer.attention_residual
            self._cell = AttentionCell(*own, attention, dtype, before, reads_prompt=True)
        elif layer.decoder_cell == "ssru":
            self._cell = SSRUCell(layer.ssru, layer.self_residual, dtype, before)
        else:
            own = layer.self_attention, layer.self_residual
            self._cell = AttentionCell(*own, attention, dtype, before)
        self._inner = affine(layer.feed_forward.inner, dtype)
        self._activate = layer.feed_forward.activate
        before, self._across = self._cell.last_norm, None
        if across:
            scale = (across.d_model // across.num_heads) ** -0.5
            self._query = affine(across.query_projection, dtype, scale)
            self._across = FusedResidual(
                layer.cross_residual, across.output_projection, dtype, before
            )
            before = self._across.last_norm
        self._feed_forward = FusedResidual(
            layer.feed_forward_residual, layer.feed_forward.outer, dtype, before
        )
        self.last_norm = self._feed_forward.last_norm

    def __call__(
        self, x: Vectors, past: Any, memory: KeysValues, memory_mask: Any
    ) -> tuple[Vectors, Any, Any]:
        """Returns the layer's output, its new past, and the weights (B, H, K, S) of the source.

        The weights are None without attention to a source.

        Args:
            x: the layer's input, (M, D).
        """
        x, past = self._cell(x, past, memory)
        weights = None
        if self._across:
            # DecoderLayer.attend, cross-attention: equation 1 over the encoder's output.
            [query] = self._attention.split(self._query(self._across.enter(x)))
            heads, weights = self._attention.attend_memory(query, memory, memory_mask)
            x = self._across.leave(x, heads)

        # FeedForward.call: equation 2.
        inner = self._activate(self._inner(self._feed_forward.enter(x)))
        return self._feed_forward.leave(x, inner), past, weights


class AttentionCell:
    """Self-attention of one position over all cached ones, with its residual.

    Args:
        layer: `kformer.MultiHeadAttention`, its reference.
        residual: `kformer.model.residual.Residual` around it.
        attention, dtype, before: As for `LayerStep`.
        reads_prompt: Whether it also attends to the memory, which belongs to a prompt.

    Attributes:
        last_norm: As of `LayerStep`.
    """

    def __init__(
        self,
        layer: Any,
        residual: Any,
        attention: MatmulAttention,
        dtype: str,
        before: FusedNorm | None,
        reads_prompt: bool = False,
    ):
        self._attention, self._reads_prompt = attention, reads_prompt
        scale = (layer.d_model // layer.num_heads) ** -0.5
        parts = [
            affine(layer.query_projection, dtype, scale),
            affine(layer.key_projection, dtype),
            affine(layer.value_projection, dtype),
        ]
        self._query_key_value = joined(parts)
        self._residual = FusedResidual(residual, layer.output_projection, dtype, before)
        self.last_norm = self._residual.last_norm

    def __call__(
        self, x: Vectors, past: CachedPast, memory: KeysValues
    ) -> tuple[Vectors, KeysValues]:
        """Returns the output, and the new tail of the cache.

        Args:
            x: (M, D).
        """
        projected = self._query_key_value(self._residual.enter(x))  # (M, 3 D)
        query, key, value = self._attention.split(projected, 3)
        tail = past.write(past.tail, KeysValues(key, value))
        prompt = (memory,) if self._reads_prompt else ()
        heads = self._attention.attend_cache(query, (*prompt, *past.main, tail), past.masks)
        return self._residual.leave(x, heads), tail


class SSRUCell:
    """One position of an `SSRU`, with its residual.

    Args:
        layer: `kformer.SSRU`, its reference.
        residual, dtype, before: As for `AttentionCell`.

    Attributes:
        last_norm: As of `LayerStep`.
    """

    def __init__(self, layer: Any, residual: Any, dtype: str, before: FusedNorm | None):
        parts = [affine(layer.forget_gate, dtype), affine(layer.input_projection, dtype)]
        self._gate_and_input = joined(parts)
        self._residual = FusedResidual(residual, None, dtype, before)
        self.last_norm = self._residual.last_norm

    def __call__(self, x: Vectors, past: Any, memory: KeysValues) -> tuple[Vectors, Any]:
        """Returns the output, and the new state.

        Args:
            x: (M, D).
            past: the state, (M, D).
        """
        projected = precise(self._gate_and_input(self._residual.enter(x)))  # (M, 2 D)
        gate, update = ops.split(projected, 2, axis=1)
        state = next_state(ops.sigmoid(gate), update, past)
        output = ops.cast(ops.relu(state), x.whole.dtype)
        return self._residual.leave(x, output), state
