"""The encoder alone: ids in, vectors out.

Axes: B batch, S sequence length, H heads, D d_model, L layers.
"""

import keras

from kformer.model.dropout import Dropout
from kformer.model.embedding import PositionalEncoding, TokenEmbedding
from kformer.model.encoder import Encoder
from kformer.model.masks import padding_mask
from kformer.model.networks.network import Network
from kformer.model.stack import DROPOUT


@keras.saving.register_keras_serializable(package="kformer")
class TransformerEncoder(Network):
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
        activation: Of the feed-forward networks; see `kformer.FeedForward`.

    Call arguments:
        source: integer tensor (B, S).

    Returns:
        float tensor (B, S, D). `attend` returns the attention weights beside it.
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
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.d_model = d_model
        self.padding_id = padding_id
        dtype = self.dtype_policy
        self.source_embedding = TokenEmbedding(vocab_size, d_model, name="embedding", dtype=dtype)
        self.positions = PositionalEncoding(name="positions", dtype=dtype)
        self.dropout = Dropout(dropout, name="dropout", dtype=dtype)
        settings = (d_model, num_heads, d_ff, dropout, norm_first, activation)
        self.encoder = Encoder(num_layers, *settings, name="encoder", dtype=dtype)
        self.source_embedding.build((None, None))
        for layer in (self.positions, self.dropout, self.encoder):
            layer.build((None, None, d_model))
        self.built = True

    @classmethod
    def from_transformer(cls, transformer, dropout: float | None = None) -> "TransformerEncoder":
        """Returns an encoder with the weights of a `Transformer`'s, which share no memory.

        Args:
            transformer: `kformer.Transformer`. LoRA is merged; quantized weights become floats.
            dropout: Dropout rate; None for that of `transformer`.
        """
        config = transformer.get_config()
        names = ("vocab_size", "num_layers", "d_model", "num_heads", "d_ff", "norm_first")
        encoder = cls(
            **{name: config[name] for name in (*names, "padding_id", "activation")},
            dropout=config["dropout"] if dropout is None else dropout,
        )
        transformer = transformer.copy()  # LoRA and quantized layers have variables of their own.
        for own, other in (
            (encoder.source_embedding, transformer.source_embedding),
            (encoder.encoder, transformer.encoder),
        ):
            for weight, value in zip(own.weights, other.weights, strict=True):
                weight.assign(value)
        return encoder

    @property
    def parts(self):
        return (self.encoder,)

    def call(self, source, training=None):
        return self.encode(source, training)

    def encode(self, source, training=None):
        """Returns the vectors, float (B, S, D), of `source`, integer (B, S)."""
        x = self._embed(self.source_embedding, source, training)
        return self.encoder(x, padding_mask(source, self.padding_id), training=training)

    def attend(self, source):
        """As `encode`, with the attention weights: a tuple of L tensors (B, H, S, S)."""
        x = self._embed(self.source_embedding, source)
        return self.encoder.attend(x, padding_mask(source, self.padding_id))

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.d_model)

    def get_config(self):
        encoder = self.encoder
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_layers": encoder.num_layers,
            "d_model": self.d_model,
            "num_heads": encoder.num_heads,
            "d_ff": encoder.d_ff,
            "dropout": self.dropout.rate,
            "norm_first": encoder.norm_first,
            "padding_id": self.padding_id,
            "activation": encoder.activation,
        }
