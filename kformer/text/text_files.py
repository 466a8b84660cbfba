"""Text files: one sentence a line, UTF-8, `.gz` or plain."""

import gzip
import os
import reprlib
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from kformer.files import check_file


def as_list(files: str | Path | Iterable[str | Path]) -> list[str]:
    """Returns one or several paths as a list of strings.

    Raises:
        TypeError: An element is not a path, but a pair of sentences, for instance.
    """
    alone = isinstance(files, str | os.PathLike) or not isinstance(files, Iterable)
    files = [files] if alone else list(files)
    for file in files:
        if not isinstance(file, str | os.PathLike):
            raise TypeError(
                "`files` must be a path or a list of paths, not the sentences or pairs themselves. "
                f"Received: {reprlib.repr(file)}, of type {type(file).__name__}."
            )
    return [os.fspath(file) for file in files]


def decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """Yields lines of bytes as text, without line ends; messages contain the `name` of the file.

    Raises:
        ValueError: A line is not UTF-8; the message has its number.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Text must be UTF-8. Received: {name}, where line {number} is not "
                f"({error.reason})."
            ) from error


def read_lines(file: str | Path) -> Iterator[str]:
    """Yields the lines of a UTF-8 text file, `.gz` or plain, without line ends.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: The file is a pipe or a device, empty, not UTF-8, or not gzip.
    """
    path = Path(file)
    check_file(path)
    empty = True
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for line in decoded(lines, repr(str(file))):
                empty = False
                yield line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"A file named .gz must be gzip. Received: {str(file)!r} ({error})."
        ) from error
    if empty:
        raise ValueError(f"Text files must not be empty. Received: {str(file)!r}.")
