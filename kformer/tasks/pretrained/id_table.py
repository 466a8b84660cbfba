"""SentencePiece models whose ids are those of a given table.

A pretrained translator may come with a SentencePiece model for each side and with one table of
pieces and ids for both. Here each model is written anew, with all pieces of the table in the order
of their ids: those of the other side are of the type UNUSED, which never splits text, and is
written like any other. So the model defines text and ids, as any tokenizer's does.

A piece of a model that the table lacks is unknown: it gets an id behind those of the table.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

_PROTO = sentencepiece_model_pb2
_PIECE = _PROTO.ModelProto.SentencePiece
_LANGUAGE = re.compile(">>(.+)<<")
_OF_TEXT = (_PIECE.NORMAL, _PIECE.USER_DEFINED, _PIECE.BYTE)


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
        found = (_LANGUAGE.fullmatch(piece) for piece in self.pieces)
        return {match[1]: match[0] for match in found if match}

    @property
    def unknown_id(self) -> int:
        """The id of what no piece covers."""
        return self.pieces.index(self.unknown)

    def with_more(self, pieces: list[str]) -> "IdTable":
        """Returns a table with `pieces` behind those of this one."""
        return self._replace(pieces=[*self.pieces, *pieces])


def read_model(model: bytes, name: str):
    """Returns the `ModelProto` of a SentencePiece model, given as bytes.

    Raises:
        ValueError: The bytes are no unigram model; the message contains the `name` of the file.
    """
    try:
        proto = _PROTO.ModelProto.FromString(model)
    except DecodeError:
        proto = _PROTO.ModelProto()
    if not proto.pieces:
        raise ValueError(
            "The file must be a SentencePiece model. "
            f"Received: {name!r}, {len(model)} bytes that are none."
        )
    kind = proto.trainer_spec.model_type
    if kind != _PROTO.TrainerSpec.UNIGRAM:
        raise ValueError(
            "SentencePiece models must be unigram models: a .tflite file can split text by no "
            f"others. Received: {name!r}, of type {_PROTO.TrainerSpec.ModelType.Name(kind)}."
        )
    return proto


def missing_pieces(proto, table: IdTable) -> list[str]:
    """Returns the pieces that split text and are not in the table."""
    there = {*table.pieces}
    return [one.piece for one in proto.pieces if one.type in _OF_TEXT and one.piece not in there]


def with_ids_of(
    proto, table: IdTable, unused: Sequence[str] = (), prefix: str | None = None
) -> bytes:
    """Returns a SentencePiece model that splits text as `proto` does, into ids of the table.

    Args:
        proto: The `ModelProto` of one side. A piece of it that is not in `table` is no longer used.
        table: `IdTable`.
        unused: Pieces of further ids, behind those of the table, which never split text.
        prefix: A piece of the table that stands before texts, and has no text of its own; or None.
    """
    own = {one.piece: one for one in proto.pieces}
    special = {
        table.end: _PIECE.CONTROL,
        table.padding: _PIECE.CONTROL,
        table.start: _PIECE.CONTROL,
        table.unknown: _PIECE.UNKNOWN,
    }
    if prefix is not None:
        special[prefix] = _PIECE.CONTROL
    made = _PROTO.ModelProto()
    made.CopyFrom(proto)
    del made.pieces[:]
    for piece in table.pieces:
        score, kind = 0.0, _PIECE.UNUSED
        if piece in special:
            kind = special[piece]
        elif piece in own and own[piece].type != _PIECE.UNKNOWN:
            score, kind = own[piece].score, own[piece].type
        made.pieces.add(piece=piece, score=score, type=kind)
    for piece in unused:
        made.pieces.add(piece=piece, type=_PIECE.UNUSED)
    trainer = made.trainer_spec
    trainer.vocab_size = len(made.pieces)
    trainer.unk_piece, trainer.eos_piece = table.unknown, table.end
    trainer.bos_piece, trainer.pad_piece = table.start, table.padding
    return made.SerializeToString()
