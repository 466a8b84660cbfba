"""Checkpoints: the whole state of a training run in one file, and the newest whole one.

A file is an uncompressed `.npz`: arrays by name, and what is no array as JSON in one of them. Its
name says how far the run was: `epoch-0002-batch-000150.npz` holds two whole epochs and 150 batches.
"""

import io
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kformer.files import replacing

FORMAT = 1
KEPT = 2  # Whole ones, so that a damaged disk block costs minutes and not the run.
_JSON = "state.json"


class Checkpoint(NamedTuple):
    """The state of a run between two batches."""

    epoch: int  # Whole epochs done.
    batch: int  # Batches done in the next one.
    arrays: dict[str, np.ndarray]
    state: Any  # What is no array: anything that JSON can say.


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
        kept = _by_age(folder)
        raise OSError(
            f"A checkpoint could not be written ({error.strerror}); "
            f"{f'{kept[-1].name} is kept' if kept else 'there is none before it'}. "
            f"Received: {str(folder)!r}.",
        ) from error
    for old in _by_age(folder)[:-KEPT]:
        old.unlink()


def newest_checkpoint(folder) -> Checkpoint | None:
    """Reads the newest checkpoint in `folder` that is whole; None, if there is none.

    One that is not, is passed over with a line on stderr. What a process left that was killed
    while it wrote is deleted.
    """
    folder = Path(folder)
    for unfinished in folder.glob(".epoch-*.npz"):
        unfinished.unlink()
    for path in reversed(_by_age(folder)):
        try:
            return _read(path)
        except Exception as error:  # zipfile, NumPy and JSON each have their own.
            print(
                f"kformer: {path} is not a whole checkpoint ({type(error).__name__}: {error}); "
                "the one before it is used.",
                file=sys.stderr,
            )
    return None


def _read(path):
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)  # All of it, so that its checksum is compared.
            arrays[name.removesuffix(".npy")] = np.load(io.BytesIO(content))
    said = json.loads(arrays.pop(_JSON).tobytes())
    if said["format"] > FORMAT:
        raise ValueError(f"it has format {said['format']}, this kformer reads {FORMAT}")
    return Checkpoint(said["epoch"], said["batch"], arrays, said["state"])


def _by_age(folder):
    """The checkpoints in `folder`, the oldest first."""
    return sorted(folder.glob("epoch-*-batch-*.npz"), key=_position)


def _position(path):
    _, epoch, _, batch = path.stem.split("-")
    return int(epoch), int(batch)


def _sync(folder):
    """Makes the names in `folder` last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
