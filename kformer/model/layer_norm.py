"""Layer normalisation with a gradient of few passes over its input."""

import keras
from keras import ops

from kformer.backend import is_tensorflow

EPSILON = 1e-5  # As torch.nn.Transformer has it; Keras's default of 1e-3 is coarse for this.


@keras.saving.register_keras_serializable(package="kformer")
class LayerNorm(keras.layers.LayerNormalization):
    """(x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, over the last axis.

    [Ba et al., 2016](https://arxiv.org/abs/1607.06450). In training it computes what Keras's own
    layer computes, in fewer and faster steps: means are products with a vector, which processors
    do best, and the gradient is written out.

    Call arguments:
        inputs: float tensor (..., D).
    """

    def __init__(self, epsilon: float = EPSILON, **kwargs):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs, training=False):
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
