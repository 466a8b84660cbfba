"""Ids to vectors, and vectors back to logits over ids.

Axes: B batch, T length, D d_model, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from kformer.arguments import check_flag, check_integer, check_number
from kformer.backend import gather, graph_cache
from kformer.model.other_arguments import ExplainsArguments

MAX_WAVELENGTH = 10000.0  # Section 3.5 of the paper.


class Factors(NamedTuple):
    """The factors of logits: logits = vectors x table^T."""

    vectors: Any  # float (B, T, D)
    table: Any  # float (V, D)


def factors_of(logits: Any) -> Factors | None:
    """Returns the `Factors` of a result of `TokenEmbedding.logits`, None for other tensors.

    A loss computed from the factors need not read the logits, the largest tensor of all. Keras
    passes a loss nothing but tensors, so the factors are kept in the cache of the TensorFlow graph
    that is being traced. Eager logits exist already, and other backends compile the whole step:
    neither gains from factors, and both get None.
    """
    cache = graph_cache(logits)
    return None if cache is None else cache.get(("factors", logits.ref()))


NEVER_CHOSEN = -1e3  # With a lower bias no id is ever chosen; some pretrained models have -10,000.


@keras.saving.register_keras_serializable(package="kformer")
class TokenEmbedding(keras.layers.Layer):
    """Looks ids up in a table scaled by sqrt(d_model); the same table, or another, gives logits.

    Section 3.4 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). The table starts as
    normal(0, d_model^-0.5), so that the scaled vectors have unit variance.

    Args:
        vocab_size: Number of ids V.
        d_model: Width D of the vectors.
        output_bias: Whether a bias for each id is added to the logits.
        tied_output: Whether the table gives the logits, as in the paper, and not a second one.

    Call arguments:
        ids: integer tensor (B, T), values in [0, V); or the same as float32 or float64. They are
            never cast to the compute dtype.

    Returns:
        float tensor (B, T, D).

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> embedding = kformer.TokenEmbedding(vocab_size=100, d_model=16)
        >>> vectors = embedding(np.array([[7, 8, 3]]))
        >>> print(vectors.shape, embedding.logits(vectors).shape)
        (1, 3, 16) (1, 3, 100)
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        output_bias: bool = False,
        tied_output: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.autocast = False  # 16 bits hold ids up to 256 only.
        self.vocab_size = check_integer("vocab_size", vocab_size, least=1)
        self.d_model = check_integer("d_model", d_model, least=1)
        self.output_bias = check_flag("output_bias", output_bias)
        self.tied_output = check_flag("tied_output", tied_output)
        self.bias: Any = None
        self._untied: Any = None

    def build(self, input_shape: tuple[int | None, ...] | None = None):
        self.table = self._add_table("table")
        if not self.tied_output:
            self._untied = self._add_table("output_table")
        if self.output_bias:
            self.bias = self.add_weight(name="bias", shape=(self.vocab_size,), initializer="zeros")

    def _add_table(self, name):
        return self.add_weight(
            name=name,
            shape=(self.vocab_size, self.d_model),
            initializer=keras.initializers.RandomNormal(stddev=self.d_model**-0.5),
        )

    @property
    def output_table(self):
        """The table (V, D) that gives the logits."""
        return self.table if self._untied is None else self._untied

    def call(self, ids: Any):
        table = ops.cast(self.table, self.compute_dtype)
        return gather(table, ops.cast(ids, "int32")) * self.d_model**0.5

    def output_rows(self, ids: Any):
        """Returns the rows of the output's table, float (..., D), of `ids`, int32 (...)."""
        return gather(self.output_table, ids)

    def logits(self, vectors: Any):
        """Scores every id against each vector.

        Args:
            vectors: float tensor (B, T, D).

        Returns:
            float tensor (B, T, V), in the compute dtype.
        """
        table = ops.cast(self.output_table, self.compute_dtype)
        vectors = ops.cast(vectors, self.compute_dtype)
        logits = ops.matmul(vectors, ops.transpose(table))
        if self.bias is not None:
            logits = logits + ops.cast(self.bias, self.compute_dtype)
        cache = graph_cache(logits)
        if cache is not None:
            cache["factors", logits.ref()] = self._factors(vectors, table)
        return logits

    def _factors(self, vectors, table):
        if self.bias is None:
            return Factors(vectors, table)
        # The bias is one more column of the table, for vectors that end in 1.
        bias = ops.cast(self.bias, self.compute_dtype)[:, None]
        ones = ops.ones_like(vectors[..., :1])
        return Factors(
            ops.concatenate([vectors, ones], axis=-1), ops.concatenate([table, bias], axis=-1)
        )

    def compute_output_shape(self, input_shape: tuple[int | None, ...]):
        return (*input_shape, self.d_model)

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "d_model": self.d_model,
            "output_bias": self.output_bias,
            "tied_output": self.tied_output,
        }


@keras.saving.register_keras_serializable(package="kformer")
class PositionalEncoding(ExplainsArguments, keras.layers.Layer):
    """Adds sines and cosines of the position.

    Section 3.5 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762):

        PE(pos, 2i)     = sin(pos / max_wavelength^(2i / D))
        PE(pos, 2i + 1) = cos(pos / max_wavelength^(2i / D))

    Computed, not looked up: any length works, also one longer than any seen in training. So the
    layer needs neither a number of positions nor the width D, and its arguments have names only.

    Args:
        first_position: The position of a row's first vector. The paper counts from 0, OpenNMT-tf
            from 1, fairseq from 2.
        max_wavelength: 10,000 in the paper. With 10,000^(D / (D - 2)) the slowest wave has the
            frequency 1 / 10,000 exactly, as in tensor2tensor, OpenNMT-tf and fairseq.

    Call arguments:
        vectors: float tensor (B, T, D), D even.

    Returns:
        float tensor (B, T, D).

    Examples:
        >>> import keras
        >>> import kformer
        >>> layer = kformer.PositionalEncoding()
        >>> print(layer(keras.ops.zeros((2, 5, 16))).shape)
        (2, 5, 16)
        >>> print(keras.ops.convert_to_numpy(layer.encodings(2, 4)).round(2))
        [[0.   1.   0.   1.  ]
         [0.84 0.54 0.01 1.  ]]
    """

    def __init__(
        self, *, first_position: int = 0, max_wavelength: float = MAX_WAVELENGTH, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.first_position = check_integer("first_position", first_position, least=0)
        self.max_wavelength = check_number("max_wavelength", max_wavelength, least=1)
        self.supports_masking = True

    @classmethod
    def _explain(cls, args, kwargs):
        if not args:
            return None
        return (
            "PositionalEncoding computes any number of positions at the width of its input, so it "
            "takes neither: PositionalEncoding(). Give `first_position` and `max_wavelength` by "
            "name."
        )

    def build(self, input_shape: tuple[int | None, ...]):
        d_model = input_shape[-1]
        if d_model is None or d_model % 2:
            raise ValueError(
                "`d_model` must be even, so that each sine has its cosine. "
                f"Received: d_model={d_model}."
            )

    def call(self, vectors: Any):
        return vectors + ops.cast(self.encodings(*ops.shape(vectors)[1:]), vectors.dtype)

    def encodings(self, length: Any, d_model: int):
        """Returns the encodings of the first `length` positions, float tensor (length, d_model)."""
        # bfloat16 cannot tell position 257 from 256.
        dtype = "float64" if self.compute_dtype == "float64" else "float32"
        positions = ops.cast(ops.arange(length) + self.first_position, dtype)  # (T,)
        frequencies = self.max_wavelength ** (-np.arange(0, d_model, 2) / d_model)  # (D/2,)
        angles = positions[:, None] * ops.convert_to_tensor(frequencies, dtype)  # (T, D/2)
        waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)  # (T, D/2, 2)
        return ops.reshape(waves, (-1, d_model))

    def compute_output_shape(self, input_shape: tuple[int | None, ...]):
        return tuple(input_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "first_position": self.first_position,
            "max_wavelength": self.max_wavelength,
        }
