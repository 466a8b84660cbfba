"""Checkpoints: the complete state of a training run in one file.

A file is an uncompressed `.npz` of named arrays; one of them holds all other state as JSON. The
name `epoch-0002-batch-000150.npz` means: two complete epochs and 150 batches of the third.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np

from kformer.archives import Archive
from kformer.files import replacing
from kformer.json_files import parse_json

FORMAT = 1
KEPT = 2  # If one is damaged, the other saves the run.
DAMAGED = "damaged-"  # Prefix of damaged files, which are renamed.
_JSON = "state.json"
_NAME = re.compile(r"epoch-(\d+)-batch-(\d+)\.npz")


class Checkpoint(NamedTuple):
    """The state of a run between two batches."""

    epoch: int  # Complete epochs.
    batch: int  # Batches of the next epoch that are done.
    arrays: dict[str, np.ndarray]
    state: Any  # All other state, which must be JSON-serializable.


class _StateInFile(TypedDict):
    format: int
    epoch: int
    batch: int
    state: Any


class NoWholeCheckpoint(ValueError):
    """All checkpoints in a folder are damaged."""


class _NewerFormat(ValueError):
    pass


def write_checkpoint(folder: str | Path, checkpoint: Checkpoint):
    """Writes `checkpoint` into `folder`, completely or not at all, and deletes the old ones."""
    folder = Path(folder)
    path = folder / f"epoch-{checkpoint.epoch:04}-batch-{checkpoint.batch:06}.npz"
    content = {
        "format": FORMAT,
        "epoch": checkpoint.epoch,
        "batch": checkpoint.batch,
        "state": checkpoint.state,
    }
    arrays: dict[str, Any] = dict(checkpoint.arrays)
    arrays[_JSON] = np.frombuffer(json.dumps(content).encode(), np.uint8)
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())  # So that a power cut leaves no empty file.
        _sync(folder)
    except OSError as error:
        kept = checkpoint_files(folder)
        raise OSError(
            f"A checkpoint could not be written ({error.strerror}); "
            f"{f'{kept[-1].name} is kept' if kept else 'there is none before it'}. "
            f"Received: {str(folder)!r}.",
        ) from error
    earlier = [file for file in checkpoint_files(folder) if _position(file) < _position(path)]
    for old in earlier[: 1 - KEPT]:  # Never the new one, even if the folder has later ones.
        old.unlink()


def newest_checkpoint(folder: str | Path) -> Checkpoint | None:
    """Reads the newest complete checkpoint in `folder`; returns None if there are no checkpoints.

    A damaged checkpoint is renamed to "damaged-...", so that it does not count among the kept ones,
    and a line on stderr reports it. Temporary files of killed processes are deleted.
    """
    folder = Path(folder)
    for unfinished in folder.glob(".epoch-*.npz"):
        unfinished.unlink()
    checkpoint, aside = None, []
    for path in reversed(checkpoint_files(folder)):
        try:
            checkpoint = _read(path)
            break
        except (_NewerFormat, MemoryError, PermissionError):
            raise  # The file may be whole.
        except (ValueError, KeyError, OSError) as error:
            name = path.rename(path.with_name(f"{DAMAGED}{path.name}")).name
            aside.append(f"{path} is damaged ({type(error).__name__}: {error}) and is now {name}")
    for line in aside:
        used = (
            f"training resumes from {path.name}" if checkpoint else "no complete checkpoint is left"
        )
        print(f"kformer: {line}; {used}.", file=sys.stderr)
    if not checkpoint and damaged_files(folder):
        raise NoWholeCheckpoint(
            "Training resumes from a complete checkpoint, and none is left; start again in another "
            f"folder. Received: {str(folder)!r}."
        )
    return checkpoint


def _read(path):
    with Archive(path, "A checkpoint must be whole.") as archive:
        names = archive.array_names()
        arrays = {name: archive.array(name) for name in names}  # It verifies their checksums.
    content = parse_json(arrays.pop(_JSON).tobytes(), _StateInFile)
    if content["format"] > FORMAT:
        raise _NewerFormat(
            "The newest checkpoint was written by a newer kformer: update kformer. Received: "
            f"{str(path)!r}, of format {content['format']}; this kformer reads {FORMAT}."
        )
    return Checkpoint(content["epoch"], content["batch"], arrays, content["state"])


def checkpoint_files(folder: str | Path) -> list[Path]:
    """Returns the paths of the checkpoints in `folder`, oldest first, unread."""
    paths = [path for path in Path(folder).glob("epoch-*.npz") if _NAME.fullmatch(path.name)]
    return sorted(paths, key=_position)


def epochs_done(path: Path) -> int:
    """Returns the number of complete epochs of the checkpoint at `path`."""
    return _position(path)[0]


def keep_newest(folder: str | Path):
    """Deletes all checkpoints in `folder` but the newest, and the damaged ones."""
    for path in [*checkpoint_files(folder)[:-1], *damaged_files(folder)]:
        path.unlink()


def damaged_files(folder: str | Path) -> list[Path]:
    """Returns the paths of the damaged files that `newest_checkpoint` renamed in `folder`."""
    return sorted(Path(folder).glob(f"{DAMAGED}epoch-*.npz"))


def _position(path):
    return tuple(map(int, _NAME.fullmatch(path.name).groups()))


def _sync(folder):
    """Makes the names of the files in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
