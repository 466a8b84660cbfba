"""The pairs of a batch, computed from the numbers of batch and pass, so that any can be next.

All pairs are in one sequence, in the order in which `Batching` sorts pairs: by bucket and length,
the longest first. Pairs that it sorts alike are a class, and each pass permutes every class. The
sequence is cut into batches, and each pass permutes the batches, too. Since the lengths in the
sequence do not change, all passes have the same number of batches, of the same shapes.

A corpus of weight 2.3 has its pairs twice in each class, and in each pass other 0.3 of them.

A permutation moves place i of n to another place of n, and is computed, not stored: a Feistel
network permutes the numbers of k bits, whatever function it mixes them with; a number
that leaves the range is permuted again until it is back ("cycle walking";
[Black and Rogaway, 2002](https://doi.org/10.1007/3-540-45760-7_9)). Memory does not depend on n.

Axes: B pairs of a batch.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kformer.training.data.batching import Batching
from kformer.training.data.dropped_pairs import REASONS, PairFilter
from kformer.training.shards.shard_file import Shard, mix

_ROUNDS = 3  # Each mixes both halves of the bits.


def permuted(places: np.ndarray, sizes: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Returns where a random permutation takes each place, int64 (B,).

    Args:
        places: int64 array (B,), each from 0 to its size, exclusive.
        sizes: int64 array (B,), how many places each permutation has.
        keys: uint64 array (B,), which permutation of that size it is.
    """
    result = places.astype(np.uint64)
    sizes = sizes.astype(np.uint64)
    bits = np.ceil(np.log2(sizes)).astype(np.uint64)  # The range of k bits is below 2 n.
    left = np.arange(len(places))  # The places that are still out of range.
    while len(left):
        result[left] = _network(result[left], bits[left], keys[left])
        left = left[result[left] >= sizes[left]]
    return result.astype(np.int64)


def _network(numbers, bits, keys):
    """Permutes the numbers of so many bits each."""
    unit = np.uint64(1)
    low_bits = bits >> unit
    low_mask = (unit << low_bits) - unit
    high_mask = (unit << (bits - low_bits)) - unit
    low, high = numbers & low_mask, numbers >> low_bits
    for _ in range(_ROUNDS):
        keys = mix(keys)
        high = high ^ (mix(keys + low) & high_mask)
        low = low ^ (mix(keys ^ ~high) & low_mask)
    return high << low_bits | low


def key(*numbers: int) -> np.uint64:
    """Returns a key that depends on all `numbers` and on their order."""
    mixed = np.zeros(1, np.uint64)
    for number in numbers:
        mixed = mix(mixed ^ mix(np.array([number], np.uint64)))
    return mixed[0]


_SIDES = ("source", "target")
_CLASSES, _BATCHES, _SHARES = range(3)  # The permuted things, as part of the key.


class _Ranges(NamedTuple):
    """Ranges of numbers, one behind the other.

    Attributes:
        starts, ends: int64 arrays (R,).
    """

    starts: np.ndarray
    ends: np.ndarray

    def find(self, numbers: np.ndarray):
        """Returns for each number its range, and its place in that."""
        indices = np.searchsorted(self.ends, numbers, "right")
        return indices, numbers - self.starts[indices]


def _ranges(sizes):
    ends = np.cumsum(sizes, dtype=np.int64)
    return _Ranges(ends - sizes, ends)


class Reading(NamedTuple):
    """How the pairs of a corpus are read.

    Attributes:
        swapped: Whether its targets are the sources, and its sources the targets.
        prefix_id: The id that stands before each source; None for none.
    """

    swapped: bool = False
    prefix_id: int | None = None


class Passes:
    """The batches of every pass over some corpora.

    Args:
        corpora: For each corpus a list of its open `Shard`s.
        weights: How often a pass reads each corpus.
        filter_pairs: `PairFilter`, which drops pairs.
        form: `Batching`.
        shuffle: Whether to permute pairs and batches.
        seed: Of the permutations.
        readings: `Reading` of each corpus; None to read all as they are.

    Attributes:
        number: Number of batches in a pass.
        batches: Number of batches by bucket of their longest pair, int64 (K,).
        pairs, ids: Numbers of pairs, and of ids of both sides with their end ids, in a pass.
        dropped: Numbers of pairs by `REASONS`; the first counts the used pairs.

    Raises:
        ValueError: All pairs are dropped.
    """

    def __init__(
        self,
        corpora: Sequence[Sequence[Shard]],
        weights: Sequence[float],
        filter_pairs: PairFilter,
        form: Batching,
        shuffle: bool = True,
        seed: int = 0,
        readings: Sequence[Reading] | None = None,
    ):
        self._readings = readings or [Reading()] * len(corpora)
        self._shuffle, self._seed, self._form = shuffle, seed, form
        shards = [shard for shards in corpora for shard in shards]
        self._ids = [shard.ids for shard in shards]
        self._teachers = [shard.teachers for shard in shards]
        groups = self._groups(corpora, filter_pairs)
        lengths = [(side + 1).astype(np.int32) for side in (groups["source"], groups["target"])]
        rank = form.rank(*lengths).numpy()
        order = np.lexsort([groups["corpus"], -rank])  # Stable: shard by shard.
        self._groups_of_pass = groups[order]
        rank, bucket = rank[order], form.bucket(*lengths).numpy()[order]
        self._places = _ranges(self._groups_of_pass["pairs"])
        self._cut(self._share(rank, bucket, weights), form.sizes)

    def _groups(self, corpora, filter_pairs):
        """Returns a row for each group of each shard whose pairs are used."""
        names = ("corpus", "shard", "source", "target", "pairs", "start", "teachers_start")
        names += ("prefixes",)
        parts = []
        for corpus, shards in enumerate(corpora):
            for shard in shards:
                part = np.zeros(len(shard.groups), [(name, np.int64) for name in names])
                part["corpus"], part["shard"] = corpus, len(parts)
                swapped, prefix_id = self._readings[corpus]
                columns = ("target", "source") if swapped else ("source", "target")
                for i, name in enumerate((*columns, "pairs")):
                    part[name] = shard.groups[:, i]
                part["prefixes"] = int(prefix_id is not None)
                part["source"] += part["prefixes"]
                part["start"] = shard.starts()
                part["teachers_start"] = shard.starts_of_teachers()
                parts.append(part)
        groups = np.concatenate(parts)
        reasons = filter_pairs(groups["source"] + 1, groups["target"] + 1)
        counts = np.bincount(reasons, groups["pairs"], len(REASONS)).astype(np.int64)
        self.dropped = dict(zip(REASONS, counts.tolist(), strict=True))
        if not counts[0]:
            raise ValueError(
                "No pair is left: all are too long or of unlike lengths. Received: "
                f"max_length={filter_pairs.max_length} for {counts.sum():,} pairs."
            )
        return groups[reasons == 0]

    def _share(self, rank, bucket, weights):
        """Lays out the shares: the pairs of a corpus in a class, once for each of its rounds.

        Returns the number of slots of the sequence by bucket.
        """
        groups = self._groups_of_pass
        first = np.flatnonzero(
            np.diff(rank, prepend=rank[0] + 1) | np.diff(groups["corpus"], prepend=-1)
        )
        pools = np.add.reduceat(groups["pairs"], first)
        rounds = np.array([math.ceil(weight) for weight in weights])[groups["corpus"][first]]
        pool = np.repeat(np.arange(len(pools)), rounds)
        number = np.arange(len(pool)) - np.repeat(np.cumsum(rounds) - rounds, rounds)
        weight = np.asarray(weights, np.float64)[groups["corpus"][first]][pool]
        part = np.minimum(weight - number, 1)
        used = np.ceil(part * pools[pool] - 1e-6).astype(np.int64)
        self._shares = _ranges(used)
        self._share_pools = {
            "first": self._places.starts[first][pool],
            "pairs": pools[pool],
            "whole": used == pools[pool],
        }
        begins = np.flatnonzero(np.diff(rank[first][pool], prepend=rank[0] + 1))
        self._classes = _ranges(np.add.reduceat(used, begins))
        self.pairs = int(used.sum())
        scale = np.zeros(len(pools))
        np.add.at(scale, pool, used / pools[pool])
        group_weights = np.repeat(scale, np.diff([*first, len(groups)])) * groups["pairs"]
        self.ids = tuple(round((group_weights * (groups[name] + 1)).sum()) for name in _SIDES)
        return np.bincount(bucket[first][pool], used)

    def _cut(self, slots, sizes):
        """Cuts the sequence into batches, as `Batching.limits` does."""
        cuts, start, end = [], 0, 0  # For each bucket: its first batch and slot, the size, itself.
        self.batches = np.zeros(len(sizes), np.int64)
        for bucket in reversed(range(len(slots))):
            end += int(slots[bucket])
            if start < end:
                cuts.append((self.batches.sum(), start, sizes[bucket], bucket))
                self.batches[bucket] = math.ceil((end - start) / sizes[bucket])
                start += int(self.batches[bucket]) * sizes[bucket]
        self.number = int(self.batches.sum())
        self._cuts = np.array(cuts)

    def read(self, number: int, batch: int) -> tuple[np.ndarray, ...]:
        """Returns the pairs of a batch, or with several processes this process's part of them.

        Returns:
            source_ids, source_lengths: The sources' ids without start and end ids, one row behind
                the other, int32; and the lengths of the rows, int64 (B,).
            target_ids, target_lengths: The targets'.
            teachings: int32 (P, 2 K), the teachers' ids and probabilities for each id of the
                targets, end ids included; without teachers it has no rows.
            bucket: The bucket of the whole batch, int64.
        """
        groups = self._groups_of_pass
        slots, bucket = self._slots(number, batch)
        group, place = self._places.find(self._pairs_in(slots, number))
        source, target = groups["source"][group], groups["target"][group]
        sizes = source - groups["prefixes"][group] + target
        starts = groups["start"][group] + place * sizes
        swapped = np.array([reading.swapped for reading in self._readings])
        first = np.where(swapped[groups["corpus"][group]], target, sizes - target)
        limits = starts, starts + first, starts + sizes
        sides = [np.empty(0, np.int32)], [np.empty(0, np.int32)]  # A process may have no row.
        columns = groups["corpus"][group], groups["shard"][group], *limits
        for corpus, shard, start, middle, end in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            is_swapped, prefix_id = self._readings[corpus]
            if prefix_id is not None:
                sides[0].append(np.array([prefix_id], np.int32))
            sides[is_swapped].append(self._ids[shard][start:middle])
            sides[not is_swapped].append(self._ids[shard][middle:end])
        ids = [np.concatenate(side, dtype=np.int32) for side in sides]
        return ids[0], source, ids[1], target, self._teachings(group, place), bucket

    def _teachings(self, group, place):
        """Returns the teachers' ids and probabilities for pairs by their groups and places."""
        first = self._teachers[0]
        if first is None:
            return np.empty((0, 0), np.int32)
        groups = self._groups_of_pass
        sizes = groups["target"][group] + 1
        starts = groups["teachers_start"][group] + place * sizes
        parts = [np.empty((0, first.shape[1]), np.int32)]  # A process may have no row.
        for shard, start, size in zip(
            *(column.tolist() for column in (groups["shard"][group], starts, sizes)), strict=True
        ):
            parts.append(self._teachers[shard][start : start + size])
        return np.concatenate(parts, dtype=np.int32)

    def _slots(self, number, batch):
        """Returns the slots of the sequence that this process has of a batch, and its bucket."""
        if self._shuffle:
            which = key(self._seed, number, _BATCHES)
            batch = permuted(*(np.array([value]) for value in (batch, self.number, which)))[0]
        first_batch, first_slot, size, bucket = self._cuts[
            np.searchsorted(self._cuts[:, 0], batch, "right") - 1
        ]
        start = first_slot + (batch - first_batch) * size
        end = min(start + size, self.pairs)
        if self._form.shares > 1:
            rows = int(self._form.shape_of_part(bucket)[0])
            start += self._form.share * rows
            end = min(start + rows, end)
        return np.arange(start, end), bucket

    def _pairs_in(self, slots, number):
        """Returns where in the sequence of groups the pairs in slots are, int64 (B,)."""
        classes, place = self._classes.find(slots)
        if self._shuffle:
            sizes = (self._classes.ends - self._classes.starts)[classes]
            place = permuted(place, sizes, self._keys(number, _CLASSES, classes))
        share, place = self._shares.find(self._classes.starts[classes] + place)
        some = np.flatnonzero(~self._share_pools["whole"][share])
        if len(some):
            keys = self._keys(number, _SHARES, share[some])
            place[some] = permuted(place[some], self._share_pools["pairs"][share[some]], keys)
        return self._share_pools["first"][share] + place

    def _keys(self, number, kind, which):
        """Returns the key of each permutation of a kind, uint64 (B,)."""
        return mix(key(self._seed, number, kind) + mix(which.astype(np.uint64)))
