"""The decoder alone, a language model: ids in, logits of the next ids out.

Axes: B batch, T length, H heads, D d_model, L layers, V vocabulary.
"""

from typing import Any

import keras
from keras import ops

from kformer.model.embedding import MAX_WAVELENGTH
from kformer.model.masks import causal_mask
from kformer.model.network import OneStack, PredictsTokens
from kformer.model.residual import EPSILON
from kformer.model.stack import DROPOUT


@keras.saving.register_keras_serializable(package="kformer")
class TransformerDecoder(PredictsTokens, OneStack):
    """The decoder half of a `Transformer`, without attention over a memory: it continues a text.

    The decoder of [Liu et al., 2018](https://arxiv.org/abs/1801.10198), section 4.2.3, with the
    layers of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762); the embedding's table also
    gives the logits (section 3.4).

    Args:
        vocab_size, num_layers, d_model, num_heads, d_ff, dropout, norm_first, activation: As for
            `TransformerEncoder`.
        first_position, max_wavelength: As for `kformer.PositionalEncoding`.
        norm_epsilon: As for `kformer.EncoderLayer`.
        padding_id: The id that fills short rows, after their end.
        start_id: The id that every text begins with. A row may hold several texts, one after the
            other: each is read as if it were alone.

    Call arguments:
        ids: integer tensor (B, T), beginning with the start id. Every position attends to itself
            and to all earlier ones of its text. A row may also begin in the middle of a text, with
            what another row had no room for: that is read as a text of its own.

    Returns:
        logits: float tensor (B, T, V), of the id after each position. `encode` returns the vectors,
        float (B, T, D), that they are made of, and `attend` also the attention weights.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> decoder = kformer.TransformerDecoder(100, num_layers=2, d_model=16, num_heads=2, d_ff=8)
        >>> print(decoder(np.array([[2, 11, 12]])).shape)
        (1, 3, 100)
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
        start_id: int = 2,
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
        self.start_id = start_id

    @property
    def decoder(self):
        """The stack, a `kformer.Encoder` that runs under a causal mask."""
        return self.encoder

    @property
    def target_embedding(self):
        """The embedding, whose table also gives the logits."""
        return self.source_embedding

    def call(self, ids: Any, training: bool | None = None):
        return self.target_embedding.logits(self.encode(ids, training))

    def _embed(self, embedding, ids, training=None):
        self._check_ids(ids)
        # Positions are counted from the beginning of each text.
        earlier = ops.sum(ops.cast(self._mask(ids)[:, 0], "int32"), axis=-1) - 1  # (B, T)
        encodings = self.positions.encodings(ops.shape(ids)[1], self.d_model)
        x = embedding(ids)
        x = x + ops.cast(ops.take(encodings, earlier, axis=0), x.dtype)
        return self.dropout(x, training=training)

    def _mask(self, ids):
        # Padding ends a row, so no real position attends to it.
        text = ops.cumsum(ops.cast(ops.equal(ids, self.start_id), "int32"), axis=1)  # Its number.
        same = ops.equal(text[:, None, :, None], text[:, None, None, :])
        return causal_mask(ops.shape(ids)[1]) & same

    def compute_output_shape(self, input_shape: tuple[int | None, ...]):
        return (*input_shape, self.vocab_size)

    def get_config(self):
        return {**super().get_config(), "start_id": self.start_id}
