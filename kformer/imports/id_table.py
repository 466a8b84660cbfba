"""SentencePiece models with the ids of a given table.

A pretrained translator may come with a SentencePiece model for each side and with one table of
pieces and ids for both. Here each model is written anew, with all pieces of the table in the order
of their ids. Pieces of the other side alone are of the type UNUSED: they never split text, and are
written like any other. So the model defines text and ids, as any tokenizer's model does.

A piece of a model that the table lacks is unknown: it gets an id after the ids of the table.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

from kformer.text.near_characters import spell_near

_PROTO = sentencepiece_model_pb2
_PIECE = _PROTO.ModelProto.SentencePiece
_LANGUAGE = re.compile(">>(.+)<<")
_NEW_PADDING = ("<pad>", "<blank>", "<padding>")
_TEXT_TYPES = (_PIECE.NORMAL, _PIECE.USER_DEFINED, _PIECE.BYTE)


class IdTable(NamedTuple):
    """The ids that a network has vectors for."""

    pieces: list[str]  # in the order of their ids
    end: str
    unknown: str
    padding: str
    start: str

    @property
    def languages(self) -> dict[str, str]:
        """Pieces that name a language to translate into, such as ">>fra<<", by its code."""
        matches = (_LANGUAGE.fullmatch(piece) for piece in self.pieces)
        return {match[1]: match[0] for match in matches if match}

    @property
    def unknown_id(self) -> int:
        """The id of text that no piece covers."""
        return self.pieces.index(self.unknown)

    def with_more(self, pieces: list[str]) -> "IdTable":
        """Returns a copy with `pieces` appended."""
        return self._replace(pieces=[*self.pieces, *pieces])


def language_pieces(
    table: IdTable, code: str | None, where: Any
) -> tuple[str | None, dict[str, str]]:
    """Returns the piece before every source, or None, and the pieces to choose from by code.

    A model with one label only was trained with it, so it stands before every source.

    Args:
        code: The language of all translations; None to choose at each.
    """
    languages = table.languages
    if code is None:
        return (None, languages) if len(languages) != 1 else (next(iter(languages.values())), {})
    if code in languages:
        return languages[code], {}
    codes = ", ".join(sorted(languages)) or "none"
    raise ValueError(
        f"`target_language` must be one of the model's languages: {codes}. "
        f"Received: target_language={code!r} for {str(where)!r}."
    )


def table_of(ids: dict[str, int], special: dict[str, int], where: str) -> IdTable:
    """Returns the table of a vocabulary."""
    pieces = piece_ids(ids, where)
    unknown = "<unk>"
    if unknown not in ids or not all(0 <= i < len(pieces) for i in special.values()):
        raise ValueError(
            f"A vocabulary must hold {unknown} and the special ids of config.json. "
            f"Received: {where!r}, with {len(ids)} pieces."
        )
    return IdTable(pieces, unknown=unknown, **{role: pieces[i] for role, i in special.items()})


def piece_ids(ids: dict[str, int], where: str) -> list[str]:
    """Returns the pieces of a vocabulary in the order of their ids, for `table_of`."""
    if odd := next((piece for piece, i in ids.items() if type(i) is not int), None):
        raise ValueError(
            "A vocabulary must have a number for each piece. "
            f"Received: {ids[odd]!r} for {odd!r} in {where!r}."
        )
    pieces = sorted(ids, key=lambda piece: ids[piece])
    if [ids[piece] for piece in pieces] != [*range(len(ids))]:
        twice = next((i for i, number in Counter(ids.values()).items() if number > 1), None)
        missing = min({*range(len(ids))} - {*ids.values()}, default=0)
        fault = f"id {missing} has none" if twice is None else f"id {twice} has several"
        raise ValueError(
            "A vocabulary must have one piece for each id, from 0 on. "
            f"Received: {where!r}, with {len(ids)} pieces, where {fault}."
        )
    return pieces


def with_common_padding(vocabularies: list, names: Iterable[str]) -> tuple[str, list]:
    """Returns the piece for padding, and both vocabularies with it at the same id."""
    source, target = vocabularies
    for piece in names:
        if piece in source and piece in target and source.index(piece) == target.index(piece):
            return piece, vocabularies
    most = max(map(len, vocabularies))
    padding = next(piece for piece in _NEW_PADDING if piece not in (*source, *target))
    return padding, [
        [*pieces, *(f"<unused {i}>" for i in range(len(pieces), most)), padding]
        for pieces in vocabularies
    ]


def read_model(model: bytes, name: str):
    """Returns the `ModelProto` of a SentencePiece model, given as bytes.

    A model of characters becomes a unigram model that splits text likewise.
    """
    try:
        proto = _PROTO.ModelProto.FromString(model)
    except DecodeError:
        proto = _PROTO.ModelProto()
    # A piece that is not UTF-8 is not a string.
    if not proto.pieces or not all(isinstance(entry.piece, str) for entry in proto.pieces):
        raise ValueError(
            "The file must be a SentencePiece model. "
            f"Received: {name!r}, {len(model)} bytes that are none."
        )
    kind = proto.trainer_spec.model_type
    if kind == _PROTO.TrainerSpec.CHAR:
        proto.trainer_spec.model_type = _PROTO.TrainerSpec.UNIGRAM
        for entry in proto.pieces:
            if entry.type == _PIECE.NORMAL and len(entry.piece) > 1:
                entry.type = _PIECE.UNUSED  # A model of characters never splits text into it.
    elif kind != _PROTO.TrainerSpec.UNIGRAM:
        received = _PROTO.TrainerSpec.ModelType.Name(kind)
        raise ValueError(
            "SentencePiece models must be unigram models or of characters: a .tflite file splits "
            f"text by no others. Received: {name!r}, of type {received}."
        )
    return proto


def missing_pieces(proto: Any, table: IdTable) -> list[str]:
    """Returns the pieces that split text and are not in the table."""
    in_table = {*table.pieces}
    return [
        entry.piece
        for entry in proto.pieces
        if entry.type in _TEXT_TYPES and entry.piece not in in_table
    ]


def with_ids_of(
    proto: Any, table: IdTable, unused: Sequence[str] = (), prefixes: Iterable[str] = ()
) -> bytes:
    """Returns a SentencePiece model that splits text as `proto` does, into ids of the table.

    It reads characters that the pieces lack as `kformer.text.near_characters` has it.
    """
    entries = {entry.piece: entry for entry in proto.pieces}
    special = {
        table.end: _PIECE.CONTROL,
        table.padding: _PIECE.CONTROL,
        table.start: _PIECE.CONTROL,
        table.unknown: _PIECE.UNKNOWN,
    }
    special |= dict.fromkeys(table.languages.values(), _PIECE.UNUSED)
    special |= dict.fromkeys(prefixes, _PIECE.CONTROL)
    model = _PROTO.ModelProto()
    model.CopyFrom(proto)
    del model.pieces[:]
    for piece in table.pieces:
        score, kind = 0.0, _PIECE.UNUSED
        if piece in special:
            kind = special[piece]
        elif piece in entries and entries[piece].type != _PIECE.UNKNOWN:
            score, kind = entries[piece].score, entries[piece].type
        model.pieces.add(piece=piece, score=score, type=kind)
    for piece in unused:
        model.pieces.add(piece=piece, type=_PIECE.UNUSED)
    trainer = model.trainer_spec
    trainer.vocab_size = len(model.pieces)
    trainer.unk_piece, trainer.eos_piece = table.unknown, table.end
    trainer.bos_piece, trainer.pad_piece = table.start, table.padding
    spell_near(model)
    return model.SerializeToString()
