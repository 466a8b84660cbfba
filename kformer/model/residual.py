"""The residual connection around every sub-layer, with its layer normalisation and its dropout.

The normalisation has a gradient of few passes over its input; the dropout needs half the usual
number of random bits.
"""

from typing import Any

import keras
from keras import ops

from kformer.arguments import check_number
from kformer.backend import is_tensorflow, random_uint16

EPSILON = 1e-5  # As in torch.nn.Transformer; Keras's default of 1e-3 is coarse for this.


@keras.saving.register_keras_serializable(package="kformer")
class LayerNorm(keras.layers.LayerNormalization):
    """(x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, over the last axis.

    [Ba et al., 2016](https://arxiv.org/abs/1607.06450). In training it computes the same as Keras's
    own layer, in fewer and faster steps: means are products with a vector, which processors
    do best, and the gradient is written out.

    Call arguments:
        inputs: float tensor (..., D).
    """

    def __init__(self, epsilon: float = EPSILON, **kwargs: Any):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs: Any, training: bool | None = False):
        compiled = not is_tensorflow()  # The compilers of other backends fuse these operations.
        if not training or compiled or self.compute_dtype == "float64":
            return super().call(inputs)
        x = ops.reshape(ops.cast(inputs, "float32"), (-1, inputs.shape[-1]))
        gamma, beta = ops.cast(self.gamma, "float32"), ops.cast(self.beta, "float32")
        output = _normalize(x, gamma, beta, self.epsilon)
        return ops.reshape(ops.cast(output, self.compute_dtype), ops.shape(inputs))


def _normalize(x, gamma, beta, epsilon):
    """Normalises each row of `x` (N, D)."""
    width = x.shape[-1]

    @ops.custom_gradient
    def normalize(x, gamma, beta):
        average = ops.full((width, 1), 1 / width)
        centered = x - ops.matmul(x, average)
        scale = ops.rsqrt(ops.matmul(ops.square(centered), average) + epsilon)  # (N, 1)
        normal = centered * scale

        def gradient(upstream):
            along = upstream * normal
            each = ops.ones((1, ops.shape(x)[0]))
            part = gamma[:, None] / width  # The mean of a row times gamma is a product with it.
            dx = upstream * gamma - ops.matmul(upstream, part) - normal * ops.matmul(along, part)
            return dx * scale, ops.matmul(each, along)[0], ops.matmul(each, upstream)[0]

        return normal * gamma + beta, gradient

    return normalize(x, gamma, beta)


_LEVELS = 2**16


@keras.saving.register_keras_serializable(package="kformer")
class Dropout(keras.layers.Dropout):
    """Sets a share `rate` of its input to zero in training, and scales the rest by 1 / (1 - rate).

    [Srivastava et al., 2014](https://jmlr.org/papers/v15/srivastava14a.html). As Keras's own;
    under TensorFlow it draws 16 random bits for each number instead of a float, so `rate` is
    rounded to a multiple of 2^-16.

    Args:
        rate: Share in [0, 1).

    Call arguments:
        inputs: float tensor of any shape.
    """

    def call(self, inputs: Any, training: bool | None = False):
        if not training or not self.rate or not is_tensorflow():
            return super().call(inputs, training=training)
        keep = random_uint16(ops.shape(inputs), self.seed_generator) >= round(self.rate * _LEVELS)
        return ops.where(keep, inputs * (1 / (1 - self.rate)), ops.zeros((), inputs.dtype))


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
        norm_epsilon: The `epsilon` of the `LayerNorm`.
    """

    def __init__(
        self, dropout: float, norm_first: bool, norm_epsilon: float = EPSILON, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.rate = check_number("dropout", dropout, least=0, below=1)
        self.norm_first = norm_first
        self.norm = LayerNorm(norm_epsilon, name="norm", dtype=self.dtype_policy)
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, input_shape: tuple[int | None, ...]):
        self.norm.build(input_shape)

    def enter(self, x: Any, training: bool | None = None):
        """Returns the input of the sub-layer, float tensor (B, T, D), for `x` of the same shape."""
        return self.norm(x, training=training) if self.norm_first else x

    def leave(self, x: Any, output: Any, training: bool | None = None):
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
