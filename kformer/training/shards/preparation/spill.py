"""Pairs on disk, in files by the first bits of their hash.

Equal pairs have one hash, so they meet in one file, and each file is small enough for memory. The
hashes are random, so the files in their order, each sorted by its hashes, are all pairs shuffled.
The result depends neither on the order of the text nor on how it was cut into batches.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kformer.training.shards.rows import Rows, joined

_BITS = 8  # Of a hash, which choose its file.


class Spill:
    """Takes pairs in batches, and returns the different ones in parts.

    Args:
        folder: An empty folder for the files.
        dtype: NumPy's type of the ids.
    """

    def __init__(self, folder: Path, dtype):
        self._dtype = np.dtype(dtype)
        self._paths = [folder / f"{number:03}" for number in range(2**_BITS)]

    def add(self, rows: Rows, hashes: np.ndarray):
        """Writes pairs that are sorted by their hashes."""
        place = (hashes >> np.uint64(64 - _BITS)).astype(np.int64)
        limits = np.searchsorted(place, np.arange(2**_BITS + 1))
        ends = np.concatenate([[0], np.cumsum(rows.lengths.sum(axis=1, dtype=np.int64))])
        for number in np.unique(place).tolist():
            first, last = limits[number], limits[number + 1]
            ids = rows.ids[ends[first] : ends[last]]
            sizes = np.array([last - first, len(ids)])
            arrays = sizes, hashes[first:last], rows.lengths[first:last], ids
            with self._paths[number].open("ab") as file:
                file.write(b"".join(array.tobytes() for array in arrays))

    def parts(self, size: int, dropped: np.ndarray) -> Iterator[Rows]:
        """Yields different pairs in parts of at least `size`; deletes them behind itself.

        The pairs of a part, and the parts, are in the order of the hashes. Those with the hashes
        `dropped`, in ascending order, are left out.
        """
        found, pairs = [], 0
        for path in self._paths:
            if path.exists():
                found.append(self._different(path, dropped))
                pairs += len(found[-1].lengths)
            if pairs >= size:
                yield joined(found)
                found, pairs = [], 0
        if pairs:
            yield joined(found)

    def _different(self, path, dropped):
        """Returns the pairs in a file, each once."""
        rows, hashes = [], []
        with path.open("rb") as file:
            while len(sizes := np.fromfile(file, np.int64, 2)):
                hashes.append(np.fromfile(file, np.uint64, sizes[0]))
                lengths = np.fromfile(file, np.int32, 2 * sizes[0]).reshape(-1, 2)
                rows.append(Rows(lengths, np.fromfile(file, self._dtype, sizes[1])))
        path.unlink()
        hashes, first = np.unique(np.concatenate(hashes), return_index=True)
        return joined(rows).take(first[~np.isin(hashes, dropped)])
