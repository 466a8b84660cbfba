"""The residual connection around every sub-layer, with its normalisation and dropout."""

import keras

EPSILON = 1e-5  # As torch.nn.Transformer has it; Keras's default of 1e-3 is coarse for this.


@keras.saving.register_keras_serializable(package="kformer")
class Residual(keras.layers.Layer):
    """LayerNorm(x + Dropout(Sublayer(x))), in two halves around the sub-layer.

    Sections 3.1 and 5.4 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). With
    `norm_first`, x + Dropout(Sublayer(LayerNorm(x))): the pre-norm variant of
    [Xiong et al., 2020](https://arxiv.org/abs/2002.04745).

    Used as `residual.leave(x, sublayer(residual.enter(x)), training)`.

    Args:
        dropout: Share of the sub-layer's output that training sets to zero, in [0, 1).
        norm_first: Whether to normalise the sub-layer's input instead of the sum.
    """

    def __init__(self, dropout: float, norm_first: bool, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"`dropout` must be in [0, 1). Received: dropout={dropout}.")
        self.rate = dropout
        self.norm_first = norm_first
        self.norm = keras.layers.LayerNormalization(
            epsilon=EPSILON, name="norm", dtype=self.dtype_policy
        )
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, input_shape):
        self.norm.build(input_shape)

    def enter(self, x):
        """What the sub-layer reads: float tensor (B, T, D)."""
        return self.norm(x) if self.norm_first else x

    def leave(self, x, output, training=None):
        """Joins `x` and the sub-layer's `output`, both (B, T, D)."""
        total = x + self.dropout(output, training=training)
        return total if self.norm_first else self.norm(total)

    def get_config(self):
        return {**super().get_config(), "dropout": self.rate, "norm_first": self.norm_first}
