"""Near-duplicates by MinHash ([Broder, 1997](https://doi.org/10.1109/SEQUEN.1997.666900)).

Two pairs are alike as far as they share couples of neighbouring ids: their similarity is the number
of couples in both, divided by the number in either. The smallest hashes of the couples of two pairs
are equal with this probability. A band is a number that depends on several such hashes, and pairs
with an equal band are near-duplicates; so a pair has several chances to be found:

    similarity  0.5   0.6   0.7   0.8   0.9
    found       3 %  13 %  38 %  77 %  99 %

Of pairs with an equal band, the pair with the smallest hash stays. So the order of the text does
not matter, and every band can be looked at alone.

Axes: N pairs, B bands.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from kformer.training.shards.shard_file import Rows, mix

BANDS, HASHES = 8, 8  # Hashes of each band.
_BITS = 8  # Of a band, which choose its file.
_RECORD = np.dtype([("band", np.uint64), ("pair", np.uint64)])


def bands(rows: Rows) -> np.ndarray:
    """Returns the bands of each pair, uint64 (N, B); each pair must have at least two ids."""
    sizes = rows.lengths.sum(axis=1, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    ids = rows.ids.astype(np.uint64)
    couples = mix(ids | np.append(ids[1:], 0).astype(np.uint64) << np.uint64(32))
    # The couple across the end of a pair would differ by its neighbour: the first is used twice.
    couples[starts + sizes - 1] = couples[starts]
    odd = mix(np.arange(BANDS * HASHES, dtype=np.uint64)) | np.uint64(1)
    values = np.empty((len(sizes), BANDS), np.uint64)
    for band in range(BANDS):
        combined = np.full(len(sizes), band, np.uint64)
        for factor in odd[band * HASHES : (band + 1) * HASHES]:
            combined = mix(combined ^ np.minimum.reduceat(couples * factor, starts))
        values[:, band] = combined
    return values


class NearDuplicates:
    """Collects the bands of all pairs on disk, and finds the pairs to drop.

    Args:
        folder: An empty folder for the files.
    """

    def __init__(self, folder: Path):
        self._paths = [folder / f"{number:03}" for number in range(2**_BITS)]

    def add(self, values: np.ndarray, hashes: np.ndarray):
        """Writes the bands (N, B) and the hashes (N,) of pairs."""
        for number, content in packed(values, hashes):
            with self._paths[number].open("ab") as file:
                file.write(content)

    def dropped(self) -> np.ndarray:
        """Returns the hashes of the pairs to drop, ascending; deletes the files."""
        parts = [np.empty(0, np.uint64)]
        for path in filter(Path.exists, self._paths):
            parts.append(not_smallest([path.read_bytes()]))
            path.unlink()
        return np.unique(np.concatenate(parts))


def packed(values: np.ndarray, hashes: np.ndarray) -> Iterator[tuple[int, bytes]]:
    """Yields the number of each file that gets some of the bands, and its records as bytes.

    Args:
        values: uint64 (N, B), the bands.
        hashes: uint64 (N,), the hashes of the pairs.
    """
    records = np.empty(values.size, _RECORD)
    records["band"], records["pair"] = values.ravel(), np.repeat(hashes, BANDS)
    place = (records["band"] >> np.uint64(64 - _BITS)).astype(np.uint8)
    records = records[np.argsort(place, kind="stable")]
    ends = np.cumsum(np.bincount(place, minlength=2**_BITS))
    for number, part in enumerate(np.split(records, ends[:-1])):
        if len(part):
            yield number, part.tobytes()


def not_smallest(contents: Iterable[bytes]) -> np.ndarray:
    """Returns the hashes of pairs that share a band with a pair of a smaller hash, ascending.

    Args:
        contents: The bytes of a file from `packed`, in pieces of any size.
    """
    records = np.concatenate([np.frombuffer(content, _RECORD) for content in contents])
    records = records[np.lexsort([records["pair"], records["band"]])]
    _, first, numbers = np.unique(records["band"], return_index=True, return_counts=True)
    smallest = np.repeat(records["pair"][first], numbers)
    return np.unique(records["pair"][records["pair"] != smallest])
