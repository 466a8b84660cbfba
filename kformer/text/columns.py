"""Columns of text as temporary files, which are deleted when the process ends.

Training reads parallel text, line n of one file beside line n of another, in graph; so text from
elsewhere is written into such files first.
"""

import atexit
import contextlib
import functools
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_columns(rows: Iterable[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Writes rows of text without line feeds into a file for each column.

    Args:
        rows: Each has a string for each of `names`.
        names: Names of the files.

    Returns:
        The paths, in the order of `names`.
    """
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    paths = [str(folder / name) for name in names]
    with contextlib.ExitStack() as stack:
        files = [
            stack.enter_context(Path(path).open("w", encoding="utf-8", newline="\n"))
            for path in paths
        ]
        for row in rows:
            for file, value in zip(files, row, strict=True):
                file.write(f"{value}\n")
    return paths


@functools.cache
def _folder():
    folder = tempfile.mkdtemp(prefix="kformer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
