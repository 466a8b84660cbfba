"""The byte codec in NumPy, one character after the other: what the graph must do, readable.

Slow, and for tests: they hold it against the SentencePiece library, and the graph against both.
"""

import numpy as np

from kformer.export.byte_codec.codec_tables import (
    BROKEN,
    BYTES,
    SPACED,
    UTF8,
    Normalizer,
    Pieces,
    Spellings,
    Tables,
)
from kformer.export.byte_codec.double_array import DEAD

_BAR = "\u2581".encode()  # A space, as the library writes it.
_UNREACHED = np.float32(-1e30)


def tokenize(tables: Tables, text: bytes) -> list[int]:
    """Returns the ids of a text of any bytes; zeros at its end are left out."""
    return segment(tables.pieces, normalize(tables.normalizer, text.rstrip(b"\0")))


def normalize(normalizer: Normalizer, text: bytes) -> bytes:
    """Returns the text that is split; every space in it is one byte."""
    parts = []
    place = 0
    while place < len(text):
        part, length = _normalized_prefix(normalizer, text[place:])
        parts.append(part)
        place += length
    joined = b"".join(parts)
    if normalizer.remove_extra:
        while b"  " in joined:
            joined = joined.replace(b"  ", b" ")
        joined = joined.removeprefix(b" ")
    joined = joined.replace(_BAR, b" ")
    if normalizer.remove_extra:
        joined = joined.rstrip(b" ")
        if not joined:
            return b""
    if normalizer.dummy_prefix and text:
        joined = b" " + joined
    return joined


def _normalized_prefix(normalizer, text):
    """Returns what the beginning of `text` becomes, and how many bytes of it that was."""
    keys = normalizer.keys
    state, longest, found = keys.start, 0, 0
    for length, byte in enumerate(text[: keys.depth], start=1):
        state = keys.step(state, byte)
        if state == DEAD:
            break
        if keys.value(state) is not None:
            longest, found = length, 2 * keys.value(state)
    if longest:
        start, length = found + 1, int(normalizer.strings[found])
        return normalizer.strings[start : start + length].tobytes(), longest
    length = character_length(text)
    return (text[:length], length) if length else (BROKEN, 1)


def character_length(text) -> int:
    """Bytes of the character that `text` begins with; 0 if that is no UTF-8."""
    length = int(UTF8.length[text[0]])
    trail = text[1:length]
    if length != 1 + len(trail) or any(not 0x80 <= byte <= 0xBF for byte in trail):
        return 0
    if trail and not UTF8.least[text[0]] <= trail[0] <= UTF8.most[text[0]]:
        return 0
    return length


def segment(pieces: Pieces, text: bytes) -> list[int]:
    """Returns the ids of the most likely pieces; of two equal ways to an end, the longer piece."""
    best = np.full(len(text) + 1, _UNREACHED)
    best[0] = 0
    came_from = np.full(len(text) + 1, -1)
    ids = np.zeros(len(text) + 1, int)
    start = 0
    while start < len(text):
        character = int(UTF8.length[text[start]])
        for end, score, i in _candidates(pieces, text, start, character):
            total = best[start] + score  # In single precision, as the library does.
            if came_from[end] < 0 or total > best[end]:
                best[end], came_from[end], ids[end] = total, start, i
        start += character
    tokens = []
    end = len(text)
    while end:
        tokens.append((ids[end], text[came_from[end] : end]))
        end = came_from[end]
    return list(_spelt(pieces, tokens[::-1]))


def _candidates(pieces, text, start, character):
    """Yields the end, the score and the id of everything that may begin at `start`."""
    state, single = pieces.keys.start, False
    for end in range(start + 1, len(text) + 1):
        state = pieces.keys.step(state, text[end - 1])
        if state == DEAD:
            break
        i = pieces.keys.value(state)
        if i is not None:
            single = single or end - start == character
            yield end, np.float32(pieces.scores[state - pieces.keys.ends] * pieces.scale), i
    if not single:
        yield start + character, pieces.unknown_score, pieces.unknown_id


def _spelt(pieces, tokens):
    """Yields ids; unknown text by its bytes, or as one unknown id for all that is adjacent."""
    before = None
    for i, text in tokens:
        if i != pieces.unknown_id:
            yield int(i)
        elif pieces.byte_ids is not None:
            yield from pieces.byte_ids[list(text)].tolist()
        elif before != i:
            yield int(i)
        before = i


def detokenize(spellings: Spellings, ids) -> bytes:
    """Returns the text of a list of ids: UTF-8 without zeros, whatever the ids."""
    text = b""
    stripped = False
    run = b""  # Of pieces that are bytes.
    for i in ids:
        start, length = int(spellings.start[i]), int(spellings.length[i])
        piece = spellings.strings[start : start + length].tobytes()
        if spellings.kind[i] == BYTES:
            run += piece
            continue
        text, run = text + _repaired(run), b""
        if spellings.kind[i] == SPACED and not text and not stripped:
            piece = piece[1:]
            stripped = not spellings.strip_all
        text += piece
    return (text + _repaired(run)).replace(b"\0", b"")


def _repaired(run):
    text = b""
    while run:
        length = character_length(run)
        text += run[:length] if length else BROKEN
        run = run[length or 1 :]
    return text
