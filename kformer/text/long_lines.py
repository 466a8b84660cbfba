"""Lines of bounded length: memory does not depend on how long the lines of a file are.

Only the beginning of a line of more than `LONGEST` bytes is read. The beginning, too, has more than
`LONGEST` bytes, so `is_too_long` recognizes it. Pairs with such a side are dropped; models cut such
texts anyway.
"""

import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

LONGEST = 2**20  # Bytes of a line without its end.
TOO_LONG = "?" * (LONGEST + 1)  # Stands for a text that was not read.
_BLOCK = 2**16  # Bytes that are read at once.
_IN_CHARACTER = 3  # Bytes of a character in UTF-8, at most, behind its first one.


class LineSplitter:
    """Splits text that comes in blocks into lines, and cuts lines that are too long.

    Args:
        longest: Maximum bytes of a line without its end. Of a longer one, a few more bytes are
            kept, up to the end of a character.
        csv: Whether a line that is cut ends in `,"` if an odd number of quotes was cut off, so that
            the next line is in quotes, or not, as before.
        parts: Whether the rest of a line that is too long follows as further lines, each of
            about `longest` bytes, instead of being skipped.
    """

    def __init__(self, longest: int = LONGEST, csv: bool = False, parts: bool = False):
        self._longest, self._csv, self._parts = longest, csv, parts
        self._most = longest + 2 + _IN_CHARACTER  # The last may be a "\r", part of the line end.
        self._begun = b""  # The line whose end is not read yet.
        self._is_cut, self._quotes = False, 0  # Whether its rest is skipped, and the quotes in it.

    def split(self, block: bytes) -> list[bytes]:
        """Returns the lines that end in a block, with their line feeds."""
        ended = []
        if self._is_cut:
            skipped, feed, block = block.partition(b"\n")
            self._quotes += skipped.count(b'"')
            if not feed:
                return []
            ended = [line + feed for line in self.end()]
        lines = io.BytesIO(self._begun + block).readlines()
        self._begun = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        # Of lines that end in a short block, only the first one began before it.
        if lines and (len(lines[0]) > self._most or len(block) > self._most):
            lines = [part for line in lines for part in self._bounded(line)]
        if len(self._begun) > self._most:
            if self._parts:
                *parts, self._begun = self._in_parts(self._begun)
                lines += [part + b"\n" for part in parts]
            else:
                self._is_cut = True
                self._begun, self._quotes = self._cut(self._begun)
        return ended + lines

    def end(self) -> list[bytes]:
        """Returns the last line, if it has no line feed."""
        last = self._begun + self._mark(self._quotes)
        self._begun, self._is_cut, self._quotes = b"", False, 0
        return [last] if last else []

    def _bounded(self, line):
        """Returns a line with a line feed as one that is not too long, or as several."""
        text = line[:-1]
        if len(text) <= self._most:
            return [line]
        if self._parts:
            return [part + b"\n" for part in self._in_parts(text)]
        kept, quotes = self._cut(text)
        return [kept + self._mark(quotes) + b"\n"]

    def _cut(self, text):
        """Returns the beginning of a text that is too long, and the number of quotes behind it."""
        end = _next_character(text, self._longest + 2)
        return text[:end], text.count(b'"', end)

    def _mark(self, quotes):
        return b',"' if self._csv and quotes % 2 else b""

    def _in_parts(self, text):
        """Returns all of a text that is too long, in parts."""
        parts = []
        while len(text) > self._most:
            end = _next_character(text, self._longest - _IN_CHARACTER)
            parts.append(text[:end])
            text = text[end:]
        return [*parts, text]


def _next_character(text, place):
    """Returns the place where the next character of a text in UTF-8 begins, at most 3 behind."""
    for end in range(place, place + _IN_CHARACTER):
        if text[end] & 0xC0 != 0x80:
            return end
    return place + _IN_CHARACTER


def lines_of(content: BinaryIO, csv: bool = False, parts: bool = False) -> Iterator[bytes]:
    """Yields the lines of an open file, with their line feeds; long ones are cut."""
    splitter = LineSplitter(csv=csv, parts=parts)
    while block := content.read(_BLOCK):
        yield from splitter.split(block)
    yield from splitter.end()


def is_too_long(text: str, longest: int = LONGEST) -> bool:
    """Returns whether a text has more than `longest` bytes in UTF-8."""
    if 4 * len(text) <= longest:
        return False
    return len(text) > longest or len(text.encode("utf-8", "surrogatepass")) > longest


def check_whole(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yields lines that must be read whole."""
    for number, line in enumerate(lines, start=1):
        if is_too_long(line) and is_too_long(line.rstrip("\r\n")):
            raise ValueError(
                f"A line must have at most {LONGEST:,} bytes. Received: {name}, where line "
                f"{number} has more."
            )
        yield line
