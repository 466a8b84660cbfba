"""The encoder alone: ids in, vectors out.

Axes: B batch, S sequence length, H heads, D d_model, L layers.
"""

from typing import Any

import keras

from kformer.model.embedding import MAX_WAVELENGTH
from kformer.model.masks import padding_mask
from kformer.model.network import OneStack
from kformer.model.residual import EPSILON
from kformer.model.stack import DROPOUT
from kformer.model.transformer import Transformer

_OF_TRANSFORMER = (  # Its settings that the encoder has, too.
    "vocab_size",
    "num_layers",
    "d_model",
    "num_heads",
    "d_ff",
    "norm_first",
    "padding_id",
    "activation",
    "first_position",
    "max_wavelength",
    "norm_epsilon",
    "ignored_source_id",
)


@keras.saving.register_keras_serializable(package="kformer")
class TransformerEncoder(OneStack):
    """The encoder half of a `Transformer`, with its embedding: a vector for each id.

    [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), section 3; the defaults are the base
    model of the paper.

    Args:
        vocab_size: Number of ids V.
        num_layers: Number of layers L.
        d_model: Width D of the vectors; even, and a multiple of `num_heads`.
        num_heads: Attention heads in each layer.
        d_ff: Inner width of the feed-forward networks.
        dropout: Dropout rate of each sub-layer's output and of the embedded ids.
        norm_first: Whether to normalise before each sub-layer (pre-norm) instead of after.
        padding_id: The id that fills short rows; no other id attends to it.
        activation: Activation of the `kformer.FeedForward` networks.
        first_position, max_wavelength: As for `kformer.PositionalEncoding`.
        norm_epsilon: As for `kformer.EncoderLayer`.
        ignored_source_id: As for `kformer.Transformer`.

    Call arguments:
        source: integer tensor (B, S).

    Returns:
        float tensor (B, S, D). `attend` returns the attention weights beside it.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> encoder = kformer.TransformerEncoder(100, num_layers=2, d_model=16, num_heads=2, d_ff=8)
        >>> vectors, weights = encoder.attend(np.array([[7, 8, 9, 3]]))
        >>> print(vectors.shape, len(weights), weights[0].shape)
        (1, 4, 16) 2 (1, 2, 4, 4)
    """

    def __init__(
        self,
        vocab_size: int,
        num_layers: int = 6,
        d_model: int = 512,
        num_heads: int = 8,
        d_ff: int = 2048,
        dropout: float = DROPOUT,
        norm_first: bool = False,
        padding_id: int = 0,
        activation: str = "relu",
        first_position: int = 0,
        max_wavelength: float = MAX_WAVELENGTH,
        norm_epsilon: float = EPSILON,
        ignored_source_id: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            vocab_size,
            num_layers,
            d_model,
            num_heads,
            d_ff,
            dropout,
            norm_first,
            padding_id,
            activation,
            first_position,
            max_wavelength,
            norm_epsilon,
            **kwargs,
        )
        self.ignored_source_id = ignored_source_id

    @classmethod
    def from_transformer(
        cls, transformer: Transformer, dropout: float | None = None
    ) -> "TransformerEncoder":
        """Returns an encoder with the weights of a `Transformer`'s, which share no memory.

        Args:
            transformer: `kformer.Transformer`. LoRA is merged; quantized weights become floats.
            dropout: Dropout rate; None for the rate of `transformer`.
        """
        config = transformer.get_config()
        encoder = cls(
            **{name: config[name] for name in _OF_TRANSFORMER},
            dropout=config["dropout"] if dropout is None else dropout,
        )
        transformer = transformer.copy()  # LoRA and quantized layers have variables of their own.
        encoder.source_embedding.table.assign(transformer.source_embedding.table)
        stacks = encoder.encoder.weights, transformer.encoder.weights
        for weight, value in zip(*stacks, strict=True):
            weight.assign(value)
        return encoder

    def call(self, source: Any, training: bool | None = None):
        return self.encode(source, training)

    def _mask(self, source):
        return padding_mask(source, self.padding_id, self.ignored_source_id)

    def get_config(self):
        return {**super().get_config(), "ignored_source_id": self.ignored_source_id}

    def compute_output_shape(self, input_shape: tuple[int | None, ...]):
        return (*input_shape, self.d_model)
