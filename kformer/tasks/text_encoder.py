"""The text encoder: text in, vectors out, in one `.keras` file."""

from typing import Any

import keras

from kformer.model.transformer_encoder import TransformerEncoder
from kformer.tasks.keras_file import check_format, with_format
from kformer.tasks.text_model import TextModel, check_kinds
from kformer.text.tokenizer import Tokenizer


@keras.saving.register_keras_serializable(package="kformer")
class TextEncoder(TextModel):
    """A tokenizer and an encoder: a feature extractor, by `encode` and `token_vectors`.

    Args:
        tokenizer: `Tokenizer`.
        encoder: `TransformerEncoder` with the tokenizer's vocabulary.
        max_source_length: Maximum number of ids of a text, its end id included; only the beginning
            of a longer text is encoded, with a warning.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> vectors = kformer.TextEncoder(translator.tokenizer, encoder).encode(["Ein Hund läuft."])
        >>> print(vectors.shape, vectors.dtype)
        (1, 128) float32
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        encoder: TransformerEncoder,
        max_source_length: int = 256,
        **kwargs: Any,
    ):
        super().__init__(tokenizer, max_source_length, **kwargs)
        check_kinds(encoder=(encoder, TransformerEncoder))
        self.encoder = encoder
        if tokenizer.model:  # Else `load_assets` follows.
            self._check_vocabularies()

    @property
    def network(self):
        return self.encoder

    def call(self, source: Any, training: bool | None = None):
        """Returns the vectors, float (B, S, D), of `source`, integer (B, S)."""
        return self.encoder(source, training=training)

    def _with(self, network):
        return TextEncoder(self.tokenizer, network, self.max_source_length)

    def get_config(self):
        config = {
            "prefix": self.tokenizer.prefix,
            "encoder": self.encoder.get_config(),
            "max_source_length": self.max_source_length,
        }
        return with_format(config)

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        check_format(config["format"])
        encoder = TransformerEncoder.from_config(config["encoder"])
        return cls(Tokenizer(prefix=config.get("prefix")), encoder, config["max_source_length"])
