"""Labelled text: TSV files of `label<TAB>text` lines, or CSV files with these two columns.

Training reads parallel text: line n of one file belongs to line n of another. So labelled text is
split into two such files, of texts and of labels, which are deleted when the process ends.
"""

import atexit
import collections
import contextlib
import csv
import functools
import gzip
import shutil
import tempfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from kformer.files import check_file
from kformer.text.text_files import as_list, decoded

COLUMNS = ("label", "text")  # Of a CSV file; also the first line of a TSV file that has a header.
_MOST_CHARACTERS = 2**31 - 1  # Of a field of a CSV file.


class Labelled(NamedTuple):
    """A text and its label, which may be anywhere on the line or begin above it."""

    label: str
    text: str
    line: int


class Split(NamedTuple):
    """Labelled text as parallel files.

    Attributes:
        texts, labels: Lists of paths; line n of a file of `labels` is the label of line n of a file
            of `texts`.
        counts: Number of texts that are not blank, by label, in the order of the labels.
    """

    texts: list[str]
    labels: list[str]
    counts: dict[str, int]


def read_labelled(file: str | Path) -> Iterator[Labelled]:
    """Yields the texts of a file with their labels, `.gz` or plain.

    A name that ends in ".csv" or ".csv.gz" is that of a CSV file, whose header has the columns
    "label" and "text"; others are TSV. White space in a text or a label, ends of lines among it,
    becomes single spaces.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: The file is empty, not UTF-8 or malformed, or a label is blank; the message has
            the file and the line.
    """
    path = Path(file)
    check_file(path)
    is_csv = path.name.removesuffix(".gz").endswith(".csv")
    line = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as content:
            for line, label, text in _rows(content, path, is_csv):
                label, text = " ".join(label.split()), " ".join(text.split())
                if not label:
                    raise ValueError(
                        f"Every text needs a label. Received: {str(file)!r}, where that of line "
                        f"{line} is blank."
                    )
                yield Labelled(label, text, line)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"A file named .gz must be gzip. Received: {str(file)!r} ({error})."
        ) from error
    if not line:
        raise ValueError(f"A file of labelled text must not be empty. Received: {str(file)!r}.")


def _rows(content, path, is_csv):
    """Yields line numbers, labels and texts."""
    lines = decoded(content, repr(str(path)))
    first = next(lines, None)
    if first is None:
        return
    first = first.removeprefix("\ufeff")  # The mark that Windows puts before UTF-8.
    yield from (_of_csv if is_csv else _of_tsv)(first, lines, path)


def _of_tsv(first, lines, path):
    def numbered():
        if tuple(first.split("\t")) != COLUMNS:
            yield 1, first
        yield from enumerate(lines, start=2)

    for number, line in numbered():
        label, tab, text = line.partition("\t")
        if not tab:
            raise ValueError(
                "A line of labelled text is a label, a tab and a text; a CSV file's name ends in "
                f".csv. Received: {str(path)!r}, where line {number} has no tab: {line!r:.80}."
            )
        yield number, label, text


def _of_csv(first, lines, path):
    csv.field_size_limit(_MOST_CHARACTERS)
    rows = csv.reader(_with_ends(first, lines), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows)]
        if not {*COLUMNS} <= {*header}:
            raise ValueError(
                'The header of a CSV file of labelled text must have the columns "label" and '
                f'"text". Received: {str(path)!r}, whose first line is {first!r:.80}.'
            )
        places = [header.index(name) for name in COLUMNS]
        for row in rows:
            if row and len(row) != len(header):
                raise ValueError(
                    "A row of a CSV file must have a value for each column. Received: "
                    f"{str(path)!r}, where line {rows.line_num} ends a row of {len(row)} values "
                    f"for {len(header)} columns."
                )
            if row:
                yield rows.line_num, *(row[place] for place in places)
    except csv.Error as error:
        raise ValueError(
            f"A CSV file must be well-formed. Received: {str(path)!r}, line {rows.line_num} "
            f"({error})."
        ) from error


def _with_ends(first, lines):
    """Gives lines the ends that `decoded` took: a quoted text may hold several lines."""
    yield f"{first}\n"
    for line in lines:
        yield f"{line}\n"


def split(files) -> Split:
    """Splits files of labelled text into parallel files; see `Split`.

    A file that has not changed is split once per process.

    Args:
        files: A path or a list of paths.

    Raises:
        See `read_labelled`.
    """
    texts, labels, counts = [], [], collections.Counter()
    for file in as_list(files):
        check_file(file)
        state = Path(file).stat()
        paths, of_file = _split(file, state.st_ino, state.st_size, state.st_mtime_ns)
        texts.append(paths[0])
        labels.append(paths[1])
        counts.update(of_file)
    return Split(texts, labels, dict(sorted(counts.items())))


def check_several(files: list[str]):
    """Raises ValueError unless the files have two labels or more, each with a text.

    Args:
        files: Paths of labelled text.
    """
    counts = split(files).counts
    if len(counts) < 2:
        raise ValueError(
            "A classifier learns to tell two labels or more apart. "
            f"Received: {files}, whose only label is {next(iter(counts))!r}."
        )
    for label, count in counts.items():
        if not count:
            raise ValueError(
                "Every label needs a text that is not blank. "
                f"Received: {files}, where {label!r} has none."
            )


def check_known(files: list[str], labels: Collection[str]):
    """Raises ValueError if the files have a label that is not in `labels`; it names the line."""
    unknown = {*split(files).counts} - {*labels}
    for file in files if unknown else ():
        for found in read_labelled(file):
            if found.label in unknown:
                known = ", ".join(sorted(labels))
                raise ValueError(
                    "The labels must be those of the training text. "
                    f"Received: {found.label!r} in {file!r}, line {found.line}; known are {known}."
                )


@functools.lru_cache
def _split(file, *_state):
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    paths = [str(folder / name) for name in ("texts.txt", "labels.txt")]
    counts = collections.Counter()
    with contextlib.ExitStack() as stack:
        texts, labels = (
            stack.enter_context(Path(path).open("w", encoding="utf-8", newline="\n"))
            for path in paths
        )
        for label, text, _ in read_labelled(file):
            texts.write(f"{text}\n")
            labels.write(f"{label}\n")
            counts[label] += bool(text)
    return paths, counts


@functools.cache
def _folder():
    """Returns a folder that is deleted when the process ends."""
    folder = tempfile.mkdtemp(prefix="kformer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
