"""The lexical shortlist beside a model of Firefox, such as lex.50.50.ende.s2t.bin.

A file has six numbers: its kind, a checksum of what follows, the number of first ids that are
always candidates, the largest number of entries of a source id, and the lengths of two arrays.
These are the place where the entries of each source id begin, and the entries: target ids,
ascending for each source id. Numbers are little-endian. No length in a file is trusted.

Axes: U source ids, V target ids, E entries.
"""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.archives import read_unpacked
from kformer.decoding.shortlist import Shortlist
from kformer.tasks.translator import Translator

_RULE = "A shortlist of Marian must be a binary file, whole, with ids of the model's vocabularies."
_KIND = 0xF11A48D5013417F5
_HEADER = struct.Struct("<6Q")
_CHECKED = 16  # Bytes before the ones that the checksum covers.
_WORD = 2**64 - 1


class LexicalTable(NamedTuple):
    """The content of a file.

    Attributes:
        first: The number of first target ids that are always candidates.
        starts: int64 array (U + 1,), where the entries of each source id begin; the last is E.
        entries: int64 array (E,), target ids.
    """

    first: int
    starts: np.ndarray
    entries: np.ndarray


def read_lexical_table(path: Path, sizes: tuple[int, int]) -> LexicalTable:
    """Reads a file, which may be packed by gzip."""

    def check(fits, why):
        if not fits:
            raise ValueError(f"{_RULE} Received: {str(path)!r} ({why}).")

    content = read_unpacked(path)
    check(len(content) >= _HEADER.size, f"{len(content)} bytes")
    kind, checksum, first, _, number, length = _HEADER.unpack_from(content)
    check(kind == _KIND, f"it begins with {kind:#x}, not {_KIND:#x}")
    needed = _HEADER.size + 8 * number + 4 * length
    check(len(content) == needed, f"{len(content):,} bytes where {needed:,} are announced")
    check(number == sizes[0] + 1, f"{number - 1:,} source ids for a vocabulary of {sizes[0]:,}")
    check(_checksum(content) == checksum, "its checksum is another")
    starts = np.frombuffer(content, "<u8", number, _HEADER.size)
    entries = np.frombuffer(content, "<u4", length, _HEADER.size + 8 * number)
    ascend = starts[0] == 0 and starts[-1] == length and (starts[1:] >= starts[:-1]).all()
    check(ascend, "the places of the entries do not ascend")
    largest = int(entries.max(initial=0))
    check(largest < sizes[1], f"target id {largest:,} for a vocabulary of {sizes[1]:,}")
    return LexicalTable(first, starts.astype(np.int64), entries.astype(np.int64))


def _checksum(content):
    """Returns the hash that Marian writes: of numbers of 64 bits, combined as by Boost."""
    checksum = 0
    for number in np.frombuffer(content, "<u8", len(content) // 8)[_CHECKED // 8 :].tolist():
        checksum ^= (number + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) & _WORD
    return checksum


def shortlist_of(table: LexicalTable, translator: Translator, is_shared: bool) -> Shortlist:
    """Returns the `Shortlist` of a table.

    The candidates are Marian's, all of them: the first ids, the entries of all source ids, and the
    source ids themselves if both sides have one vocabulary. Marian shares the candidates of a
    batch; here each source has its own.

    Args:
        is_shared: Whether both sides have one vocabulary.
    """
    number = len(table.starts) - 1
    sources = np.repeat(np.arange(number), np.diff(table.starts))
    entries = table.entries
    if is_shared:
        sources = np.concatenate([sources, np.arange(number)])
        entries = np.concatenate([entries, np.arange(number)])
    vocab_size = translator.target_tokenizer.vocab_size
    links = np.unique(sources * vocab_size + entries)
    ends = np.full(translator.tokenizer.vocab_size, len(links))
    ends[:number] = np.searchsorted(links, np.arange(1, number + 1) * vocab_size)
    entries = links % vocab_size
    first = min(table.first, vocab_size)
    order = np.arange(vocab_size)
    vocabularies = translator.vocabularies
    return Shortlist(ends, entries, order, first, vocab_size, vocabularies, exact=True)
