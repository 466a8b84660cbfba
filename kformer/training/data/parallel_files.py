"""Parallel text files: line n of the target file translates line n of the source file."""

import functools
from collections.abc import Iterable
from pathlib import Path

from kformer.files import check_file
from kformer.text.long_lines import is_too_long
from kformer.text.text_files import as_list, read_lines


def count_lines(file: str | Path) -> int:
    """Counts the lines of a text file; raises the errors of `read_lines`.

    A file that has not changed is read once per process.
    """
    return _counts(file)[0]


def count_long_lines(file: str | Path) -> int:
    """Counts the lines of more than `kformer.text.long_lines.LONGEST` bytes, as `count_lines`."""
    return _counts(file)[1]


def _counts(file):
    check_file(file)
    state = Path(file).stat()
    return _count(file, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache
def _count(file, *_state):
    lines = too_long = 0
    for line in read_lines(file):
        lines += 1
        too_long += is_too_long(line)
    return lines, too_long


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
