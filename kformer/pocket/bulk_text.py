"""Tokenizes many texts for a `.tflite` file outside of its graph, which takes longer.

The tables of the file's tokenizer are read from the file, and SentencePiece tokenizes with them. It
gets no table of replacements: a text in which the tokenizer would replace a character is left to
the graph, and so is everything else in which the two might differ.
"""

import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from kformer.pocket.metadata import (
    ArrayPlace,
    KeyPlaces,
    SourcePlaces,
    TablePlaces,
    TargetPlaces,
)

_HALF = 2**15  # int16 elements are numbers under 2^16, less this.
_TYPES = ("uint8", "int16", "int32")
_END, _NO_BYTE, _DEAD = 0, 255, 0  # As in `kformer.export.byte_codec.double_array`.
_PLAIN, _SPACED = 0, 1  # As in `kformer.export.byte_codec.codec_tables`.
_BAR = "\u2581"  # How SentencePiece writes a space.
_LONGEST_PIECE = 1_000  # Bytes.
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6  # Types of pieces.
_SCORE = struct.Struct("<Bf")
_KEY = -1  # Instead of a state: a key has ended.
_SMALL = [bytes([number]) for number in range(2**7)]
_RULE = "The places of tables in the metadata of a .tflite file must be as the export wrote them."


class BulkText:
    """A tokenizer for most texts, with the results of the tokenizer in the file.

    Args:
        path: The `.tflite` file.
        metadata: dict, its metadata, which must have `tables`.

    Raises:
        ImportError: SentencePiece is not installed.
        ValueError: The tables are damaged.
    """

    def __init__(self, path: str | os.PathLike, metadata: Mapping[str, Any]):
        import sentencepiece  # Only large files of text need it.

        places: TablePlaces = metadata["tables"]
        read = _TableReader(np.memmap(os.fspath(path), np.uint8, "r"))
        source, target = places["source"], places["target"]
        try:
            self._replacements = _Replacements(_Automaton.read(read, source["replacements"]))
            model = _model(read, source, metadata["source_vocab_size"], metadata["unknown_id"])
            self._source = sentencepiece.SentencePieceProcessor(model_proto=model)
            self._spellings = _Spellings(read, target)
        except (IndexError, KeyError, OverflowError, RuntimeError, UnicodeError) as error:
            raise ValueError(f"{_RULE} Received: {str(path)!r} ({error}).") from error

    def encode(self, text: str) -> list[int] | None:
        """Returns the ids of a text without the end id; None if the graph must find them."""
        if _BAR in text or "\0" in text or self._replacements.any_in(text):
            return None
        try:
            text.encode()
        except UnicodeEncodeError:  # Half of a surrogate pair.
            return None
        return self._source.encode(text)

    def decode(self, ids: Sequence[int]) -> bytes | None:
        """Returns the text of ids, UTF-8; None if the graph must find it."""
        return self._spellings.joined(ids)


class _TableReader:
    """Reads the arrays of a file."""

    def __init__(self, content: np.ndarray):
        self._content = content

    def __call__(self, place: ArrayPlace) -> np.ndarray:
        """Returns an array of uint8 or int32 numbers."""
        start, count, dtype = place
        if dtype not in _TYPES:
            raise IndexError(f"no type {dtype!r}")
        size = count * np.dtype(dtype).itemsize
        if min(start, count) < 0 or start + size > len(self._content):
            raise IndexError(f"no {count} elements at {start}")
        numbers = np.frombuffer(
            self._content[start : start + size].tobytes(), f"<{dtype[0]}{np.dtype(dtype).itemsize}"
        )
        return numbers.astype(np.int32) + _HALF if dtype == "int16" else numbers


class _Automaton(NamedTuple):
    """The keys of a table, as `kformer.export.byte_codec.double_array` stores them."""

    label: np.ndarray
    follow: np.ndarray
    start: int
    ends: int

    @classmethod
    def read(cls, read: _TableReader, keys: KeyPlaces) -> Self:
        return cls(read(keys["label"]), read(keys["follow"]), keys["start"], keys["ends"])


class _Replacements:
    """Finds out whether a text has a key of the table of replacements."""

    def __init__(self, automaton: _Automaton):
        self._label, self._follow = automaton.label.tolist(), automaton.follow.tolist()
        self._start, self._ends = automaton.start, automaton.ends
        self._after: dict[tuple[int, str], int] = {}  # Of the characters that were met.

    def any_in(self, text: str) -> bool:
        """Returns whether a key begins at one of the characters."""
        after, start = self._after, self._start
        for place, character in enumerate(text):
            state = after.get((start, character))
            if state is None:
                state = self._state_after(start, character)
            following = place + 1
            while state > _DEAD and following < len(text):
                state = self._state_after(state, text[following])
                following += 1
            if state == _KEY:
                return True
        return False

    def _state_after(self, state, character):
        """Returns the state that follows, `_DEAD` or `_KEY`."""
        known = self._after.get((state, character))
        if known is not None:
            return known
        reached = state
        for byte in character.encode("utf-8", "replace"):
            slot = reached + byte
            reached = self._follow[slot] if self._label[slot] == byte else _DEAD
            if reached == _DEAD or reached >= self._ends:
                break
        outcome = _KEY if reached >= self._ends else reached
        self._after[state, character] = outcome
        return outcome


class _Spellings:
    """The texts of the ids of the target."""

    def __init__(self, read: _TableReader, target: TargetPlaces):
        strings = read(target["strings"]).tobytes()
        starts, lengths, kinds = (
            read(target[name]).tolist() for name in ("start", "length", "kind")
        )
        count = len(kinds)
        self._texts = [
            strings[start : start + length]
            for start, length in zip(starts[:count], lengths[:count], strict=True)
        ]
        self._kinds, self._strip_all = kinds, target["strip_all"]

    def joined(self, ids: Sequence[int]) -> bytes | None:
        """Returns the text of ids; None if a piece is one byte, of which some make a character."""
        parts, any_before = [], False
        for i in ids:
            kind, text = self._kinds[i], self._texts[i]
            if kind > _SPACED:
                return None
            counted = len(text) - (kind == _SPACED and self._strip_all)
            parts.append(text[1:] if kind == _SPACED and not any_before else text)
            any_before = any_before or counted > 0
        return b"".join(parts)


def _model(read: _TableReader, source: SourcePlaces, vocab_size: int, unknown_id: int) -> bytes:
    """Returns a SentencePiece model of the pieces, a ModelProto, without replacements."""
    keys = _Automaton.read(read, source["pieces"])
    scores = (read(source["scores"]) * source["scale"]).tolist()
    pieces = {unknown_id: _piece("<unk>", 0, _UNKNOWN)}
    byte_ids = source.get("byte_ids", [])
    pieces |= {i: _piece(f"<0x{byte:02X}>", 0, _BYTE) for byte, i in enumerate(byte_ids)}
    ids = keys.follow.tolist()
    for state, text in _keys_by_state(keys):
        spelled = text.decode().replace(" ", _BAR)
        pieces[ids[state]] = _piece(spelled, scores[state - keys.ends], _NORMAL)
    # No text has the other pieces. A name with a space is no other piece's.
    for i in {*range(vocab_size)} - {*pieces}:
        pieces[i] = _piece(f"id {i}", 0, _CONTROL)
    trainer = _number(35, bool(byte_ids)) + _number(40, unknown_id)
    normalizer = _number(3, source["dummy_prefix"]) + _number(4, source["remove_extra"])
    parts = [_message(1, pieces[i]) for i in range(vocab_size)]
    return b"".join([*parts, _message(2, trainer), _message(3, normalizer)])


def _keys_by_state(keys: _Automaton):
    """Yields the state in which each key ends, and the key; each state must have one parent."""
    slots = np.flatnonzero((keys.label != _NO_BYTE) & (keys.label != _END))
    bytes_read = keys.label[slots]
    children = keys.follow[slots].tolist()
    parents = (slots - bytes_read).tolist()
    before = dict(zip(children, zip(parents, bytes_read.tolist(), strict=True), strict=True))
    for end in (np.flatnonzero(keys.label[keys.ends :] == _END) + keys.ends).tolist():
        text, state = bytearray(), end
        while state != keys.start:
            state, byte = before[state]
            text.append(byte)
            if len(text) > _LONGEST_PIECE:
                raise IndexError("a piece without end")
        text.reverse()
        yield end, bytes(text)


def _piece(text: str, score: float, kind: int) -> bytes:
    return _message(1, text.encode()) + _SCORE.pack(2 << 3 | 5, score) + _number(3, kind)


def _message(field: int, content: bytes) -> bytes:
    """Returns a field of bytes, in the encoding of Protocol Buffers."""
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(int(value))


def _varint(number: int) -> bytes:
    if number <= 0x7F:
        return _SMALL[number]
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
