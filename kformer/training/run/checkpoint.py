"""Checkpoints: the whole state of a training run in one file, and the newest whole one.

A file is an uncompressed `.npz`: arrays by name, and what is no array as JSON in one of them. Its
name says how far the run was: `epoch-0002-batch-000150.npz` holds two whole epochs and 150 batches.
"""

import io
import json
import os
import re
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kformer.files import replacing

FORMAT = 1
KEPT = 2  # So that a damaged disk block costs minutes and not the run.
DAMAGED = "damaged-"  # Put before the name of a file that is moved aside.
_JSON = "state.json"
_NAME = re.compile(r"epoch-(\d+)-batch-(\d+)\.npz")


class Checkpoint(NamedTuple):
    """The state of a run between two batches."""

    epoch: int  # Whole epochs done.
    batch: int  # Batches done in the next one.
    arrays: dict[str, np.ndarray]
    state: Any  # What is no array: anything that JSON can say.


class NoWholeCheckpoint(ValueError):
    """A folder has checkpoints, and all of them are damaged."""


class _NewerFormat(ValueError):
    pass


def write_checkpoint(folder, checkpoint: Checkpoint):
    """Writes `checkpoint` into `folder`, whole or not at all, and deletes the old ones.

    Raises:
        OSError: It could not be written; the earlier ones are as they were.
    """
    folder = Path(folder)
    path = folder / f"epoch-{checkpoint.epoch:04}-batch-{checkpoint.batch:06}.npz"
    said = {
        "format": FORMAT,
        "epoch": checkpoint.epoch,
        "batch": checkpoint.batch,
        "state": checkpoint.state,
    }
    arrays = {**checkpoint.arrays, _JSON: np.frombuffer(json.dumps(said).encode(), np.uint8)}
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())  # Before the new name, or a power cut leaves that alone.
        _sync(folder)
    except OSError as error:
        kept = checkpoint_files(folder)
        raise OSError(
            f"A checkpoint could not be written ({error.strerror}); "
            f"{f'{kept[-1].name} is kept' if kept else 'there is none before it'}. "
            f"Received: {str(folder)!r}.",
        ) from error
    earlier = [one for one in checkpoint_files(folder) if _position(one) < _position(path)]
    for old in earlier[: 1 - KEPT]:  # Never the new one, whatever else is in the folder.
        old.unlink()


def newest_checkpoint(folder) -> Checkpoint | None:
    """Reads the newest checkpoint in `folder` that is whole; None, if there are no checkpoints.

    A damaged one is renamed to "damaged-...", so that it takes no other's place, and a line on
    stderr says so. What a process left that was killed while it wrote is deleted.

    Raises:
        NoWholeCheckpoint: All are damaged.
        ValueError: The newest one was written by a newer kformer.
    """
    folder = Path(folder)
    for unfinished in folder.glob(".epoch-*.npz"):
        unfinished.unlink()
    found, aside = None, []
    for path in reversed(checkpoint_files(folder)):
        try:
            found = _read(path)
            break
        except (_NewerFormat, MemoryError, PermissionError):
            raise  # The file may be whole.
        except Exception as error:  # zipfile, NumPy and JSON each have their own.
            name = path.rename(path.with_name(f"{DAMAGED}{path.name}")).name
            aside.append(f"{path} is damaged ({type(error).__name__}: {error}) and is now {name}")
    for line in aside:
        used = f"training goes on from {path.name}" if found else "no whole checkpoint is left"
        print(f"kformer: {line}; {used}.", file=sys.stderr)
    if not found and damaged_files(folder):
        raise NoWholeCheckpoint(
            "Training goes on from a whole checkpoint, and none is left; begin anew in another "
            f"folder. Received: {str(folder)!r}."
        )
    return found


def _read(path):
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)  # All of it, so that its checksum is compared.
            arrays[name.removesuffix(".npy")] = np.load(io.BytesIO(content))
    said = json.loads(arrays.pop(_JSON).tobytes())
    if said["format"] > FORMAT:
        raise _NewerFormat(
            "The newest checkpoint was written by a newer kformer: update kformer. Received: "
            f"{str(path)!r}, of format {said['format']}; this kformer reads {FORMAT}."
        )
    return Checkpoint(said["epoch"], said["batch"], arrays, said["state"])


def checkpoint_files(folder) -> list[Path]:
    """Returns the paths of the checkpoints in `folder`, the oldest first; damaged ones, too."""
    paths = [path for path in Path(folder).glob("epoch-*.npz") if _NAME.fullmatch(path.name)]
    return sorted(paths, key=_position)


def epochs_done(path) -> int:
    """Returns the number of whole epochs done by the checkpoint at `path`."""
    return _position(path)[0]


def keep_newest(folder):
    """Deletes all checkpoints in `folder` but the newest, and what was moved aside."""
    for path in [*checkpoint_files(folder)[:-1], *damaged_files(folder)]:
        path.unlink()


def damaged_files(folder) -> list[Path]:
    """Returns the paths of what `newest_checkpoint` has moved aside in `folder`."""
    return sorted(Path(folder).glob(f"{DAMAGED}epoch-*.npz"))


def _position(path):
    return tuple(map(int, _NAME.fullmatch(path.name).groups()))


def _sync(folder):
    """Makes the names in `folder` last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
