"""Base classes of encoder and decoder: the settings of a layer, and stacks of layers."""

from typing import Any

import keras
from keras import ops

from kformer.arguments import check_integer
from kformer.model.attention import MultiHeadAttention
from kformer.model.dense import HoldsDense
from kformer.model.feed_forward import FeedForward
from kformer.model.residual import EPSILON, LayerNorm, Residual

# Layers of a stack: far more than anybody trains, and about half a minute to build. A file that
# asks for more is refused before it takes hours.
MOST_LAYERS = 256
DROPOUT = 0.1  # P_drop of the base model, Table 3 of Vaswani et al., 2017.


class Block(HoldsDense, keras.layers.Layer):
    """Base class of `EncoderLayer` and `DecoderLayer`, and of stacks of them.

    Args:
        d_model, num_heads, d_ff, dropout, norm_first, activation, norm_epsilon: As for
            `EncoderLayer`.
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
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if isinstance(d_ff, int) and isinstance(num_heads, int) and 0 < d_ff < num_heads:
            raise ValueError(  # Some libraries give the two in the other order.
                "`d_ff` must be at least `num_heads`; the order is d_model, num_heads, d_ff. "
                f"Received: num_heads={num_heads}, d_ff={d_ff}."
            )
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout = dropout
        self.norm_first = norm_first
        self.activation = activation
        self.norm_epsilon = norm_epsilon
        self.supports_masking = True
        self._make_sublayers()

    def _make_sublayers(self):
        """Makes the sub-layers of a layer; a stack has none of its own."""

    def _attention(self, name):
        return MultiHeadAttention(self.d_model, self.num_heads, name=name, dtype=self.dtype_policy)

    def _feed_forward(self, name):
        return FeedForward(
            self.d_model, self.d_ff, self.activation, name=name, dtype=self.dtype_policy
        )

    def _residual(self, name):
        return Residual(
            self.dropout, self.norm_first, self.norm_epsilon, name=name, dtype=self.dtype_policy
        )

    def _ready(self, *vectors):
        """Prepares another method as Keras prepares a call: builds, converts the inputs.

        Returns:
            list of as many tensors, in the compute dtype.
        """
        if not self.built:
            self.build(tuple(vectors[0].shape))
        return [ops.convert_to_tensor(x, dtype=self.compute_dtype) for x in vectors]

    @property
    def output_shape(self):
        """For `summary`."""
        return None, None, self.d_model

    def get_config(self):
        return {
            **super().get_config(),
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout": self.dropout,
            "norm_first": self.norm_first,
            "activation": self.activation,
            "norm_epsilon": self.norm_epsilon,
        }


class Stack(Block):
    """`num_layers` layers of `layer_class`; with `final_norm`, a LayerNorm ends them."""

    layer_class: type[Block]

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
        **kwargs: Any,
    ):
        settings = (d_model, num_heads, d_ff, dropout, norm_first, activation, norm_epsilon)
        super().__init__(*settings, **kwargs)
        self.num_layers = check_integer("num_layers", num_layers, least=1, most=MOST_LAYERS)
        dtype = self.dtype_policy
        own = {**self._layer_settings, "dtype": dtype}
        self.layers = [
            self.layer_class(*settings, name=f"layer_{i}", **own) for i in range(num_layers)
        ]
        self.final_norm = norm_first if final_norm is None else final_norm
        self.norm = LayerNorm(norm_epsilon, name="norm", dtype=dtype) if self.final_norm else None

    @property
    def _layer_settings(self) -> dict:
        """Further arguments of `layer_class`."""
        return {}

    @property
    def parts(self):
        return tuple(self.layers)

    def build(self, input_shape: tuple | None = None):
        shape = (None, None, self.d_model)
        for layer in self.layers:
            layer.build(shape)
        if self.norm:
            self.norm.build(shape)

    def finish(self, x: Any, training: bool | None = None):
        """Returns the stack's output for the last layer's output `x` (B, T, D)."""
        return self.norm(x, training=training) if self.norm else x

    def get_config(self):
        return {
            **super().get_config(),
            "num_layers": self.num_layers,
            "final_norm": self.final_norm,
        }
