"""Text files as numbered lines, read by many workers in blocks of bytes.

A block rarely begins where a line does. So the line feeds of all blocks are counted first, which
gives the first line and the first byte of each part of the file.
"""

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from kformer.scale.addresses import local_copy, opened, size_of
from kformer.scale.runner import errors_of_users
from kformer.text.long_lines import lines_of
from kformer.text.text_files import COMPRESSED, decoded, read_lines

BLOCK = 8 * 2**20  # Bytes.
_PIECE = 2**20


class ByteBlock(NamedTuple):
    """Bytes of a file, from `start` to before `end`."""

    file: str
    start: int
    end: int


class Counted(NamedTuple):
    """Line feeds of a block.

    Attributes:
        start, end: The block's bytes.
        lines: Number of line feeds.
        behind: Position of the byte behind the last line feed; -1 without a line feed.
    """

    start: int
    end: int
    lines: int
    behind: int


class Lines(NamedTuple):
    """Consecutive lines of a file.

    Attributes:
        file: Its address.
        byte: Position to begin to read at.
        skip: Number of lines from there to leave out.
        first: Number of the first line, from 0.
        number: Number of lines.
    """

    file: str
    byte: int
    skip: int
    first: int
    number: int


class LineTable:
    """The lines at which parts of a file begin.

    Args:
        counted: `Counted` of each block of the file.
    """

    def __init__(self, counted: Iterable[Counted]):
        self._firsts, self._bytes = [0], [0]
        size = 0
        for block in sorted(counted):
            size = block.end
            if block.lines:
                self._firsts.append(self._firsts[-1] + block.lines)
                self._bytes.append(block.behind)
        if size > self._bytes[-1]:  # The last line has no line feed.
            self.number = self._firsts[-1] + 1
        else:
            self.number = self._firsts.pop()
            self._bytes.pop()

    def parts(self, file: str) -> Iterator[Lines]:
        """Yields all lines of the file in parts, each of about a block."""
        limits = itertools.pairwise([*self._firsts, self.number])
        for (first, end), byte in zip(limits, self._bytes, strict=True):
            yield Lines(file, byte, 0, first, end - first)

    def find(self, file: str, first: int, number: int) -> Lines:
        """Returns `number` lines from `first` on, which begin at most a block after their byte."""
        place = bisect_right(self._firsts, first) - 1
        return Lines(file, self._bytes[place], first - self._firsts[place], first, number)


def is_compressed(file: str) -> bool:
    """Returns whether only the whole file can be read."""
    return file.endswith(COMPRESSED)


def blocks_of(file: str, block: int = BLOCK) -> Iterator[ByteBlock]:
    """Yields the blocks of a file, of `block` bytes each."""
    size = size_of(file)
    if not size:
        raise ValueError(f"Text files must not be empty. Received: {file!r}.")
    for start in range(0, size, block):
        yield ByteBlock(file, start, min(start + block, size))


def count(block: ByteBlock) -> Counted:
    """Counts the line feeds of a block."""
    lines, behind = 0, -1
    with opened(block.file) as content:
        content.seek(block.start)
        place = block.start
        while place < block.end:
            piece = content.read(min(_PIECE, block.end - place))
            lines += piece.count(b"\n")
            behind = max(behind, place + piece.rfind(b"\n") + 1) if b"\n" in piece else behind
            place += len(piece)
    return Counted(block.start, block.end, lines, behind)


def read(lines: Lines) -> Iterator[str]:
    """Yields the lines as text, with the errors of `kformer.text.text_files.decoded`."""
    with opened(lines.file) as content:
        content.seek(lines.byte)
        wanted = itertools.islice(lines_of(content), lines.skip, lines.skip + lines.number)
        yield from decoded(wanted, repr(lines.file), first=lines.first + 1)


_BLOCK = 2**20  # Bytes: a worker translates some thousand lines, then takes the next.


class ReadLines(beam.PTransform):
    """Begins a pipeline with the lines of a text: (number from 0, text), in any order.

    Args:
        file: Its address; plain text is read in blocks, each by any worker.
    """

    def __init__(self, file: str):
        super().__init__()
        self._file = file

    def expand(self, begin: Any):
        if is_compressed(self._file):
            return begin | "File" >> beam.Create([self._file]) | beam.FlatMap(_numbered)
        return (
            begin
            | "Blocks" >> beam.Create([*blocks_of(self._file, _BLOCK)])
            | "SpreadBlocks" >> beam.Reshuffle()
            | "CountLines" >> beam.Map(lambda block: (block.file, count(block)))
            | "ByFile" >> beam.GroupByKey()
            | "Divide" >> beam.FlatMapTuple(lambda file, counted: LineTable(counted).parts(file))
            | "SpreadParts" >> beam.Reshuffle()
            | "ReadParts" >> beam.FlatMap(_read_part)
        )


def _numbered(file):
    with errors_of_users(), local_copy(file) as path:
        yield from enumerate(read_lines(path))


def _read_part(part):
    with errors_of_users():
        yield from enumerate(read(part), part.first)
