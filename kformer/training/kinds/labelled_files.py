"""Labelled text: tables of texts and their labels; TSV files may lack a header.

Training reads parallel text: line n of one file belongs to line n of another. So labelled text is
split into two such files, of texts and of labels, which are deleted when the process ends.
"""

import collections
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.files import check_file
from kformer.text.long_lines import LONGEST, TOO_LONG
from kformer.text.tables import read_table, write_columns
from kformer.text.text_files import as_list, on_one_line

COLUMNS = ("label", "text")  # Of a table, unless others are named.
_FEW = 20  # Labels that any text may have.
_MOST_DIFFERENT = 1000  # Texts that are compared with each other.


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
        different: Number of different texts, up to 1,000 of each file.
    """

    texts: list[str]
    labels: list[str]
    counts: dict[str, int]
    different: int


def checked_columns(columns: Sequence[str] | None) -> tuple[str, str]:
    """Returns the names of the columns of label and text; None stands for `COLUMNS`."""
    if columns is None:
        return COLUMNS
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise ValueError(
            "`columns` must be the names or the numbers of two columns, that of the label first. "
            f"Received: columns={columns!r}."
        )
    return names


def read_labelled(file: str | Path, columns: Sequence[str] | None = None) -> Iterator[Labelled]:
    """Yields the texts of a table with their labels, plain or compressed.

    The forms are as for `kformer.text.tables.read_table`: TSV files have a label, a tab and a text
    on each line; others have the columns "label" and "text". Line ends in a text become spaces, and
    white space in a label becomes single spaces.
    """
    names = checked_columns(columns)
    for (label, text), line in read_table(file, names, named=columns is not None, rest=True):
        if text is TOO_LONG:
            raise ValueError(
                f"A row of labelled text must have at most {LONGEST:,} bytes. Received: "
                f"{str(file)!r}, where that of line {line} has more."
            )
        label = " ".join(label.split())
        if not label:
            raise ValueError(
                f"Every text needs a label. Received: {str(file)!r}, where that of line "
                f"{line} is blank."
            )
        yield Labelled(label, on_one_line(text), line)


def _labelled_rows(file, columns):
    """Yields each text, its label, and how often it counts for labels."""
    for label, text, _ in read_labelled(file, columns):
        yield text, label, {label: int(bool(text.strip()))}


def split(
    files: Any, columns: Sequence[str] | None = None, rows: Callable = _labelled_rows
) -> Split:
    """Splits files of labelled text into parallel files, a `Split`.

    A file that has not changed is split once per process.
    """
    texts, labels, different = [], [], 0
    counts: collections.Counter[str] = collections.Counter()
    names = None if columns is None else checked_columns(columns)
    for file in as_list(files):
        check_file(file)
        state = Path(file).stat()
        paths, counts_in_file, in_file = _split(
            rows, file, names, state.st_ino, state.st_size, state.st_mtime_ns
        )
        texts.append(paths[0])
        labels.append(paths[1])
        counts.update(counts_in_file)
        different += in_file
    return Split(texts, labels, dict(sorted(counts.items())), different)


def check_several(files: list[str], columns: Sequence[str] | None = None):
    """Raises ValueError unless the files have two labels or more, each with a text.

    It also refuses files whose columns are swapped, or whose first line is a header that
    `read_labelled` does not recognize.
    """
    counts = split(files, columns).counts
    texts = sum(counts.values())
    if len(counts) > max(texts / 2, _FEW) and split(files, columns).different < len(counts) / 10:
        raise ValueError(
            "The label comes before the text, unless --columns (`columns`) gives the names or the "
            f"numbers of both, that of the label first. Received: {files}, which have "
            f"{len(counts):,} different labels of {texts:,} texts: the columns look swapped."
        )
    for file in files:
        _check_no_header(file, columns, counts)
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


def _check_no_header(file, columns, counts):
    """Raises ValueError if the first line seems to hold names: no other text has its label.

    A name is a single word, and each other label has several texts.
    """
    first = next(read_labelled(file, columns))
    other_counts = [count for label, count in counts.items() if label != first.label]
    is_name = len(first.text.split()) == len(first.label.split()) == 1
    if is_name and counts[first.label] == 1 and len(other_counts) > 1 and min(other_counts) > 1:
        raise ValueError(
            "The first line of a table may name its columns, if --columns (`columns`) names them, "
            f"too: that of the label first. Received: {file!r}, whose first line is "
            f"{first.label!r}, {first.text!r}; no other text has that label."
        )


def check_known(files: list[str], labels: Collection[str], columns: Sequence[str] | None = None):
    """Raises ValueError if the files have a label that is not in `labels`; it names the line."""
    unknown = {*split(files, columns).counts} - {*labels}
    for file in files if unknown else ():
        for row in read_labelled(file, columns):
            if row.label in unknown:
                known = ", ".join(sorted(labels))
                raise ValueError(
                    "The labels must be labels of the training text. "
                    f"Received: {row.label!r} in {file!r}, line {row.line}; known are {known}."
                )


@functools.lru_cache
def _split(rows, file, columns, *_state):
    counts, different = collections.Counter(), set()

    def counted():
        for text, label, added in rows(file, columns):
            counts.update(added)
            if len(different) < _MOST_DIFFERENT:
                different.add(text)
            yield text, label

    paths = write_columns(counted(), ("texts.txt", "labels.txt"))
    return paths, counts, len(different)
