"""The tables of the byte codec, in the graph and in the reference.

In texts and keys of pieces, a space is one byte, `SPACE_BYTE`, where the library writes U+2581.
"""

import functools
from typing import NamedTuple

import numpy as np

from kformer.export.byte_codec import charsmap
from kformer.export.byte_codec.double_array import (
    END,
    DoubleArray,
    automaton_of_edges,
    automaton_of_keys,
)
from kformer.export.byte_codec.piece_model import (
    BYTE,
    CONTROL,
    NORMAL,
    SPACE,
    UNKNOWN,
    USER_DEFINED,
    PieceModel,
    read_piece_model,
)

SPACE_BYTE = 0x20
BROKEN = "\ufffd".encode()  # Replaces a byte that is not UTF-8.


class Utf8(NamedTuple):
    """Which bytes may follow a first byte: table 3-7 of the Unicode Standard, chapter 3."""

    length: np.ndarray  # int32 (256,), bytes of the character; 0 for no first byte
    least: np.ndarray  # int32 (256,), of the second byte; further bytes are 0x80 to 0xBF
    most: np.ndarray  # int32 (256,)


class Normalizer(NamedTuple):
    """The changes to a text before it is split. R bytes of strings."""

    keys: DoubleArray  # values: halves of places in `strings`, of a replacement's length
    strings: np.ndarray  # uint8 (R,), `BROKEN`, then each replacement behind its length
    dummy_prefix: bool  # a space is added before
    remove_extra: bool  # spaces that lead, trail, or follow a space


class Pieces(NamedTuple):
    """How a normalised text is split. U states from `keys.ends` on."""

    keys: DoubleArray  # values: ids
    scores: np.ndarray  # int32 (U,), of the pieces that end in these states
    scale: float  # their factor, a power of two
    unknown_score: np.float32
    unknown_id: int
    byte_ids: np.ndarray | None  # int32 (256,); None if unknown text becomes `unknown_id`


class Spellings(NamedTuple):
    """How ids are written. R bytes, V pieces."""

    strings: np.ndarray  # uint8 (R,); first of all `BROKEN`
    start: np.ndarray  # int32 (V,)
    length: np.ndarray  # int32 (V,)
    kind: np.ndarray  # uint8 (V,): `PLAIN`, `SPACED`, `BYTES` or `ZERO`
    strip_all: bool  # all leading spaces, or only the first


# SPACED pieces begin with a space; BYTES are one byte; ZERO is the zero byte, which is not written:
# a reader of the bytes would take it for the end.
PLAIN, SPACED, BYTES, ZERO = range(4)


class Tables(NamedTuple):
    """The tables of a codec for one SentencePiece model."""

    normalizer: Normalizer
    pieces: Pieces
    spellings: Spellings


@functools.lru_cache(maxsize=8)
def tables_of(model: bytes) -> Tables:
    """Returns the tables of a SentencePiece model file, given as bytes."""
    known = read_piece_model(model)
    return Tables(_normalizer(known), _pieces(known), _spellings(known))


def _utf8():
    length, least, most = np.zeros((3, 256), np.int32)
    length[:0x80] = 1
    for first, last, size in ((0xC2, 0xDF, 2), (0xE0, 0xEF, 3), (0xF0, 0xF4, 4)):
        length[first : last + 1] = size
    least[:], most[:] = 0x80, 0xBF
    least[0xE0], most[0xED], least[0xF0], most[0xF4] = 0xA0, 0x9F, 0x90, 0x8F
    return Utf8(length, least, most)


UTF8 = _utf8()


def _normalizer(model: PieceModel):
    rules = charsmap.with_symbols(charsmap.read(model.charsmap), model.symbols)
    strings, places, edges = bytearray(BROKEN), {}, []
    for state_edges in rules.edges:
        state_edges = dict(state_edges)
        if END in state_edges:
            start = state_edges[END]
            text = rules.replacements[start : rules.replacements.index(b"\0", start)]
            if b"  " in text:
                raise ValueError(
                    "No replacement in a SentencePiece model may have two spaces in a row. "
                    f"Received: {text.decode()!r}."
                )
            if len(text) >= 2**8:
                raise ValueError(
                    "Replacements in a SentencePiece model must have under 256 bytes. "
                    f"Received: {text.decode()!r}."
                )
            if text not in places:
                strings += bytes(len(strings) % 2)
                places[text] = len(strings) // 2  # So that it fits in 16 bits.
                strings += bytes([len(text)]) + text
            state_edges[END] = places[text]
        edges.append(state_edges)
    return Normalizer(
        automaton_of_edges(edges, rules.depth),
        np.frombuffer(bytes(strings), np.uint8),
        model.add_dummy_prefix,
        model.remove_extra_whitespaces,
    )


def _pieces(model: PieceModel):
    ids = {
        piece.replace(SPACE, chr(SPACE_BYTE)).encode(): i
        for i, (piece, kind) in enumerate(zip(model.pieces, model.types, strict=True))
        if kind in (NORMAL, USER_DEFINED)
        and chr(SPACE_BYTE) not in piece  # Such a piece can never be met.
    }
    keys = automaton_of_keys(ids)
    scores = np.zeros(len(keys.label) - keys.ends, np.float32)
    ends = np.flatnonzero(keys.label[keys.ends :] == END)
    scores[ends] = model.scores[keys.follow[keys.ends + ends]]
    scores, scale = as_integers(scores)
    byte_ids = None
    if model.byte_fallback:
        numbers = {piece: i for i, piece in enumerate(model.pieces) if model.types[i] == BYTE}
        byte_ids = np.array([numbers[f"<0x{byte:02X}>"] for byte in range(256)], np.int32)
    return Pieces(keys, scores, scale, model.unknown_score, model.unknown_id, byte_ids)


def as_integers(numbers: np.ndarray):
    """Returns int32 numbers and the power of two that makes `numbers`, float32, of them, exactly.

    The converter rounds tables of floats, and leaves tables of integers alone.
    """
    _, exponents = np.frexp(numbers[numbers != 0])
    scale = 2.0 ** (int(exponents.min(initial=0)) - 24)  # float32 has 24 bits.
    integers = numbers.astype(np.float64) / scale
    while np.abs(integers).max(initial=0) >= 2**31 and not (integers % 2).any():
        integers, scale = integers / 2, scale * 2
    if np.abs(integers).max(initial=0) >= 2**31:
        raise ValueError(
            "The scores of a SentencePiece model must be within 7 powers of two. "
            f"Received: {np.abs(numbers[numbers != 0]).min()} and {np.abs(numbers).max()}."
        )
    return integers.astype(np.int32), scale


def _spellings(model: PieceModel):
    strings = _Strings()
    strippable = model.add_dummy_prefix or model.remove_extra_whitespaces
    slices, kinds = [], []
    for piece, kind in zip(model.pieces, model.types, strict=True):
        text = piece.replace(SPACE, " ").encode()
        if kind == CONTROL:
            text = b""
        elif kind == UNKNOWN:
            text = model.unknown_surface.encode()
        elif kind == BYTE:
            text = bytes([int(piece[3:5], 16)])
        if kind == BYTE:
            kinds.append(BYTES if text != b"\0" else ZERO)
        else:
            spaced = kind not in (CONTROL, UNKNOWN) and piece.startswith(SPACE) and strippable
            kinds.append(SPACED if spaced else PLAIN)
        slices.append((strings.start(text), len(text)))
    start, length = np.array(slices, np.int32).T
    return Spellings(
        strings.array(),
        start,
        length,
        np.array(kinds, np.uint8),
        strip_all=model.remove_extra_whitespaces,
    )


class _Strings:
    """One long string, of which others are slices."""

    def __init__(self):
        self._starts = {b"": 0}
        self._joined = bytearray()
        self.start(BROKEN)

    def start(self, text: bytes):
        if text not in self._starts:
            self._starts[text] = len(self._joined)
            self._joined += text
        return self._starts[text]

    def array(self):
        return np.frombuffer(bytes(self._joined), np.uint8)
