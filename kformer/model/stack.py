"""What encoder and decoder share: layers of one kind, one after the other."""

import keras
from keras import ops

from kformer.model.dense import HoldsDense
from kformer.model.layer_norm import LayerNorm

DROPOUT = 0.1  # P_drop of the base model, Table 3 of Vaswani et al., 2017.


class Stack(HoldsDense, keras.layers.Layer):
    """`num_layers` layers of `layer_class`; with `norm_first`, a final LayerNorm ends them."""

    layer_class: type  # Takes (d_model, num_heads, d_ff, dropout, norm_first).

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = DROPOUT,
        norm_first: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if num_layers < 1:
            raise ValueError(f"`num_layers` must be positive. Received: num_layers={num_layers}.")
        self.num_layers = num_layers
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.dropout = dropout
        self.norm_first = norm_first
        self.supports_masking = True
        dtype = self.dtype_policy
        self.layers = [
            self.layer_class(
                d_model, num_heads, d_ff, dropout, norm_first, name=f"layer_{i}", dtype=dtype
            )
            for i in range(num_layers)
        ]
        self.norm = None
        if norm_first:
            self.norm = LayerNorm(name="norm", dtype=dtype)

    @property
    def parts(self):
        return tuple(self.layers)

    def build(self, *shapes):
        shape = (None, None, self.d_model)
        for layer in self.layers:
            layer.build(shape)
        if self.norm:
            self.norm.build(shape)

    @property
    def output_shape(self):
        """For `summary`."""
        return None, None, self.d_model

    def finish(self, x, training=None):
        """What the last layer's output `x` (B, T, D) still needs."""
        return self.norm(x, training=training) if self.norm else x

    def get_config(self):
        return {
            **super().get_config(),
            "num_layers": self.num_layers,
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout": self.dropout,
            "norm_first": self.norm_first,
        }


def ready(layer, *vectors):
    """Does what Keras does at a call, for another method: builds the layer, converts its inputs.

    Returns:
        list of as many tensors, in the layer's compute dtype.
    """
    if not layer.built:
        layer.build(tuple(vectors[0].shape))
    return [ops.convert_to_tensor(x, dtype=layer.compute_dtype) for x in vectors]
