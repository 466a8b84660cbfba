"""The encoder: vectors that have looked at each other.

Axes: B batch, S source length, H heads, D d_model, L layers.
"""

import keras

from kformer.model.attention import MultiHeadAttention
from kformer.model.dense import HoldsDense
from kformer.model.feed_forward import FeedForward
from kformer.model.masks import with_keras_mask
from kformer.model.residual import Residual
from kformer.model.stack import DROPOUT, Stack, ready


@keras.saving.register_keras_serializable(package="kformer")
class EncoderLayer(HoldsDense, keras.layers.Layer):
    """Self-attention, then a feed-forward network, each with its residual.

    Section 3.1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        d_model: Width of the vectors.
        num_heads: Number of attention heads; must divide `d_model`.
        d_ff: Inner width of the feed-forward network.
        dropout: Dropout rate of each sub-layer's output.
        norm_first: Whether to normalise before each sub-layer instead of after.

    Call arguments:
        x: float tensor (B, S, D).
        attention_mask: boolean tensor (B, H, S, S), (B, S, S) or (S, S), or None.
        mask, x_mask: boolean tensor (B, S), the mask that Keras attached to `x`, if any; it fills
            in the one or the other.

    Returns:
        float tensor (B, S, D). `attend` returns the attention weights beside it.
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
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout = dropout
        self.norm_first = norm_first
        self.supports_masking = True
        dtype = self.dtype_policy
        self.attention = MultiHeadAttention(d_model, num_heads, name="attention", dtype=dtype)
        self.attention_residual = Residual(
            dropout, norm_first, name="attention_residual", dtype=dtype
        )
        self.feed_forward = FeedForward(d_model, d_ff, name="feed_forward", dtype=dtype)
        self.feed_forward_residual = Residual(
            dropout, norm_first, name="feed_forward_residual", dtype=dtype
        )

    @property
    def output_shape(self):
        """For `summary`."""
        return None, None, self.d_model

    @property
    def parts(self):
        return self.attention, self.feed_forward

    def build(self, *shapes):
        shape = (None, None, self.d_model)
        self.attention.build(shape)
        self.attention_residual.build(shape)
        self.feed_forward.build(shape)
        self.feed_forward_residual.build(shape)

    def call(self, x, attention_mask=None, mask=None, x_mask=None, training=None):
        attention_mask = with_keras_mask(attention_mask, x_mask if mask is None else mask)
        return self.attend(x, attention_mask, training)[0]

    def attend(self, x, attention_mask=None, training=None):
        """As `call`, with the self-attention weights, (B, H, S, S), beside the output."""
        [x] = ready(self, x)
        inner = self.attention_residual.enter(x, training)
        inner, weights = self.attention(inner, inner, attention_mask)
        x = self.attention_residual.leave(x, inner, training)
        inner = self.feed_forward(self.feed_forward_residual.enter(x, training))
        return self.feed_forward_residual.leave(x, inner, training), weights

    def get_config(self):
        return {
            **super().get_config(),
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout": self.dropout,
            "norm_first": self.norm_first,
        }


@keras.saving.register_keras_serializable(package="kformer")
class Encoder(Stack):
    """A stack of `EncoderLayer`s: a feature extractor for any sequence of vectors.

    It adds no positions; see `kformer.PositionalEncoding`. With `norm_first`, a final LayerNorm
    ends the stack.

    Args:
        num_layers: Number of layers L.
        d_model, num_heads, d_ff, dropout, norm_first: As for `EncoderLayer`.

    Call arguments:
        x: float tensor (B, S, D).
        attention_mask: boolean tensor (B, H, S, S), (B, S, S) or (S, S), or None.
        mask, x_mask: boolean tensor (B, S), the mask that Keras attached to `x`, if any; it fills
            in the one or the other.

    Returns:
        float tensor (B, S, D). `attend` returns the attention weights beside it.
    """

    layer_class = EncoderLayer

    def call(self, x, attention_mask=None, mask=None, x_mask=None, training=None):
        attention_mask = with_keras_mask(attention_mask, x_mask if mask is None else mask)
        return self.attend(x, attention_mask, training)[0]

    def attend(self, x, attention_mask=None, training=None):
        """As `call`, with the attention weights: a tuple of L tensors (B, H, S, S)."""
        [x] = ready(self, x)
        weights = []
        for layer in self.layers:
            x, layer_weights = layer.attend(x, attention_mask, training)
            weights.append(layer_weights)
        return self.finish(x, training), tuple(weights)
