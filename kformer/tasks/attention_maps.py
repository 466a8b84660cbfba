"""The attention of a model to the pieces of one text."""

import re
from typing import NamedTuple

import keras
import numpy as np

from kformer.model.transformer import Attention

_BYTE = re.compile("<0x([0-9A-F]{2})>")


class View(NamedTuple):
    """The attention of one kind, as pictures and pages show it.

    Attributes:
        kind: "encoder" or "decoder", of self-attention; or "cross", from decoder to encoder.
        queries: Q pieces that attend: of the source; or of a decoder, whose rows are named by the
            piece that it writes there.
        keys: K pieces that are attended to.
        weights: float array (L, H, Q, K) of all L layers and H heads.

    A character that the vocabulary spells in bytes is one piece: its weight as a key is the sum of
    those of its bytes, and as a query their mean.
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
        return [_view(*kind) for kind in kinds if kind[-1]]


def _view(kind, queries, keys, layers):
    weights = np.stack([keras.ops.convert_to_numpy(weights)[0] for weights in layers])
    query_starts, key_starts = _starts(queries), _starts(keys)
    sizes = np.diff([*query_starts, len(queries)]).astype(weights.dtype)
    weights = np.add.reduceat(weights, key_starts, axis=-1)
    weights = np.add.reduceat(weights, query_starts, axis=-2) / sizes[:, np.newaxis]
    return View(kind, _joined(queries, query_starts), _joined(keys, key_starts), weights)


def _starts(pieces):
    """Returns the indices at which pieces begin that are no further bytes of a character."""
    starts = []
    end = 0  # Of the character before.
    for start in range(len(pieces)):
        if start >= end:
            starts.append(start)
            lengths = range(2, 5)  # Of a character beyond ASCII, in bytes.
            sure = (start + n for n in lengths if _character(pieces[start : start + n]))
            end = next(sure, start + 1)
    return starts


def _joined(pieces, starts):
    ends = [*starts[1:], len(pieces)]
    parts = (pieces[start:end] for start, end in zip(starts, ends, strict=True))
    return [_character(part) or part[0] for part in parts]


def _character(pieces):
    """Returns the visible character that pieces of a byte each spell, or ""."""
    matches = [_BYTE.fullmatch(piece) for piece in pieces]
    if not all(matches):
        return ""
    try:
        text = bytes(int(match[1], 16) for match in matches).decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if len(text) == 1 and text.isprintable() else ""
