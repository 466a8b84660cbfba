"""The encoder: self-attention and feed-forward networks over vectors.

Axes: B batch, S source length, H heads, D d_model, L layers.
"""

from typing import Any

import keras

from kformer.model.masks import with_keras_mask
from kformer.model.stack import Block, Stack


@keras.saving.register_keras_serializable(package="kformer")
class EncoderLayer(Block):
    """Self-attention, then a feed-forward network, each with its residual.

    Section 3.1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        d_model: Width of the vectors.
        num_heads: Number of attention heads; must divide `d_model`.
        d_ff: Inner width of the feed-forward network.
        dropout: Dropout rate of each sub-layer's output.
        norm_first: Whether to normalise before each sub-layer instead of after.
        activation: Activation of the `kformer.FeedForward` network.
        norm_epsilon: Number that each normalisation adds to the variance.

    Call arguments:
        x: float tensor (B, S, D).
        attention_mask: boolean tensor (B, H, S, S), (B, S, S) or (S, S), or None.
        mask, x_mask: boolean tensor (B, S), the mask that Keras attached to `x`, if any; Keras
            passes it as one of the two.

    Returns:
        float tensor (B, S, D). `attend` returns the attention weights beside it.

    Examples:
        >>> import keras
        >>> import kformer
        >>> layer = kformer.EncoderLayer(d_model=16, num_heads=4, d_ff=32)
        >>> output, weights = layer.attend(keras.ops.ones((2, 5, 16)))
        >>> print(output.shape, weights.shape)
        (2, 5, 16) (2, 4, 5, 5)
    """

    def _make_sublayers(self):
        self.attention = self._attention("attention")
        self.attention_residual = self._residual("attention_residual")
        self.feed_forward = self._feed_forward("feed_forward")
        self.feed_forward_residual = self._residual("feed_forward_residual")

    @property
    def parts(self):
        return self.attention, self.feed_forward

    def build(self, input_shape: tuple | None = None):
        shape = (None, None, self.d_model)
        self.attention.build(shape)
        self.attention_residual.build(shape)
        self.feed_forward.build(shape)
        self.feed_forward_residual.build(shape)

    def call(
        self,
        x: Any,
        attention_mask: Any = None,
        mask: Any = None,
        x_mask: Any = None,
        training: bool | None = None,
    ):
        attention_mask = with_keras_mask(attention_mask, x_mask if mask is None else mask)
        return self.attend(x, attention_mask, training)[0]

    def attend(self, x: Any, attention_mask: Any = None, training: bool | None = None):
        """As `call`, with the self-attention weights, (B, H, S, S), beside the output."""
        [x] = self._ready(x)
        inner = self.attention_residual.enter(x, training)
        inner, weights = self.attention(inner, inner, attention_mask)
        x = self.attention_residual.leave(x, inner, training)
        inner = self.feed_forward(self.feed_forward_residual.enter(x, training))
        return self.feed_forward_residual.leave(x, inner, training), weights


@keras.saving.register_keras_serializable(package="kformer")
class Encoder(Stack):
    """A stack of `EncoderLayer`s: a feature extractor for any sequence of vectors.

    It adds no positions, which `kformer.PositionalEncoding` does.

    Args:
        num_layers: Number of layers L.
        d_model, num_heads, d_ff, dropout, norm_first, activation, norm_epsilon: As for
            `EncoderLayer`.
        final_norm: Whether a LayerNorm ends the stack; if None, only with `norm_first`.

    Call arguments:
        x: float tensor (B, S, D).
        attention_mask: boolean tensor (B, H, S, S), (B, S, S) or (S, S), or None.
        mask, x_mask: boolean tensor (B, S), the mask that Keras attached to `x`, if any; Keras
            passes it as one of the two.

    Returns:
        float tensor (B, S, D). `attend` returns the attention weights beside it.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> vectors = np.ones((2, 5, 16))
        >>> is_real = np.arange(5) < np.array([[5], [3]])  # The lengths are 5 and 3.
        >>> encoder = kformer.Encoder(num_layers=2, d_model=16, num_heads=4, d_ff=32)
        >>> print(encoder(kformer.PositionalEncoding()(vectors), is_real[:, None, None, :]).shape)
        (2, 5, 16)
    """

    layer_class = EncoderLayer

    call = EncoderLayer.call  # The same masks; each has its own `attend`.

    def attend(self, x: Any, attention_mask: Any = None, training: bool | None = None):
        """As `call`, with the attention weights: a tuple of L tensors (B, H, S, S)."""
        [x] = self._ready(x)
        weights = []
        for layer in self.layers:
            x, layer_weights = layer.attend(x, attention_mask, training)
            weights.append(layer_weights)
        return self.finish(x, training), tuple(weights)
