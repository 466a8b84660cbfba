"""Reads the parts of a SentencePiece model that the byte codec needs, and refuses others."""

from typing import NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # Types of pieces.
SPACE = "\u2581"  # How a space is written in pieces.
UNKNOWN_PENALTY = np.float32(10)  # Extra cost of an unknown character over the worst piece.
_BONUS = 0.1  # Of each byte of a symbol but the first, in SentencePiece 0.2.3.
_STEPS = 2**16
_UNIGRAM = 1


class PieceModel(NamedTuple):
    """A unigram model. V pieces."""

    pieces: list  # of str (V,)
    scores: np.ndarray  # float32 (V,)
    types: list  # of int (V,)
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    byte_fallback: bool
    unknown_surface: str

    @property
    def symbols(self) -> list[bytes]:
        """User-defined symbols, which are neither replaced nor split."""
        pairs = zip(self.pieces, self.types, strict=True)
        return [piece.encode() for piece, kind in pairs if kind == USER_DEFINED]

    @property
    def unknown_id(self) -> int:
        return self.types.index(UNKNOWN)

    @property
    def unknown_score(self) -> np.float32:
        return self.scores[np.array(self.types) == NORMAL].min() - UNKNOWN_PENALTY


def read_piece_model(model: bytes) -> PieceModel:
    """Reads the bytes of a SentencePiece model file."""
    proto = sentencepiece_model_pb2.ModelProto()
    try:
        proto.ParseFromString(model)
    except DecodeError as error:
        raise ValueError(
            "A byte codec needs the bytes of a SentencePiece model. "
            f"Received: {len(model)} bytes that are none."
        ) from error
    _check(proto)
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    return PieceModel(
        pieces=[piece.piece for piece in proto.pieces],
        scores=np.array([_score(piece) for piece in proto.pieces], np.float32),
        types=[piece.type for piece in proto.pieces],
        charsmap=normalizer.precompiled_charsmap,
        add_dummy_prefix=normalizer.add_dummy_prefix,
        remove_extra_whitespaces=normalizer.remove_extra_whitespaces,
        byte_fallback=trainer.byte_fallback,
        unknown_surface=trainer.unk_surface,
    )


def _score(piece):
    """Returns the score of a piece; symbols cost nothing, so that they are nearly always chosen."""
    if piece.type != USER_DEFINED:
        return piece.score
    bonus = _BONUS * (len(piece.piece.encode()) - 1)
    return round(bonus * _STEPS) / _STEPS  # So that integers can stand for all scores.


def _check(proto):
    usable = {piece.piece for piece in proto.pieces if piece.type == NORMAL}
    kind = proto.trainer_spec.model_type
    refused = {
        "be unigram models": f"model_type={kind}" if kind != _UNIGRAM else "",
        "write spaces as U+2581": "" if proto.normalizer_spec.escape_whitespaces else "none",
        "have their spaces before the words": (
            "treat_whitespace_as_suffix" if proto.trainer_spec.treat_whitespace_as_suffix else ""
        ),
        # A space without one would be the three bytes of U+2581.
        "have a piece for the space alone, or no byte fallback": (
            "" if SPACE in usable or not proto.trainer_spec.byte_fallback else "none"
        ),
        "have no rules for what they say (denormalizer)": (
            "some" if proto.denormalizer_spec.precompiled_charsmap else ""
        ),
    }
    for rule, received in refused.items():
        if received:
            raise ValueError(
                f"SentencePiece models in a .tflite file must {rule}. Received: {received}."
            )
