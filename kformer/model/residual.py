"""The residual connection around every sub-layer, with its normalisation and dropout."""

import keras

from kformer.arguments import check_number
from kformer.model.dropout import Dropout
from kformer.model.layer_norm import EPSILON, LayerNorm


@keras.saving.register_keras_serializable(package="kformer")
class Residual(keras.layers.Layer):
    """LayerNorm(x + Dropout(Sublayer(x))), in two halves around the sub-layer.

    Sections 3.1 and 5.4 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). With
    `norm_first`, x + Dropout(Sublayer(LayerNorm(x))): the pre-norm variant of
    [Xiong et al., 2020](https://arxiv.org/abs/2002.04745).

    Used as `residual.leave(x, sublayer(residual.enter(x, training)), training)`.

    Args:
        dropout: Share of the sub-layer's output that training sets to zero, in [0, 1).
        norm_first: Whether to normalise the sub-layer's input instead of the sum.
        norm_epsilon: Of the normalisation; see `LayerNorm`.
    """

    def __init__(self, dropout: float, norm_first: bool, norm_epsilon: float = EPSILON, **kwargs):
        super().__init__(**kwargs)
        self.rate = check_number("dropout", dropout, least=0, below=1)
        self.norm_first = norm_first
        self.norm = LayerNorm(norm_epsilon, name="norm", dtype=self.dtype_policy)
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, input_shape):
        self.norm.build(input_shape)

    def enter(self, x, training=None):
        """Returns the input of the sub-layer, float tensor (B, T, D), for `x` of the same shape."""
        return self.norm(x, training=training) if self.norm_first else x

    def leave(self, x, output, training=None):
        """Adds the sub-layer's `output` to `x`, both (B, T, D), with dropout and normalisation."""
        total = x + self.dropout(output, training=training)
        return total if self.norm_first else self.norm(total, training=training)

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.rate,
            "norm_first": self.norm_first,
            "norm_epsilon": self.norm.epsilon,
        }
