"""Bits per byte of validation text, by which models of different vocabularies can be compared."""

import math
from collections.abc import Iterable

from kformer.text import vocabulary
from kformer.training.callbacks.validation import ValidationCallback


class BitsPerByte(ValidationCallback):
    """Adds `val_bits_per_byte` to the logs, which must have `val_perplexity`.

    The end of a document counts as a token, and as a byte.

    Args:
        documents: Those of the validation text; blank ones do not count.
        model: The SentencePiece model.
    """

    def __init__(self, documents: Iterable[str], model: bytes):
        super().__init__()
        library, self.tokens, self.bytes = vocabulary.read(model), 0, 0
        for document in documents:
            if ids := library.encode(document):
                self.tokens += len(ids) + 1
                self.bytes += len(document.encode()) + 1

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Adds the bits to the logs."""
        bits = math.log2(logs["val_perplexity"]) * self.tokens
        logs["val_bits_per_byte"] = bits / self.bytes
