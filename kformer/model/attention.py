"""Attention: every query reads the keys that its mask allows.

Axes: B batch, H heads, Q queries, K keys, W width of a head, D d_model.
Masks are boolean; True means "may attend". `kformer.model.masks` explains their shapes.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from kformer.backend import is_tensorflow
from kformer.model.dense import HoldsDense, apply_dense
from kformer.model.masks import with_four_axes, with_keras_mask
from kformer.model.other_arguments import ExplainsArguments

MASKED_SCORE = -1e9  # Finite, so that a fully masked row gives a mean, not NaN.


class KeysValues(NamedTuple):
    """The keys that queries match, and the values that they average."""

    keys: Any  # float (B, H, K, W)
    values: Any  # float (B, H, K, W)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, mask: Any = None
) -> tuple[Any, Any]:
    """Averages `value`, weighted by how well each key matches each query.

    Equation 1 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        query: float tensor (B, H, Q, W).
        key, value: float tensors (B, H, K, W).
        mask: boolean tensor (B, H, Q, K), (B, Q, K) or (Q, K), where a size may be 1; or None.

    Returns:
        output: float tensor (B, H, Q, W).
        weights: float tensor (B, H, Q, K), at least float32; each row sums to 1. A query whose
            keys are all masked attends to all of them alike.

    Raises:
        ValueError: The mask has another shape, or is not boolean.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> query, value = np.ones((1, 1, 2, 4)), np.array([[[[10.0], [20.0]]]])
        >>> mask = kformer.causal_mask(2)
        >>> output, weights = kformer.scaled_dot_product_attention(query, query, value, mask)
        >>> print(np.array(output[0, 0]), np.array(weights[0, 0]), sep="\\n")
        [[10.]
         [15.]]
        [[1.  0. ]
         [0.5 0.5]]
    """
    scores = precise(match(query, key)) / query.shape[-1] ** 0.5
    if mask is not None:
        mask = with_four_axes(mask, scores.shape)
        scores = ops.where(mask, scores, ops.cast(MASKED_SCORE, scores.dtype))
    # Not an int, or Keras would warn of a softmax over one key: the source of an empty line.
    weights = ops.softmax(scores, axis=np.int64(-1))
    return ops.matmul(ops.cast(weights, value.dtype), value), weights


def match(query: Any, key: Any):
    """Returns the product of each query (B, H, Q, W) with each key (B, H, K, W): (B, H, Q, K)."""
    if is_tensorflow():
        import tensorflow as tf  # Keras would transpose the keys first.

        return tf.linalg.matmul(query, key, transpose_b=True)
    return ops.matmul(query, ops.swapaxes(key, -2, -1))


def precise(tensor: Any):
    """Returns `tensor`, cast to float32 if it has fewer bits."""
    narrow = keras.backend.standardize_dtype(tensor.dtype) in ("float16", "bfloat16")
    return ops.cast(tensor, "float32") if narrow else tensor


@keras.saving.register_keras_serializable(package="kformer")
class MultiHeadAttention(ExplainsArguments, HoldsDense, keras.layers.Layer):
    """Attends with `num_heads` independent heads, then mixes their outputs.

    Section 3.2.2 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        d_model: Width of the inputs and of the output.
        num_heads: Number of heads; must divide `d_model`.

    Call arguments:
        query: float tensor (B, Q, D).
        value: float tensor (B, K, D), read as both keys and values.
        attention_mask: boolean tensor (B, H, Q, K), (B, Q, K) or (Q, K), where a size may be 1; or
            None.
        value_mask: boolean tensor (B, K), the mask that Keras attached to `value`, if any.

    Returns:
        output: float tensor (B, Q, D).
        weights: float tensor (B, H, Q, K), at least float32.

    Examples:
        >>> import keras
        >>> import kformer
        >>> x = keras.ops.ones((2, 5, 16))
        >>> layer = kformer.MultiHeadAttention(d_model=16, num_heads=4)
        >>> output, weights = layer(x, x, kformer.causal_mask(5))
        >>> print(output.shape, weights.shape)
        (2, 5, 16) (2, 4, 5, 5)
    """

    def __init__(self, d_model: int, num_heads: int, **kwargs: Any):
        super().__init__(**kwargs)
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(
                "`d_model` must be a multiple of `num_heads`, so that all heads have "
                f"one width. Received: d_model={d_model}, num_heads={num_heads}."
            )
        self.d_model = d_model
        self.num_heads = num_heads
        self.supports_masking = True

        def projection(name):
            return keras.layers.Dense(d_model, name=name, dtype=self.dtype_policy)

        self.query_projection = projection("query")
        self.key_projection = projection("key")
        self.value_projection = projection("value")
        self.output_projection = projection("output")

    @classmethod
    def _explain(cls, args, kwargs):
        heads, width = kwargs.get("num_heads"), kwargs.get("key_dim")
        if isinstance(heads, int) and isinstance(width, int):
            return (
                "`d_model` is the width of all heads together, num_heads * key_dim of Keras's "
                f"layer: MultiHeadAttention(d_model={heads * width}, num_heads={heads})."
            )
        if "embed_dim" in kwargs:
            return "`d_model` is the width that PyTorch's layer calls `embed_dim`."
        return None

    @property
    def parts(self):
        return (
            self.query_projection,
            self.key_projection,
            self.value_projection,
            self.output_projection,
        )

    def build(
        self, query_shape: tuple[int | None, ...], value_shape: tuple[int | None, ...] | None = None
    ):
        for projection in self.parts:
            if not projection.built:  # `project` or `attend` may have come before any call.
                projection.build((None, None, self.d_model))

    def call(self, query: Any, value: Any, attention_mask: Any = None, value_mask: Any = None):
        attention_mask = with_keras_mask(attention_mask, value_mask)
        return self.attend(query, self.project(value), attention_mask)

    def project(self, value: Any):
        """Returns the `KeysValues` of `value` (B, K, D), which can be kept between calls."""
        return KeysValues(
            self._split(apply_dense(self.key_projection, value)),
            self._split(apply_dense(self.value_projection, value)),
        )

    def attend(self, query: Any, keys_values: KeysValues, attention_mask: Any = None):
        """As `call`, with `query` (B, Q, D) and the `KeysValues` that `project` returned."""
        heads, weights = scaled_dot_product_attention(
            self._split(apply_dense(self.query_projection, query)), *keys_values, attention_mask
        )
        return apply_dense(self.output_projection, self._join(heads)), weights

    def _split(self, vectors):
        """(B, T, D) -> (B, H, T, W)."""
        width = self.d_model // self.num_heads
        length = ops.shape(vectors)[1]
        heads = ops.reshape(vectors, (-1, length, self.num_heads, width))
        return ops.transpose(heads, (0, 2, 1, 3))

    def _join(self, heads):
        """(B, H, T, W) -> (B, T, D)."""
        length = ops.shape(heads)[2]
        return ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), (-1, length, self.d_model))

    def compute_output_spec(
        self, query: Any, value: Any, attention_mask: Any = None, value_mask: Any = None
    ):
        batch, queries, _ = query.shape
        if attention_mask is not None:
            with_four_axes(attention_mask, (batch, self.num_heads, queries, value.shape[1]))
        weights_dtype = "float64" if self.compute_dtype == "float64" else "float32"
        return (
            keras.KerasTensor(query.shape, dtype=self.compute_dtype),
            keras.KerasTensor((batch, self.num_heads, queries, value.shape[1]), weights_dtype),
        )

    def get_config(self):
        return {**super().get_config(), "d_model": self.d_model, "num_heads": self.num_heads}
