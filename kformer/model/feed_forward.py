"""The position-wise feed-forward network."""

from typing import Any

import keras
from keras import ops

from kformer.arguments import check_choice, check_integer
from kformer.model.dense import HoldsDense, apply_dense


def _gelu(x):
    # `ops.gelu` rounds the square root to float32 in float64, too.
    return 0.5 * x * (1.0 + ops.erf(x * 0.5**0.5))


ACTIVATIONS = {"relu": ops.relu, "gelu": _gelu, "swish": ops.silu}


@keras.saving.register_keras_serializable(package="kformer")
class FeedForward(HoldsDense, keras.layers.Layer):
    """activation(x W1 + b1) W2 + b2, the same at every position.

    With "relu", equation 2 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        d_model: Width of input and output.
        d_ff: Width between the two matrices.
        activation: "relu", max(0, x), as in the paper; "gelu", x times the normal distribution
            function of x, [Hendrycks and Gimpel, 2016](https://arxiv.org/abs/1606.08415); or
            "swish", x times the logistic function of x, also called SiLU.

    Call arguments:
        vectors: float tensor (B, T, D).

    Returns:
        float tensor (B, T, D).

    Examples:
        >>> import keras
        >>> import kformer
        >>> print(kformer.FeedForward(d_model=16, d_ff=32)(keras.ops.ones((2, 5, 16))).shape)
        (2, 5, 16)
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", **kwargs: Any):
        super().__init__(**kwargs)
        self.d_model = check_integer("d_model", d_model, least=1)
        self.d_ff = check_integer("d_ff", d_ff, least=1)
        self.activation = check_choice("activation", activation, ACTIVATIONS)
        self.supports_masking = True
        self.inner = keras.layers.Dense(d_ff, name="inner", dtype=self.dtype_policy)
        self.outer = keras.layers.Dense(d_model, name="outer", dtype=self.dtype_policy)

    @property
    def parts(self):
        return self.inner, self.outer

    def build(self, input_shape: tuple[int | None, ...]):
        self.inner.build((None, None, self.d_model))
        self.outer.build((None, None, self.d_ff))

    def call(self, vectors: Any):
        return apply_dense(self.outer, self.activate(apply_dense(self.inner, vectors)))

    def activate(self, inner: Any):
        """Applies the activation to the output of the first matrix, float (..., d_ff)."""
        return ACTIVATIONS[self.activation](inner)

    def get_config(self):
        return {
            **super().get_config(),
            "d_model": self.d_model,
            "d_ff": self.d_ff,
            "activation": self.activation,
        }
