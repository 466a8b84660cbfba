"""CSV and TSV: the cells of one column. The first line is a header, which stays.

The delimiter is the character that the header has most often outside of quotation marks. Python's
`csv` gives no places of cells, so they are read here; the tests compare both.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Chunk, Piece, Segment

_DELIMITERS = ",;\t|"
_OUTSIDE_QUOTES = re.compile(r'"(?:[^"]|"")*+"|([,;\t|])|\r\n?|\n|.', re.DOTALL)
# A cell in quotation marks, or another one, and what ends it, for each delimiter.
_CELLS = {
    delimiter: re.compile(
        rf'(?:(?P<quoted>"(?:[^"]|"")*+")(?=[{delimiter}\r\n]|\Z)|(?P<bare>[^{delimiter}\r\n]*+))'
        rf"(?P<end>{re.escape(delimiter)}|\r\n?|\n|\Z)"
    )
    for delimiter in _DELIMITERS
}
_SPECIAL = re.compile(r'["\r\n]|^\s|\s$')


class Cell(NamedTuple):
    """A cell, with its place and its quotation marks.

    Attributes:
        start, end: Its place.
        text: Its text.
        is_quoted: Whether it has quotation marks.
        is_last: Whether it is the last one of its row.
    """

    start: int
    end: int
    text: str
    is_quoted: bool
    is_last: bool


def declared_encoding(_content: bytes) -> None:
    """Returns None: CSV is in UTF-8, or has a byte order mark."""


def delimiter_of(text: str) -> str:
    """Returns the delimiter that the first line has most often, a comma if it has none."""
    counts = dict.fromkeys(_DELIMITERS, 0)
    for match in _OUTSIDE_QUOTES.finditer(text):
        if match[1]:
            counts[match[1]] += 1
        elif match[0] in ("\r\n", "\r", "\n"):
            break
    return max(counts, key=lambda delimiter: counts[delimiter])


def cells(text: str, delimiter: str) -> Iterator[Cell]:
    """Yields the cells of all rows."""
    place, pattern = 0, _CELLS[delimiter]
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None  # It matches any text.
        quoted = match["quoted"]
        content = quoted[1:-1].replace('""', '"') if quoted else match["bare"]
        is_last = match["end"] != delimiter
        yield Cell(place, match.start("end"), content, bool(quoted), is_last)
        place = match.end()
        if not is_last and place == len(text):
            yield Cell(place, place, "", False, True)


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the cells of the column."""
    delimiter = delimiter_of(text)
    header, row, column = [], 0, None
    done, line = 0, 1
    uses_quotes = delimiter != "\t" or any(cell.is_quoted for cell in cells(text, delimiter))
    number = 0
    for cell in cells(text, delimiter):
        if cell.text.startswith('"') and not cell.is_quoted and delimiter != "\t":
            line += text.count("\n", done, cell.start)
            raise ValueError(
                "A cell in quotation marks must end in one, before a delimiter or a line end. "
                f"Received: {cell.text!r:.60} in {options.name}, line {line}."
            )
        if row == 0:
            header.append(cell.text)
        elif number == column and cell.text.strip():
            line += text.count("\n", done, cell.start)
            yield text[done : cell.start]
            raw = text[cell.start : cell.end]
            write = _writer(delimiter, cell.is_quoted, uses_quotes)
            yield Segment(cell.start, line, raw, (cell.text,), write)
            line += raw.count("\n")
            done = cell.end
        number += 1
        if cell.is_last:
            if row == 0:
                column = _index(header, options)
            row, number = row + 1, 0
    yield text[done:]


def _index(header, options):
    """Returns the index of the column in the rows."""
    column = options.column
    if column is None:
        raise ValueError(
            "A CSV needs `column`, the name of a column in its first line, or its number from 1. "
            f"Received: {options.name}, with the columns {', '.join(map(repr, header)):.200}."
        )
    if column in header:
        return header.index(column)
    if column.isdecimal() and 0 < int(column) <= len(header):
        return int(column) - 1
    raise ValueError(
        "`column` must be the name of a column in the first line, or its number from 1. "
        f"Received: column={column!r:.60}, not in {', '.join(map(repr, header)):.200}."
    )


def _writer(delimiter, is_quoted, uses_quotes):
    """Returns the `Write` of a cell, which gets quotation marks where it needs them."""

    def write(chunks: list[Chunk]):
        text = "".join(chunk.content for chunk in chunks)
        if not uses_quotes:  # As in most TSV, where a cell cannot have a tab or a line end.
            return " ".join(text.replace("\t", " ").splitlines())
        if is_quoted or delimiter in text or _SPECIAL.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    return write
