"""The places of the tokenizer's tables in a `.tflite` file, for `kformer.pocket.bulk_text`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kformer.export.byte_codec.codec_tables import Pieces, Tables, tables_of
from kformer.export.byte_codec.double_array import END, DoubleArray
from kformer.export.byte_codec.piece_model import UNKNOWN_PENALTY
from kformer.export.byte_codec.scan import narrowed
from kformer.text.tokenizer import Tokenizer


def table_places(path: Path, tokenizers: Sequence[Tokenizer]) -> dict[str, Any]:
    """Returns the metadata `tables` in a dict, which is empty if the file has changed a table.

    An array is a triple: its first byte in the file, its number of elements and its type.
    """
    source, target = (tables_of(tokenizer.model) for tokenizer in tokenizers)
    if tokenizers[0].prefix is not None or not _has_usual_penalty(source.pieces):
        return {}
    content = path.read_bytes()

    def place(table):
        table = narrowed(table)
        start = content.find(table.tobytes())
        return [start, len(table), table.dtype.name]

    places = {"source": _source(source, place), "target": _target(target, place)}
    return {} if -1 in _starts(places) else {"tables": places}


def _has_usual_penalty(pieces: Pieces):
    """Returns whether SentencePiece finds the penalty of unknown characters by the same pieces."""
    ends = pieces.keys.label[pieces.keys.ends :] == END
    scores = (pieces.scores * pieces.scale).astype(np.float32)[: len(ends)][ends]
    return len(scores) > 0 and scores.min() - UNKNOWN_PENALTY == pieces.unknown_score


def _source(tables: Tables, place):
    normalizer, pieces = tables.normalizer, tables.pieces
    byte_ids = {} if pieces.byte_ids is None else {"byte_ids": pieces.byte_ids.tolist()}
    return {
        "replacements": _keys(normalizer.keys, place),
        "pieces": _keys(pieces.keys, place),
        "scores": place(pieces.scores),
        "scale": pieces.scale,
        "dummy_prefix": normalizer.dummy_prefix,
        "remove_extra": normalizer.remove_extra,
        **byte_ids,
    }


def _keys(keys: DoubleArray, place):
    return {
        "label": place(keys.label),
        "follow": place(keys.follow),
        "start": keys.start,
        "ends": keys.ends,
    }


def _target(tables: Tables, place):
    spellings = tables.spellings
    names = ("strings", "start", "length", "kind")
    arrays = {name: place(getattr(spellings, name)) for name in names}
    return {**arrays, "strip_all": spellings.strip_all}


def _starts(places):
    """Yields the first byte of each array in a dict of `table_places`."""
    for name, value in places.items():
        if isinstance(value, dict):
            yield from _starts(value)
        elif isinstance(value, list) and name != "byte_ids":
            yield value[0]
