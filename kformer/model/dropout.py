"""Dropout, at half the cost of random numbers."""

import keras
from keras import ops

from kformer.backend import is_tensorflow, random_uint16

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

    def call(self, inputs, training=False):
        if not training or not self.rate or not is_tensorflow():
            return super().call(inputs, training=training)
        keep = random_uint16(ops.shape(inputs), self.seed_generator) >= round(self.rate * _LEVELS)
        return ops.where(keep, inputs * (1 / (1 - self.rate)), ops.zeros((), inputs.dtype))
