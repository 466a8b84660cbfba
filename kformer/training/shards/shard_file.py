"""One shard: the ids of many pairs in one NumPy file, and a small table of where they are.

The pairs are sorted by the lengths of source and target. A group is all pairs of the same two
lengths: a block of whole rows. So a table of the sizes of the groups locates every pair, and no
pair needs an index entry of its own.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.training.shards.rows import Rows

_PIECE = 100_000  # Pairs that are written at once: this bounds memory.
KINDS = ("ids", "groups")  # The files of a shard.
TEACHERS = "teachers"  # One more, of text for a student.
UNITS = 2**16 - 1  # Of a probability, which is stored as an integer.


class Shard(NamedTuple):
    """An open shard.

    Attributes:
        ids: uint16 or int32 array, mapped into memory: of each pair the source, then the target,
            without start and end ids.
        groups: int64 array (G, 3): source length, target length and number of pairs of each group,
            in the order in which they are in `ids`.
        teachers: uint16 or int32 array (P, 2 K), mapped into memory: of each id of each target, end
            ids included, the K ids that teachers find most likely, and their probabilities in units
            of 1 / `UNITS`; or None.
    """

    ids: np.ndarray
    groups: np.ndarray
    teachers: np.ndarray | None = None

    def starts(self) -> np.ndarray:
        """Returns where each group begins in `ids`, int64 (G,)."""
        sizes = self.groups[:, :2].sum(axis=1) * self.groups[:, 2]
        return np.cumsum(sizes) - sizes

    def starts_of_teachers(self) -> np.ndarray:
        """Returns where each group begins in `teachers`, int64 (G,)."""
        sizes = (self.groups[:, 1] + 1) * self.groups[:, 2]
        return np.cumsum(sizes) - sizes


def write_shard(folder: Path, name: str, rows: Rows) -> dict[str, str]:
    """Writes a shard; pairs of the same lengths keep their order.

    Returns:
        The SHA-256 of each of its files, by `KINDS`.
    """
    order = np.lexsort([rows.lengths[:, 1], rows.lengths[:, 0]])
    lengths, numbers = np.unique(rows.lengths[order], axis=0, return_counts=True)
    paths = paths_of(folder, name)
    np.save(paths["groups"], np.column_stack([lengths, numbers]).astype(np.int64))
    header = {"descr": rows.ids.dtype.str, "fortran_order": False, "shape": rows.ids.shape}
    with paths["ids"].open("wb") as file:  # A memory map would end the process on a full disk.
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, len(order), _PIECE):
            file.write(rows.take(order[first : first + _PIECE]).ids.tobytes())
    return {kind: sha256(path) for kind, path in paths.items()}


def open_shard(folder: Path, name: str) -> Shard:
    """Opens a shard without reading its ids.

    Raises:
        ValueError: Its files do not fit together, or one holds something else.
    """
    paths = paths_of(folder, name)
    teachers = teachers_of(folder, name)
    shard = Shard(
        _mapped(paths["ids"], ndim=1),
        np.array(_mapped(paths["groups"], ndim=2)),
        _mapped(teachers, ndim=2) if teachers.exists() else None,
    )
    if not _fits(shard):
        raise ValueError(
            "The files of a shard must be those that `kformer prepare` wrote together. "
            f"Received: {str(paths['groups'])!r}, with other numbers of ids than its shard."
        )
    return shard


def _fits(shard):
    """Returns whether the groups have as many ids as the shard; floats do not overflow."""
    groups = shard.groups.astype(np.float64)
    if groups.shape[1:] != (3,) or not (groups >= 0).all():
        return False
    source, target, pairs = groups.T
    if ((source + target) * pairs).sum() != len(shard.ids):
        return False
    return shard.teachers is None or ((target + 1) * pairs).sum() == len(shard.teachers)


def _mapped(path, ndim):
    try:
        array = np.asarray(np.load(path, mmap_mode="r"))  # A plain array is sliced faster.
        if array.ndim != ndim or array.dtype.kind not in "iu":
            raise ValueError
        return array
    except OSError:
        raise
    except Exception as error:  # NumPy's parsers of a header raise many kinds.
        raise ValueError(
            f"A file of a shard must hold integers, in {ndim} axes. Received: {str(path)!r}."
        ) from error


def paths_of(folder: Path, name: str) -> dict[str, Path]:
    """Returns the path of each file that every shard has, by `KINDS`."""
    return {kind: folder / f"{name}.{kind}.npy" for kind in KINDS}


def teachers_of(folder: Path, name: str) -> Path:
    """Returns the path of what teachers say of a shard, a file that only some have."""
    return folder / f"{name}.{TEACHERS}.npy"


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
