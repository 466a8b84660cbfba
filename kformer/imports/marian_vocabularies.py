"""The vocabularies beside a model of Marian: SentencePiece models, or lists of pieces.

A list is YAML or JSON, or a text of one piece a line.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from kformer.archives import read_unpacked
from kformer.imports.id_table import (
    IdTable,
    piece_ids,
    read_model,
    with_common_padding,
)
from kformer.imports.plain_vocabularies import pieces_in_lines
from kformer.imports.yaml_text import read_yaml

_MODELS = ("source.spm", "target.spm")
_MODEL = ".spm"
_LISTS = ("*vocab.yml", "*vocab.yaml", "*vocab.json", "*vocab.txt")
_SIDES = (("*src", "*source"), ("*trg", "*target"))  # Beginnings of lists of one side each.
_MAPPINGS = (".yml", ".yaml", ".json")
_END, _UNKNOWN = "</s>", "<unk>"
_LEAD = (
    "It must hold one .spm file for both sides, or its settings must name those of both in "
    "`vocabs`, or it must hold one *vocab.yml or *vocab.txt, or one for each side (src, trg), with "
    "source.spm and target.spm."
)


class MarianVocabularies:
    """The vocabularies of both sides of a model of Marian.

    Args:
        folder: The folder, in which source.spm and target.spm lie beside a list of pieces.
        files: The files of both sides, SentencePiece models or lists of pieces; they may be one.

    Attributes:
        sizes: Numbers of ids of source and target in Marian, a pair.
        tables: The `IdTable`s of both sides, with an id for padding and start after Marian's ids.
        models: The `ModelProto`s of both sides.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or the files do not belong together.
    """

    def __init__(self, folder: Path, files: Sequence[Path]):
        lists = [file for file in files if _MODEL not in file.suffixes[-2:]]
        models = [_beside_list(folder, name) for name in _MODELS] if lists else files
        self.models = [read_model(read_unpacked(file), str(file)) for file in models]
        if lists:
            sides = [_pieces_in(file) for file in files]
            special = {"end": _END, "unknown": _UNKNOWN}
        else:
            sides = [[entry.piece for entry in model.pieces] for model in self.models]
            special = _special(self.models, folder)
        self.sizes = len(sides[0]), len(sides[1])
        padding, sides = with_common_padding(sides, ())
        tables = [IdTable(pieces, padding=padding, start=padding, **special) for pieces in sides]
        self.tables = tables if tables[0] != tables[1] else tables[:1] * 2


_OTHERS = {  # Files of other ways to split text.
    "*.bpe": "text split by subword-nmt (BPE)",
    "*.fsv": "Marian's factored vocabularies (.fsv)",
}


def vocabulary_files(folder: Path, names: Sequence[str]) -> list[Path]:
    """Returns the files of both vocabularies in a folder."""
    for pattern, words in _OTHERS.items():
        if refused := sorted(folder.glob(pattern)):
            raise ValueError(
                f"Text must be split by SentencePiece: models with {words} cannot be imported. "
                f"Received: {str(folder)!r}, which holds {_names(refused)}."
            )
    named = [folder / Path(name).name for name in names]
    if named and all(file.is_file() for file in named):
        return [named[0], named[-1]]
    lists = [file for pattern in _LISTS for file in sorted(folder.glob(pattern))]
    sides = [
        [file for file in lists if any(file.match(f"{start}.vocab.*") for start in starts)]
        for starts in _SIDES
    ]
    if len(lists) == 2 and all(len(side) == 1 for side in sides):
        return [side[0] for side in sides]
    joint = [file for file in sorted(folder.glob(f"*{_MODEL}")) if file.name not in _MODELS]
    files = lists or joint
    if len(files) != 1:
        raise (ValueError if files else FileNotFoundError)(
            f"A folder of Marian must show its vocabularies. {_LEAD} "
            f"Received: {str(folder)!r}, which holds {_names(files)}."
        )
    return files * 2


def _beside_list(folder, name):
    if not (folder / name).is_file():
        raise FileNotFoundError(
            f"A folder of Marian must hold {name} beside a list of pieces. "
            f"Received: {str(folder)!r}, which does not."
        )
    return folder / name


def _names(files):
    return ", ".join(file.name for file in files) or "none"


def _pieces_in(file):
    """Returns the pieces of a vocabulary in the order of their ids."""
    if file.suffix in _MAPPINGS:
        ids = {
            piece: int(i)
            for piece, i in read_yaml(file).items()
            if isinstance(i, str) and i.isdecimal()
        }
        pieces = piece_ids(ids, str(file))
    else:
        pieces = pieces_in_lines(file)
    missing = [piece for piece in (_END, _UNKNOWN) if piece not in pieces]
    if missing:
        raise ValueError(
            f"A vocabulary of Marian must hold {_END} and {_UNKNOWN}. "
            f"Received: no {', '.join(missing)} in {str(file)!r}."
        )
    return pieces


def _special(models, folder):
    """Returns the pieces of SentencePiece models for the end and for unknown text."""
    sides = []
    for model in models:
        trainer = model.trainer_spec
        pieces = {entry.piece for entry in model.pieces}
        special = {"end": trainer.eos_piece, "unknown": trainer.unk_piece}
        if not {*special.values()} <= pieces:
            raise ValueError(
                "A SentencePiece model of Marian must have pieces for the end and for what is "
                f"unknown. Received: {json.dumps(special)} in a model of {str(folder)!r}."
            )
        sides.append(special)
    if sides[0] != sides[1]:
        raise ValueError(
            "Both SentencePiece models must name the end and what is unknown alike. "
            f"Received: {json.dumps(sides[0])} and {json.dumps(sides[1])} in {str(folder)!r}."
        )
    return sides[0]
