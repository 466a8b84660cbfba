"""The decoder: self-attention or an SSRU, attention over the memory and feed-forward networks.

It runs on whole sequences; `kformer.decoding.decoder_step` runs it one position at a time.
Axes: B batch, T target length, S source length, H heads, D d_model, L layers.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.arguments import check_choice
from kformer.model.masks import with_causal_mask, with_keras_mask
from kformer.model.residual import EPSILON
from kformer.model.ssru import SSRU
from kformer.model.stack import DROPOUT, Block, Stack

# The sub-layer by which a decoder reads earlier positions.
DECODER_CELLS = ("attention", "ssru")


class DecoderWeights(NamedTuple):
    """The attention weights of every decoder layer: tuples of L tensors."""

    decoder_self: tuple  # float (B, H, T, T); an empty tuple with another cell than attention
    decoder_cross: tuple  # float (B, H, T, S)


@keras.saving.register_keras_serializable(package="kformer")
class DecoderLayer(Block):
    """Self-attention, attention over the memory, a feed-forward network, each with its residual.

    Section 3.1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). An `SSRU` can replace
    the self-attention.

    Args:
        d_model, num_heads, d_ff, dropout, norm_first, activation, norm_epsilon: As for
            `EncoderLayer`.
        decoder_cell: Sub-layer that reads earlier positions: "attention", or "ssru" for `SSRU`,
            which reads all of them whatever the mask.

    Call arguments:
        x: float tensor (B, T, D).
        memory: float tensor (B, S, D), the encoder's output.
        self_mask: boolean tensor (B, H, T, T), (B, T, T) or (T, T), or None.
        cross_mask: boolean tensor (B, H, T, S), (B, T, S) or (T, S), or None.
        x_mask: boolean tensor (B, T), memory_mask: boolean tensor (B, S), the masks that Keras
            attached to `x` and `memory`, if any.
        use_causal_mask: Whether a position attends to itself and earlier ones only, whatever
            `self_mask` allows. An `SSRU` does so in any case.

    Returns:
        float tensor (B, T, D). `attend` returns the attention weights beside it.

    Examples:
        >>> import keras
        >>> import kformer
        >>> x, memory = keras.ops.ones((2, 5, 16)), keras.ops.ones((2, 7, 16))
        >>> layer = kformer.DecoderLayer(d_model=16, num_heads=4, d_ff=32)
        >>> print(layer(x, memory).shape)
        (2, 5, 16)
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = DROPOUT,
        norm_first: bool = False,
        activation: str = "relu",
        norm_epsilon: float = EPSILON,
        decoder_cell: str = "attention",
        **kwargs: Any,
    ):
        # Before the sub-layers are made.
        self.decoder_cell = check_choice("decoder_cell", decoder_cell, DECODER_CELLS)
        settings = (d_model, num_heads, d_ff, dropout, norm_first, activation, norm_epsilon)
        super().__init__(*settings, **kwargs)

    def _make_sublayers(self):
        if self.decoder_cell == "ssru":
            self.ssru = SSRU(self.d_model, name="ssru", dtype=self.dtype_policy)
        else:
            self.self_attention = self._attention("self_attention")
        self.self_residual = self._residual("self_residual")
        self.cross_attention = self._attention("cross_attention")
        self.cross_residual = self._residual("cross_residual")
        self.feed_forward = self._feed_forward("feed_forward")
        self.feed_forward_residual = self._residual("feed_forward_residual")

    @property
    def parts(self):
        return self._cell(), self.cross_attention, self.feed_forward

    def _cell(self):
        # No property: Keras would save its weights under that name.
        return self.ssru if self.decoder_cell == "ssru" else self.self_attention

    def build(self, input_shape: tuple | None = None):
        shape = (None, None, self.d_model)
        self._cell().build(shape)
        self.self_residual.build(shape)
        self.cross_attention.build(shape)
        self.cross_residual.build(shape)
        self.feed_forward.build(shape)
        self.feed_forward_residual.build(shape)

    def call(
        self,
        x: Any,
        memory: Any,
        self_mask: Any = None,
        cross_mask: Any = None,
        x_mask: Any = None,
        memory_mask: Any = None,
        training: bool | None = None,
        use_causal_mask: bool = True,
    ):
        self_mask = with_keras_mask(self_mask, x_mask)
        cross_mask = with_keras_mask(cross_mask, memory_mask)
        return self.attend(x, memory, self_mask, cross_mask, training, use_causal_mask)[0]

    def attend(
        self,
        x: Any,
        memory: Any,
        self_mask: Any = None,
        cross_mask: Any = None,
        training: bool | None = None,
        use_causal_mask: bool = True,
    ):
        """As `call`, with the weights, (B, H, T, T) and (B, H, T, S), beside the output.

        The first are None with another cell than attention.
        """
        x, memory = self._ready(x, memory)
        if use_causal_mask and self.decoder_cell == "attention":
            self_mask = with_causal_mask(self_mask, ops.shape(x)[1])
        inner, self_weights = self._look_back(self.self_residual.enter(x, training), self_mask)
        x = self.self_residual.leave(x, inner, training)
        query = self.cross_residual.enter(x, training)
        inner, cross_weights = self.cross_attention(query, memory, cross_mask)
        x = self.cross_residual.leave(x, inner, training)
        inner = self.feed_forward(self.feed_forward_residual.enter(x, training))
        return self.feed_forward_residual.leave(x, inner, training), self_weights, cross_weights

    def _look_back(self, x, self_mask):
        """Returns the output of the cell, (B, T, D), and its weights if it is attention."""
        if self.decoder_cell == "ssru":
            return self.ssru(x), None
        return self.self_attention(x, x, self_mask)

    def get_config(self):
        return {**super().get_config(), "decoder_cell": self.decoder_cell}


@keras.saving.register_keras_serializable(package="kformer")
class Decoder(Stack):
    """A stack of `DecoderLayer`s over vectors; it adds no positions and gives no logits.

    Args:
        num_layers: Number of layers L.
        d_model, num_heads, d_ff, dropout, norm_first, activation, norm_epsilon, decoder_cell: As
            for `DecoderLayer`.
        final_norm: Whether a LayerNorm ends the stack; if None, only with `norm_first`.

    Call arguments:
        x: float tensor (B, T, D).
        memory: float tensor (B, S, D).
        self_mask, cross_mask, x_mask, memory_mask, use_causal_mask: As for `DecoderLayer`.

    Returns:
        float tensor (B, T, D). `attend` returns the attention weights beside it.

    Examples:
        >>> import keras
        >>> import kformer
        >>> x, memory = keras.ops.ones((2, 5, 16)), keras.ops.ones((2, 7, 16))
        >>> decoder = kformer.Decoder(num_layers=2, d_model=16, num_heads=4, d_ff=32)
        >>> print(decoder(x, memory).shape)
        (2, 5, 16)
    """

    layer_class = DecoderLayer

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = DROPOUT,
        norm_first: bool = False,
        activation: str = "relu",
        final_norm: bool | None = None,
        norm_epsilon: float = EPSILON,
        decoder_cell: str = "attention",
        **kwargs: Any,
    ):
        self.decoder_cell = decoder_cell  # Before the layers are made, which check it.
        settings = (dropout, norm_first, activation, final_norm, norm_epsilon)
        super().__init__(num_layers, d_model, num_heads, d_ff, *settings, **kwargs)

    @property
    def _layer_settings(self):
        return {"decoder_cell": self.decoder_cell}

    call = DecoderLayer.call  # The same masks; each has its own `attend`.

    def attend(
        self,
        x: Any,
        memory: Any,
        self_mask: Any = None,
        cross_mask: Any = None,
        training: bool | None = None,
        use_causal_mask: bool = True,
    ):
        """As `call`, with the `DecoderWeights` beside the output."""
        x, memory = self._ready(x, memory)
        if use_causal_mask and self.decoder_cell == "attention":  # Once, not in each layer.
            self_mask = with_causal_mask(self_mask, ops.shape(x)[1])
        self_weights, cross_weights = [], []
        for layer in self.layers:
            x, own, cross = layer.attend(x, memory, self_mask, cross_mask, training, False)
            self_weights += [] if own is None else [own]
            cross_weights.append(cross)
        weights = DecoderWeights(tuple(self_weights), tuple(cross_weights))
        return self.finish(x, training), weights

    def get_config(self):
        return {**super().get_config(), "decoder_cell": self.decoder_cell}
