"""The attention of a model to the pieces of one text."""

from typing import NamedTuple

import keras
import numpy as np

from kformer.model.transformer import Attention


class View(NamedTuple):
    """The attention of one kind, as pictures and pages show it.

    Attributes:
        kind: "encoder" or "decoder", of self-attention; or "cross", from decoder to encoder.
        queries: Q pieces that attend: of the source; or of a decoder, whose rows are named by the
            piece that it writes there.
        keys: K pieces that are attended to.
        weights: float array (L, H, Q, K) of all L layers and H heads.
    """

    kind: str
    queries: list[str]
    keys: list[str]
    weights: np.ndarray


class AttentionMaps(NamedTuple):
    """The attention of a model for one text, with its pieces.

    Attributes:
        source: The S source pieces, the end piece last. Empty for a language model.
        target: T pieces that the decoder reads, the start piece first. Empty for an encoder.
        written: T pieces that the decoder writes after each piece of `target`, the end piece last.
        attention: `kformer.model.transformer.Attention` for a batch of 1; its tuples are
            empty where the model has no such attention.
    """

    source: list[str]
    target: list[str]
    written: list[str]
    attention: Attention

    def views(self) -> list[View]:
        """Returns a `View` for each kind of attention that the model has."""
        encoder, decoder, cross = self.attention
        kinds = (
            ("encoder", self.source, self.source, encoder),
            ("decoder", self.written, self.target, decoder),
            ("cross", self.written, self.source, cross),
        )
        return [
            View(*names, np.stack([keras.ops.convert_to_numpy(weights)[0] for weights in layers]))
            for *names, layers in kinds
            if layers
        ]
