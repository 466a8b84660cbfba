"""Folders in a ZIP archive: packages of Argos Translate, and models as OPUS-MT publishes them."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kformer.archives import Archive

SUFFIXES = (".zip", ".argosmodel")
_RULE = "An archive must be a ZIP archive, whole, of a folder."
_BESIDE = "__MACOSX"  # A folder that macOS adds to an archive.
_RENAMED = (ValueError, FileNotFoundError, NotADirectoryError, IsADirectoryError)


@contextlib.contextmanager
def unpacked(path: str | Path) -> Iterator[Path]:
    """Yields the path of a folder; of an archive, a copy of its folder, which is removed at exit.

    An archive is a file whose name ends in .zip or .argosmodel. If all its members lie in one
    folder, this is the folder. Errors that are raised inside name the archive, not the copy.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES or path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="kformer-") as temporary:
        folder = Path(temporary) / path.name
        with Archive(path, _RULE) as archive:
            archive.unpack(folder)
        entries = [entry for entry in folder.iterdir() if entry.name != _BESIDE]
        try:
            yield entries[0] if len(entries) == 1 and entries[0].is_dir() else folder
        except _RENAMED as error:
            if type(error) in _RENAMED and len(error.args) == 1:
                error.args = (str(error).replace(temporary, str(path.parent)),)
            raise
