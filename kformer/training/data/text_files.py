"""Parallel text files: line n of the target file translates line n of the source file."""

import functools
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
                "Parallel text is read from files: give the paths of the source files and those "
                "of the target files, not the sentences or pairs themselves. Received: "
                f"{reprlib.repr(file)}, of type {type(file).__name__}."
            )
    return [os.fspath(file) for file in files]


def decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """Yields lines of bytes as text, without line ends; `name` is that of the file, for errors.

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
        ValueError: It is a pipe or a device, empty, not UTF-8, or not gzip.
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


def count_lines(file: str | Path) -> int:
    """Counts the lines of a text file; raises the errors of `read_lines`.

    A file that has not changed is read once per process.
    """
    check_file(file)
    state = Path(file).stat()
    return _count_lines(file, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache
def _count_lines(file, *_state):
    return sum(1 for _ in read_lines(file))


def check_parallel(
    source_files: str | Path | Iterable[str | Path],
    target_files: str | Path | Iterable[str | Path],
) -> int:
    """Checks that files have as many lines as their translations; returns the number of pairs.

    Args:
        source_files, target_files: A path or a list of paths each; the n-th target file
            translates the n-th source file.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: The numbers of lines differ, or a file is empty or not UTF-8.
    """
    return sum(count_pairs(source_files, target_files))


def count_pairs(source_files, target_files) -> list[int]:
    """Counts the pairs of each two files; see `check_parallel` for arguments and errors."""
    source_files, target_files = as_list(source_files), as_list(target_files)
    if len(source_files) != len(target_files) or not source_files:
        raise ValueError(
            "Every source file needs its target file. "
            f"Received: {len(source_files)} source and {len(target_files)} target files."
        )
    pairs = []
    for source, target in zip(source_files, target_files, strict=True):
        lines = count_lines(source), count_lines(target)
        if lines[0] != lines[1]:
            raise ValueError(
                "Parallel files must have as many lines. "
                f"Received: {lines[0]} in {source!r}, {lines[1]} in {target!r}."
            )
        pairs.append(lines[0])
    return pairs
