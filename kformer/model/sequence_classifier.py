"""An encoder with a head on it: ids in, the logits of classes out, for a text or for each id.

Axes: B batch, S sequence length, D d_model, C number of classes.
"""

from typing import Any

import keras
from keras import ops

from kformer.arguments import check_choice, check_integer
from kformer.model.network import Network
from kformer.model.residual import Dropout
from kformer.model.stack import DROPOUT
from kformer.model.transformer_encoder import TransformerEncoder

POOLINGS = ("mean", "first")


class ClassifyingNetwork(Network):
    """An encoder, dropout and a linear layer that scores classes; base class.

    Args:
        encoder: `kformer.TransformerEncoder`.
        num_classes: Number of classes C, at least 2.
        dropout: Dropout rate of what the linear layer reads.
    """

    def __init__(
        self,
        encoder: TransformerEncoder,
        num_classes: int,
        dropout: float = DROPOUT,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if not isinstance(encoder, TransformerEncoder):
            raise TypeError(
                "`encoder` must be a kformer.TransformerEncoder, from ids to vectors; "
                "`TransformerEncoder.from_transformer` makes one of a translator's. "
                f"Received: encoder={encoder!r:.99}."
            )
        self.encoder = encoder
        self.num_classes = check_integer("num_classes", num_classes, least=2)
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        # Not in 16 bits, as probabilities are compared with probabilities of exports.
        self.head = keras.layers.Dense(num_classes, name="head", dtype="float32")
        self.dropout.build((None, encoder.d_model))
        self.head.build((None, encoder.d_model))
        self.built = True

    @property
    def parts(self):
        return self.encoder, self.head

    @property
    def padding_id(self) -> int:
        """The id that fills short rows."""
        return self.encoder.padding_id

    @property
    def vocab_size(self) -> int:
        """Number of ids."""
        return self.encoder.vocab_size

    @property
    def d_model(self) -> int:
        """Width of the vectors."""
        return self.encoder.d_model

    def encode(self, source: Any, training: bool | None = None):
        """Returns the encoder's vectors, float (B, S, D), of `source`, integer (B, S)."""
        return self.encoder(source, training=training)

    def attend(self, source: Any):
        """As `encode`, with the attention weights: a tuple of L tensors (B, H, S, S)."""
        return self.encoder.attend(source)

    def probabilities(self, source: Any):
        """Returns the probability of each class, float32, in the shape of the logits."""
        return ops.softmax(self(source), axis=-1)

    def get_config(self):
        encoder = self.encoder.get_config()
        for name in ("quantized", "frozen"):  # The classifier's have the encoder's layers, too.
            encoder.pop(name, None)
        return {
            **super().get_config(),
            "encoder": encoder,
            "num_classes": self.num_classes,
            "dropout": self.dropout.rate,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        encoder = {**config["encoder"], "dtype": config.get("dtype")}  # A copy may have another.
        return super().from_config({**config, "encoder": TransformerEncoder.from_config(encoder)})


@keras.saving.register_keras_serializable(package="kformer")
class SequenceClassifier(ClassifyingNetwork):
    """Pools the vectors of an encoder into one, and scores each class by a linear layer.

    Args:
        encoder: `kformer.TransformerEncoder`.
        num_classes: Number of classes C, at least 2.
        pooling: "mean" over the real ids, or "first", the vector of the first id.
        dropout: Dropout rate of the pooled vector.

    Call arguments:
        source: integer tensor (B, S).

    Returns:
        logits: float32 tensor (B, C).

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> encoder = kformer.TransformerEncoder(100, num_layers=1, d_model=16, num_heads=2, d_ff=8)
        >>> classifier = kformer.SequenceClassifier(encoder, num_classes=3)
        >>> print(classifier(np.array([[7, 8, 9, 3], [7, 3, 0, 0]])).shape)
        (2, 3)
    """

    def __init__(
        self,
        encoder: TransformerEncoder,
        num_classes: int,
        pooling: str = "mean",
        dropout: float = DROPOUT,
        **kwargs: Any,
    ):
        super().__init__(encoder, num_classes, dropout, **kwargs)
        self.pooling = check_choice("pooling", pooling, POOLINGS)

    def call(self, source: Any, training: bool | None = None):
        pooled = pool(self.encode(source, training), source, self.padding_id, self.pooling)
        return self.head(self.dropout(pooled, training=training))

    def compute_output_shape(self, input_shape: tuple[int | None, ...]):
        return input_shape[0], self.num_classes

    def get_config(self):
        return {**super().get_config(), "pooling": self.pooling}


@keras.saving.register_keras_serializable(package="kformer")
class TokenClassifier(ClassifyingNetwork):
    """Scores each class for each id by a linear layer on the encoder's vectors.

    Args:
        encoder: `kformer.TransformerEncoder`.
        num_classes: Number of classes C, at least 2.
        dropout: Dropout rate of the vectors.

    Call arguments:
        source: integer tensor (B, S).

    Returns:
        logits: float32 tensor (B, S, C).

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> encoder = kformer.TransformerEncoder(100, num_layers=1, d_model=16, num_heads=2, d_ff=8)
        >>> classifier = kformer.TokenClassifier(encoder, num_classes=3)
        >>> print(classifier(np.array([[7, 8, 9, 3], [7, 3, 0, 0]])).shape)
        (2, 4, 3)
    """

    def call(self, source: Any, training: bool | None = None):
        vectors = ops.cast(self.encode(source, training), "float32")
        return self.head(self.dropout(vectors, training=training))

    def compute_output_shape(self, input_shape: tuple[int | None, ...]):
        return (*input_shape, self.num_classes)


def pool(vectors: Any, ids: Any, padding_id: int, pooling: str = "mean"):
    """Returns one vector for each row, float32 (B, D).

    Args:
        vectors: float tensor (B, S, D), of `ids`.
        ids: int tensor (B, S), padded. The mean of a row of padding alone is 0.
        pooling: "mean" over the real ids, or "first".
    """
    vectors = ops.cast(vectors, "float32")
    if pooling == "first":
        return vectors[:, 0]
    real = ops.not_equal(ids, padding_id)[..., None]  # (B, S, 1)
    total = ops.sum(ops.where(real, vectors, 0.0), axis=1)
    return total / ops.maximum(ops.sum(ops.cast(real, "float32"), axis=1), 1.0)
