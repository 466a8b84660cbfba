"""Tables of text: readers of TSV, CSV and JSON lines, and columns as temporary files.

Tables are UTF-8, plain or compressed. Training reads parallel text, line n of one plain file beside
line n of another, in graph; so text from elsewhere is first written into temporary files, which are
deleted when the process ends.
"""

import atexit
import contextlib
import csv
import functools
import itertools
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.arguments import replace_lone_surrogates
from kformer.files import check_file
from kformer.json_files import parse_json
from kformer.text.long_lines import LONGEST, TOO_LONG, is_too_long, lines_of
from kformer.text.text_files import COMPRESSED, decoded, on_one_line, opened

_MOST_CHARACTERS = 2**31 - 1  # Of a field of a CSV file.
_CR = "\udc0d"  # Stands for a "\r" in the rows of a CSV file; no UTF-8 text has this character.
_QUOTED = re.compile('[^"]*+(?:""[^"]*+)*+')  # The rest of a text in quotes; "" is a quote.
_ENDINGS = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json"}  # Others are TSV.


_BINARY = {
    ".parquet": "Parquet, which pandas.read_parquet(...).to_csv(...) converts",
    ".xlsx": "Excel, which saves it as CSV",
    ".arrow": "Arrow",
    ".feather": "Feather",
}


class Row(NamedTuple):
    """The values of a row of a table.

    Attributes:
        values: Strings, in the order of the columns that were asked for.
        line: Number of the line where the row ends.
    """

    values: tuple[str, ...]
    line: int


def read_table(
    file: str | Path, columns: Sequence[str], *, named: bool = False, rest: bool = False
) -> Iterator[Row]:
    """Yields the rows of a table.

    A file named ".csv" is a CSV file, whose first line names the columns. A file named ".jsonl" or
    ".ndjson" has JSON lines, an object on each line. All others are TSV: if the first line names
    the columns, it is a header; if not, the first values of a line belong to `columns` in their
    order, and further values are ignored. Blank lines are skipped.
    Compressed files have names such as "a.csv.gz". The values of a row of more than 1,048,576 bytes
    are not read: each of them is `kformer.text.long_lines.TOO_LONG`.

    Args:
        named: Whether a TSV file must have a header.
        rest: Whether, in a TSV file without a header, the last column extends to the end of the
            line, tabs included.
    """
    path = Path(file)
    if ending(path) in _BINARY:
        raise ValueError(
            f"A table must be a text: TSV, CSV or JSON lines, not {_BINARY[ending(path)]}. "
            f"Received: {str(file)!r}."
        )
    form = _ENDINGS.get(ending(path), "tsv")
    row = None
    with opened(path) as content:
        lines = decoded(lines_of(content, csv=form == "csv"), repr(str(file)))
        first = next(lines, None)
        if first is not None:
            first = first.removeprefix("\ufeff")  # The mark that Windows puts before UTF-8.
            for row in _rows(form, first, lines, str(file), columns, named, rest):
                yield row
    if row is None:
        raise ValueError(f"A table must not be empty. Received: {str(file)!r}.")


def ending(file: str | Path) -> str:
    """Returns the ending of a name that shows the form of a file, as ".csv" of "a.csv.gz"."""
    path = Path(Path(file).name)
    return (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix


def _rows(form, first, lines, file, columns, named, rest):
    if form != "json" and all(name.isdecimal() and int(name) for name in columns):
        return _numbered(form, first, lines, file, [int(name) for name in columns])
    if form == "csv":
        return _csv_rows(first, lines, file, columns)
    if form == "json":
        return _json_rows(first, lines, file, columns)
    return _tsv_rows(first, lines, file, columns, named, rest)


def _numbered(form, first, lines, file, columns):
    """Yields the values of numbered columns, counted from 1."""
    content = _CsvLines(first, lines)
    rows = (
        csv.reader(content, strict=True)
        if form == "csv"
        else (line.rstrip("\r\n").split("\t") for line in content)
    )
    csv.field_size_limit(_MOST_CHARACTERS)
    try:
        for number, values in enumerate(rows, start=1):
            line = rows.line_num if form == "csv" else number
            if content.row_is_too_long():
                yield _unread(columns, line)
                continue
            if form == "csv" and not values:
                continue
            if len(values) < max(columns):
                raise ValueError(
                    f"A line of the table must have the columns {_listed(columns)}. Received: "
                    f"{file!r}, where line {line} has {len(values)}."
                )
            yield Row(tuple(values[column - 1] for column in columns), line)
    except csv.Error as error:
        raise ValueError(
            f"A CSV file must be well-formed. Received: {file!r}, line {rows.line_num} ({error})."
        ) from error


def _tsv_rows(first, lines, file, columns, named, rest):
    numbered = (
        (number, line)
        for number, line in enumerate(itertools.chain([first], lines), start=1)
        if "\t" in line or line.strip() or len(columns) == 1
    )
    number, first = next(numbered, (1, ""))
    header = first.split("\t")
    has_header = {*columns} <= {*header}
    if named and not has_header:
        raise _lacks_columns(file, columns, first)
    if has_header:
        places, most = [header.index(name) for name in columns], -1
    else:
        places, most = range(len(columns)), len(columns) - 1 if rest else -1
        numbered = itertools.chain([(number, first)], numbered)
    for number, line in numbered:
        if is_too_long(line):
            yield _unread(columns, number)
        else:
            yield Row(_tsv_values(line, number, file, columns, places, most), number)


def _tsv_values(line, number, file, columns, places, most):
    values = line.split("\t", most)
    if len(values) <= max(places):
        tabs = len(values) - 1
        raise ValueError(
            f"A line of a TSV file must have values for {_listed(columns)}, with a tab between "
            f"two; the name of a CSV file ends in .csv. Received: {file!r}, where line {number} "
            f"has {tabs or 'no'} tab{'s' * (tabs > 1)}: {line!r:.80}."
        )
    return tuple(values[place] for place in places)


def _csv_rows(first, lines, file, columns):
    csv.field_size_limit(_MOST_CHARACTERS)
    content = _CsvLines(first, lines)
    # Python's reader would take a "\r" within a line for the end of a row.
    rows = csv.reader((line.replace("\r", _CR) for line in content), strict=True)
    try:
        header = [name.strip() for name in next(rows)]
        if not {*columns} <= {*header}:
            header = [name.lower() for name in header]
        if not {*columns} <= {*header}:
            raise _lacks_columns(file, columns, first, "csv")
        places = [header.index(name) for name in columns]
        content.row_is_too_long()  # The header was read; the next line begins a row.
        for row in rows:
            if content.row_is_too_long():
                yield _unread(columns, rows.line_num)
                continue
            if row and len(row) != len(header):
                raise ValueError(
                    "A row of a CSV file must have a value for each column. Received: "
                    f"{file!r}, where line {rows.line_num} ends a row of {len(row)} values "
                    f"for {len(header)} columns."
                )
            if row:
                values = (row[place].replace(_CR, "\r") for place in places)
                yield Row(tuple(values), rows.line_num)
    except csv.Error as error:
        raise ValueError(
            f"A CSV file must be well-formed. Received: {file!r}, line {rows.line_num} ({error})."
        ) from error


class _CsvLines:
    """Lines with the ends that `decoded` took: in a CSV file a quoted text may have several lines.

    Further lines of a row that is too long are yielded without their quoted text: `csv.reader` asks
    for such a line only within quotes.
    """

    def __init__(self, first: str, lines: Iterator[str]):
        self._lines = itertools.chain([first], lines)
        self._bytes = 0  # Of the row.

    def __iter__(self):
        for line in self._lines:
            within_quotes = self._bytes > 0
            self._bytes += 1 + (len(line) if line.isascii() else len(line.encode()))
            if within_quotes and self._bytes > LONGEST + 1:
                line = line[_QUOTED.match(line).end() :]
                yield f"{line}\n" if line else ""
            else:
                yield f"{line}\n"

    def row_is_too_long(self) -> bool:
        """Returns whether the row that was read is too long; the next line begins another one."""
        is_long = self._bytes > LONGEST + 1
        self._bytes = 0
        return is_long


def _unread(columns, line):
    return Row((TOO_LONG,) * len(columns), line)


def _lacks_columns(file, columns, first, form="tsv"):
    why = ""
    if form == "csv" and first.count(";") > first.count(","):
        why = "; values are divided by commas, not by semicolons, or by tabs in a file named .tsv"
    return ValueError(
        f"The first line of the table must name the columns {_listed(columns)}{why}. "
        f"Received: {file!r}, whose first line is {first!r:.80}."
    )


def _json_rows(first, lines, file, columns):
    for number, line in enumerate(itertools.chain([first], lines), start=1):
        if is_too_long(line):
            yield _unread(columns, number)
            continue
        if not line.strip():
            continue
        try:
            record = parse_json(line, dict)
        except ValueError as error:
            raise ValueError(
                "Each line of a file of JSON lines must be a JSON object. Received: "
                f"{file!r}, where line {number} is not ({error}): {line.strip()!r:.80}."
            ) from error
        yield Row(values_of(record, columns, f"{file!r}, line {number}"), number)


def values_of(record: Mapping[str, Any], columns: Sequence[str], place: str) -> tuple[str, ...]:
    """Returns some values of a record as strings; messages contain the `place` of the record."""
    return tuple(as_text(_value(record, name, place), f"{name!r} of {place}") for name in columns)


def _value(record, name, place):
    outer, dot, inner = name.partition(".")
    if name not in record and dot and isinstance(record.get(outer), Mapping):
        return _value(record[outer], inner, place)
    if name not in record:
        raise ValueError(
            f"Every record must have the column {name!r}. "
            f"Received: {place}, whose columns are {_listed(record) or 'none'}."
        )
    return record[name]


def as_text(value: Any, place: str) -> str:
    """Returns a string, bytes of UTF-8 or an integer as text without lone surrogates."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Text must be UTF-8. Received: {value!r:.80} as {place} ({error.reason})."
            ) from error
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(
            "A value of a record must be text or an integer. "
            f"Received: {value!r:.80} as {place}, of type {type(value).__name__}."
        )
    return replace_lone_surrogates(value)


def _listed(columns):
    return ", ".join(map(repr, columns))


def write_columns(rows: Iterable[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Writes rows of text into a file for each column; line ends in a text become spaces."""
    folder = Path(tempfile.mkdtemp(dir=temporary_folder()))
    paths = [str(folder / name) for name in names]
    with contextlib.ExitStack() as stack:
        files = [
            stack.enter_context(Path(path).open("w", encoding="utf-8", newline="\n"))
            for path in paths
        ]
        for row in rows:
            for file, value in zip(files, row, strict=True):
                line = on_one_line(value)
                # Readers take one "\r" before a line feed for a part of the line end.
                file.write(f"{line}\r\n" if line.endswith("\r") else f"{line}\n")
    return paths


def plain(file: str | Path) -> str:
    """Returns the path of a plain copy of a compressed text, or of `file` if it is plain.

    In the copy, lines that are too long are cut.

    A file that has not changed is decompressed once per process.
    """
    if Path(file).suffix not in COMPRESSED:
        return str(file)
    check_file(file)
    state = Path(file).stat()
    return _plain(file, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache
def _plain(file, *_state):
    copy = Path(tempfile.mkdtemp(dir=temporary_folder()), Path(file).stem)
    with opened(file) as content, copy.open("wb") as plain_file:
        plain_file.writelines(lines_of(content))
    return str(copy)


@functools.cache
def temporary_folder() -> str:
    """Returns a folder that is deleted when the process ends."""
    folder = tempfile.mkdtemp(prefix="kformer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
