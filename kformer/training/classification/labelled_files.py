"""Labelled text: tables of texts and their labels; TSV files may lack a header.

Training reads parallel text: line n of one file belongs to line n of another. So labelled text is
split into two such files, of texts and of labels, which are deleted when the process ends.
"""

import collections
import functools
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from kformer.files import check_file
from kformer.text.columns import write_columns
from kformer.text.tables import read_table
from kformer.text.text_files import as_list, on_one_line

COLUMNS = ("label", "text")  # Of a table.


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
    """Yields the texts of a table with their labels, plain or compressed.

    For its forms see `kformer.text.tables.read_table`: TSV files have a label, a tab and a text on
    each line; others have the columns "label" and "text". Line ends in a text become spaces, and
    white space in a label becomes single spaces.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: The file is empty, not UTF-8 or malformed, or a label is blank; the message has
            the file and the line.
    """
    for (label, text), line in read_table(file, COLUMNS, rest=True):
        label = " ".join(label.split())
        if not label:
            raise ValueError(
                f"Every text needs a label. Received: {str(file)!r}, where that of line "
                f"{line} is blank."
            )
        yield Labelled(label, on_one_line(text), line)


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
    counts = collections.Counter()

    def rows():
        for label, text, _ in read_labelled(file):
            counts[label] += bool(text.strip())
            yield text, label

    paths = write_columns(rows(), ("texts.txt", "labels.txt"))
    return paths, counts
