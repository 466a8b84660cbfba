"""Columns of text as temporary files, which are deleted when the process ends.

Training reads parallel text, line n of one plain file beside line n of another, in graph; so text
from elsewhere is written into such files first.
"""

import atexit
import contextlib
import functools
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from kformer.files import check_file
from kformer.text.long_lines import lines_of
from kformer.text.text_files import COMPRESSED, on_one_line, opened


def write_columns(rows: Iterable[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Writes rows of text into a file for each column; line ends in a text become spaces.

    Args:
        rows: Each has a string for each of `names`.
        names: Names of the files.

    Returns:
        The paths, in the order of `names`.
    """
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

    Raises:
        See `kformer.text.text_files.opened`.
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
