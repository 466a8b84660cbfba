"""The position-wise feed-forward network."""

import keras
from keras import ops

from kformer.arguments import check_integer
from kformer.model.dense import HoldsDense


@keras.saving.register_keras_serializable(package="kformer")
class FeedForward(HoldsDense, keras.layers.Layer):
    """max(0, x W1 + b1) W2 + b2, the same at every position.

    Equation 2 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        d_model: Width of input and output.
        d_ff: Width between the two matrices.

    Call arguments:
        vectors: float tensor (B, T, D).

    Returns:
        float tensor (B, T, D).
    """

    def __init__(self, d_model: int, d_ff: int, **kwargs):
        super().__init__(**kwargs)
        self.d_model = check_integer("d_model", d_model, least=1)
        self.d_ff = check_integer("d_ff", d_ff, least=1)
        self.supports_masking = True
        self.inner = keras.layers.Dense(d_ff, name="inner", dtype=self.dtype_policy)
        self.outer = keras.layers.Dense(d_model, name="outer", dtype=self.dtype_policy)

    @property
    def parts(self):
        return self.inner, self.outer

    def build(self, input_shape):
        self.inner.build((None, None, self.d_model))
        self.outer.build((None, None, self.d_ff))

    def call(self, vectors):
        return self.outer(ops.relu(self.inner(vectors)))

    def get_config(self):
        return {**super().get_config(), "d_model": self.d_model, "d_ff": self.d_ff}
