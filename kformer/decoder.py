"""The decoder: vectors that look back at themselves and across at the memory.

It runs on whole sequences (training) or one position at a time with a cache (search); both are
the same equations. Axes: B batch, T target length, S source length, H heads, D d_model, L layers.
"""

from typing import NamedTuple

import keras
from keras import ops

from kformer.attention import KeysValues, MultiHeadAttention, write_by_select
from kformer.feed_forward import FeedForward
from kformer.residual import Residual
from kformer.stack import DROPOUT, Stack


class DecoderWeights(NamedTuple):
    """The attention weights of every decoder layer: tuples of L tensors."""

    decoder_self: tuple  # float (B, H, T, T)
    decoder_cross: tuple  # float (B, H, T, S)


@keras.saving.register_keras_serializable(package="kformer")
class DecoderLayer(keras.layers.Layer):
    """Self-attention, attention over the memory, a feed-forward network, each with its residual.

    Section 3.1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        d_model, num_heads, d_ff, dropout, norm_first: As for `EncoderLayer`.

    Call arguments:
        x: float tensor (B, T, D).
        memory: float tensor (B, S, D), what the encoder returned.
        self_mask: boolean tensor broadcastable to (B, H, T, T), or None.
        cross_mask: boolean tensor broadcastable to (B, H, T, S), or None.

    Returns:
        output: float tensor (B, T, D).
        self_weights: float tensor (B, H, T, T).
        cross_weights: float tensor (B, H, T, S).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = DROPOUT,
        norm_first: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        dtype = self.dtype_policy

        def attention(name):
            return MultiHeadAttention(d_model, num_heads, name=name, dtype=dtype)

        def residual(name):
            return Residual(dropout, norm_first, name=name, dtype=dtype)

        self.self_attention = attention("self_attention")
        self.self_residual = residual("self_residual")
        self.cross_attention = attention("cross_attention")
        self.cross_residual = residual("cross_residual")
        self.feed_forward = FeedForward(d_model, d_ff, name="feed_forward", dtype=dtype)
        self.feed_forward_residual = residual("feed_forward_residual")

    def build(self, *shapes):
        shape = (None, None, self.self_attention.d_model)
        self.self_attention.build(shape)
        self.self_residual.build(shape)
        self.cross_attention.build(shape)
        self.cross_residual.build(shape)
        self.feed_forward.build(shape)
        self.feed_forward_residual.build(shape)

    def call(self, x, memory, self_mask=None, cross_mask=None, training=None):
        query = self.self_residual.enter(x, training)
        own = self.self_attention.project(query)
        seen = self.cross_attention.project(memory)
        return self._attend(x, query, own, seen, self_mask, cross_mask, training)

    def step(self, x, position, history, memory, cross_mask=None, write=write_by_select):
        """Runs one position, reading the ones before it from `history`.

        Args:
            x: float tensor (B, 1, D), the vectors at `position`.
            position: scalar integer tensor.
            history: `KeysValues` of (B, H, T, W), filled before `position`.
            memory: `KeysValues` of (B, H, S, W), from `cross_attention.project(memory)`.
            cross_mask: boolean tensor broadcastable to (B, H, 1, S), or None.
            write: `write_by_select` or `write_by_slice`, as the runtime needs.

        Returns:
            output: float tensor (B, 1, D).
            history: `history`, filled at `position`, too.
            cross_weights: float tensor (B, H, 1, S).
        """
        query = self.self_residual.enter(x)
        own = self.self_attention.project(query)
        history = KeysValues(
            write(history.keys, own.keys, position), write(history.values, own.values, position)
        )
        past = ops.arange(ops.shape(history.keys)[2]) <= position  # (T,)
        x, _, cross_weights = self._attend(x, query, history, memory, past, cross_mask)
        return x, history, cross_weights

    def _attend(self, x, query, own, memory, self_mask, cross_mask, training=None):
        inner, self_weights = self.self_attention.attend(query, own, self_mask)
        x = self.self_residual.leave(x, inner, training)
        inner, cross_weights = self.cross_attention.attend(
            self.cross_residual.enter(x, training), memory, cross_mask
        )
        x = self.cross_residual.leave(x, inner, training)
        inner = self.feed_forward(self.feed_forward_residual.enter(x, training))
        x = self.feed_forward_residual.leave(x, inner, training)
        return x, self_weights, cross_weights

    def get_config(self):
        return {
            **super().get_config(),
            "d_model": self.self_attention.d_model,
            "num_heads": self.self_attention.num_heads,
            "d_ff": self.feed_forward.d_ff,
            "dropout": self.feed_forward_residual.rate,
            "norm_first": self.feed_forward_residual.norm_first,
        }


@keras.saving.register_keras_serializable(package="kformer")
class Decoder(Stack):
    """A stack of `DecoderLayer`s over vectors; it adds no positions and gives no logits.

    With `norm_first`, a final LayerNorm ends the stack.

    Args:
        num_layers: Number of layers L.
        d_model, num_heads, d_ff, dropout, norm_first: As for `DecoderLayer`.

    Call arguments:
        x: float tensor (B, T, D).
        memory: float tensor (B, S, D).
        self_mask: boolean tensor broadcastable to (B, H, T, T), or None; see `causal_mask`.
        cross_mask: boolean tensor broadcastable to (B, H, T, S), or None.

    Returns:
        float tensor (B, T, D). `attend` returns the attention weights beside it.
    """

    layer_class = DecoderLayer

    def call(self, x, memory, self_mask=None, cross_mask=None, training=None):
        return self.attend(x, memory, self_mask, cross_mask, training)[0]

    def attend(self, x, memory, self_mask=None, cross_mask=None, training=None):
        """As `call`, with the `DecoderWeights` beside the output."""
        self.build_once()
        self_weights, cross_weights = [], []
        for layer in self.layers:
            x, own, cross = layer(x, memory, self_mask, cross_mask, training=training)
            self_weights.append(own)
            cross_weights.append(cross)
        weights = DecoderWeights(tuple(self_weights), tuple(cross_weights))
        return self.finish(x, training), weights

    def project(self, memory):
        """What every step reads of `memory` (B, S, D): a tuple of L `KeysValues`."""
        return tuple(layer.cross_attention.project(memory) for layer in self.layers)

    def empty_history(self, batch, max_length):
        """Buffers for `max_length` steps: a tuple of L `KeysValues` of (batch, H, T, W)."""
        attention = self.layers[0].self_attention
        width = attention.d_model // attention.num_heads
        shape = (batch, attention.num_heads, max_length, width)
        empty = ops.zeros(shape, self.compute_dtype)
        return tuple(KeysValues(empty, empty) for _ in self.layers)

    def step(self, x, position, history, memory, cross_mask=None, write=write_by_select):
        """Runs one position through all layers; arguments and results as `DecoderLayer.step`.

        `history` and `memory` are tuples of L `KeysValues`; the cross weights are those of the
        last layer.
        """
        new_history = []
        for layer, past, seen in zip(self.layers, history, memory, strict=True):
            x, past, cross_weights = layer.step(x, position, past, seen, cross_mask, write)
            new_history.append(past)
        return self.finish(x), tuple(new_history), cross_weights
