"""Copies the files of a run from process 0 to the others, before the run begins.

A list of relative names and sizes goes first, then the contents, in chunks. Only regular files are
copied; a link within the folder is copied as the file that it leads to, and a linked folder below
the named ones is left out.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from kformer.training.parallel.team import Team

_CHUNK = 2**23  # Bytes.


def send_files(team: Team, folder: Path, names: Iterable[str]):
    """Sends files to the other processes, which call `receive_files`.

    Args:
        team: The processes; this one is process 0.
        folder: Where the files are.
        names: Names of files and of folders in it; missing ones are left out.
    """
    files = [(path, path.stat().st_size) for name in names for path in _regular(folder / name)]
    listing = [[path.relative_to(folder).as_posix(), size] for path, size in files]
    team.exchange(listing, _may_be_listed)
    for path, size in files:
        with path.open("rb") as file:
            for start in range(0, size, _CHUNK):
                team.exchange_bytes(file.read(min(_CHUNK, size - start)))


def receive_files(team: Team, folder: Path):
    """Writes the files that process 0 sends into the empty `folder`.

    Raises:
        OSError: There is no space for them.
        ValueError: A name leads out of the folder, or a content is not as long as announced.
    """
    listing = team.exchange(None, _may_be_listed)[0] or []
    total, free = sum(size for _, size in listing), shutil.disk_usage(folder).free
    if total > free:
        raise OSError(
            f"The files of the run need space in {str(folder.parent)!r}, the folder of temporary "
            f"files. Received: {total:,} bytes, of {free:,} that are free."
        )
    for name, size in listing:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:  # A name that comes twice is an error.
            for start in range(0, size, _CHUNK):
                chunk = team.exchange_bytes(b"")[0]
                if len(chunk) != min(_CHUNK, size - start):
                    raise ValueError(
                        "A file of the run must not change while it is copied. "
                        f"Received: {name!r}, of {size:,} bytes at first."
                    )
                file.write(chunk)


def _regular(path):
    if path.is_file():
        yield path
    for parent, _, names in os.walk(path):
        yield from (Path(parent, name) for name in sorted(names) if Path(parent, name).is_file())


def _may_be_listed(listing):
    """Whether a value lists files in a folder, or is None, which other processes than 0 send."""
    return listing is None or (isinstance(listing, list) and all(map(_may_be_file, listing)))


def _may_be_file(entry):
    match entry:
        case [str(name), int(size)]:
            return size >= 0 and not {"", ".", ".."} & {*name.split("/")}
    return False
