"""One shard: the ids of many pairs in one NumPy file, and a small table of their places.

The pairs are sorted by the lengths of source and target. A group is all pairs of the same two
lengths: a block of whole rows. So a table of the sizes of the groups locates every pair, and no
pair needs an index entry of its own.

In memory, `Rows` has the ids of many pairs in two arrays, without a Python object for each.

Axes: N pairs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.files import sha256

_STEP = np.uint64(0x9E3779B97F4A7C15)  # Odd, from the golden ratio: the increment of SplitMix64.


class Rows(NamedTuple):
    """Pairs as ids, without start and end ids.

    Attributes:
        lengths: Numbers of ids of source and target, int32 (N, 2).
        ids: The ids of all pairs, one pair behind the other, each source before its target.
    """

    lengths: np.ndarray
    ids: np.ndarray

    def take(self, indices: np.ndarray | slice) -> "Rows":
        """Returns the pairs at `indices`."""
        sizes = self.lengths.sum(axis=1, dtype=np.int64)
        starts = (np.cumsum(sizes) - sizes)[indices]
        return Rows(self.lengths[indices], gather_ranges(self.ids, starts, sizes[indices]))

    def hashes(self) -> np.ndarray:
        """Returns a hash of each pair, uint64 (N,): the same for the same ids, on any machine.

        Of n different pairs, n^2 / 2^65 share a hash by chance: 0.00001 of 20 million.
        """
        sizes = self.lengths.sum(axis=1, dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        place = np.arange(len(self.ids), dtype=np.uint64) - np.repeat(starts, sizes).astype(
            np.uint64
        )
        mixed = mix(self.ids.astype(np.uint64) + (place << np.uint64(32)))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed)])  # Modulo 2^64.
        total = sums[starts + sizes] - sums[starts]
        return mix(total + self.lengths[:, 0].astype(np.uint64) * _STEP)


def rows_from_sides(sides: Sequence[tuple[np.ndarray, np.ndarray]]) -> Rows:
    """Returns the pairs of two sides, each given as lengths (N,) and flat ids."""
    lengths = np.stack([lengths for lengths, _ in sides], axis=1).astype(np.int32)
    flat = np.concatenate([ids for _, ids in sides])
    behind = [0, len(sides[0][1])]
    starts = np.cumsum(lengths, axis=0, dtype=np.int64) - lengths + behind
    return Rows(lengths, gather_ranges(flat, starts.ravel(), lengths.ravel()))


def joined(parts: Sequence[Rows]) -> Rows:
    """Returns the pairs of several `Rows` as one."""
    return Rows(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def gather_ranges(flat: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Returns `flat[start : start + size]` of each range, one behind the other."""
    before = np.cumsum(sizes, dtype=np.int64) - sizes
    places = np.repeat(starts - before, sizes)
    places += np.arange(len(places))
    return flat[places]


def mix(numbers: np.ndarray) -> np.ndarray:
    """Returns random-looking uint64 numbers, different ones for different numbers: SplitMix64.

    [Steele et al., 2014](https://doi.org/10.1145/2660193.2660195).
    """
    numbers = numbers + _STEP
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


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
    """Writes a shard; pairs of the same lengths keep their order."""
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
    """Opens a shard without reading its ids."""
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
    """Returns the path of the teachers' probabilities for a shard, a file that only some have."""
    return folder / f"{name}.{TEACHERS}.npy"
