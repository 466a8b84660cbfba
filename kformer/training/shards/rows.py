"""Sentence pairs as ids: many pairs in two arrays, without a Python object for each.

Axes: N pairs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)  # Odd, from the golden ratio: the increment of SplitMix64.


class Rows(NamedTuple):
    """Pairs as ids, without start and end ids.

    Attributes:
        lengths: Numbers of ids of source and target, int32 (N, 2).
        ids: Those of all pairs, one pair behind the other, each source before its target.
    """

    lengths: np.ndarray
    ids: np.ndarray

    def take(self, indices) -> "Rows":
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


def of_sides(sides: Sequence[tuple[np.ndarray, np.ndarray]]) -> Rows:
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
