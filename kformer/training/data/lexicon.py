"""A lexicon from pairs of sentences: how likely each target id is a translation of a source id.

IBM model 1 learns it by expectation maximisation ([Brown et al.,
1993](https://aclanthology.org/J93-2003/), section 4.1). Each target id comes from one id of its
source.

Axes: N pairs of sentences, E entries (pairs of a source id and a target id).
"""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

ITERATIONS = 5
MAX_ENTRIES = 16_000_000  # Pairs of ids in memory; 24 bytes each, and as much again at times.
_LINKS = 2_000_000  # Pairs of positions that are counted at once.


class SentenceIds(NamedTuple):
    """Ids of sentences, one after the other.

    Attributes:
        ids: int32 (all,).
        lengths: int64 (N,), each at least 1.
    """

    ids: np.ndarray
    lengths: np.ndarray


class Lexicon(NamedTuple):
    """Probabilities of pairs of ids.

    Attributes:
        sources, targets: int64 (E,), ordered by source id, then by target id.
        probabilities: float64 (E,), of the target id given the source id, with sum 1 for
            each source id.
    """

    sources: np.ndarray
    targets: np.ndarray
    probabilities: np.ndarray


def learn_lexicon(
    sources: SentenceIds,
    targets: SentenceIds,
    iterations: int = ITERATIONS,
    max_entries: int = MAX_ENTRIES,
    progress: Callable[[int], object] | None = None,
) -> Lexicon:
    """Learns the probabilities by expectation maximisation, beginning with equal ones.

    Args:
        iterations: Number of iterations, at least 1.
    """
    step = int(targets.ids.max(initial=0)) + 1
    keys, counts = np.empty(0, np.int64), np.empty(0)
    for links in _all_links(sources, targets, step, progress):
        chunk_keys, place = np.unique(links.keys, return_inverse=True)
        keys, counts = _added(keys, counts, chunk_keys, np.bincount(place, links.shares()))
        if len(keys) > max_entries:
            kept = np.sort(np.argpartition(counts, -max_entries)[-max_entries:])
            keys, counts = keys[kept], counts[kept]
    probabilities = _normalised(keys // step, counts)
    for _ in range(iterations - 1):
        counts = np.zeros(len(keys))
        for links in _all_links(sources, targets, step, progress):
            chunk_keys, place = np.unique(links.keys, return_inverse=True)
            entry = np.minimum(np.searchsorted(keys, chunk_keys), len(keys) - 1)
            known = keys[entry] == chunk_keys
            shares = links.shares((probabilities[entry] * known)[place])
            counts[entry[known]] += np.bincount(place, shares)[known]
        probabilities = _normalised(keys // step, counts)
    return Lexicon(keys // step, keys % step, probabilities)


class _Links(NamedTuple):
    """All pairs of a source position and a target position within some sentences.

    Attributes:
        keys: int64, source id * step + target id, grouped by target position.
        links_per_target: int64, the number of links of each target position.
    """

    keys: np.ndarray
    links_per_target: np.ndarray

    def shares(self, probabilities: np.ndarray | None = None):
        """Returns how much of its target position each link explains, float64."""
        if probabilities is None:
            return np.repeat(1 / self.links_per_target, self.links_per_target)
        first = np.cumsum(self.links_per_target) - self.links_per_target
        totals = np.add.reduceat(probabilities, first)
        totals[totals == 0] = 1.0  # None of them is known.
        return probabilities / np.repeat(totals, self.links_per_target)


def _all_links(sources, targets, step, progress) -> Iterator[_Links]:
    """Yields the `_Links` of all pairs of sentences, some at a time."""
    links_per_pair = sources.lengths * targets.lengths
    chunk = np.cumsum(links_per_pair) // _LINKS
    bounds = [*np.flatnonzero(np.diff(chunk, prepend=-1)), len(links_per_pair)]
    source_ends, target_ends = np.cumsum(sources.lengths), np.cumsum(targets.lengths)
    for first, last in itertools.pairwise(bounds):
        lengths = sources.lengths[first:last]
        begin = target_ends[first] - targets.lengths[first]
        target_ids = targets.ids[begin : target_ends[last - 1]].astype(np.int64)
        pair = np.repeat(np.arange(last - first), targets.lengths[first:last])
        links_per_target = lengths[pair]
        ends = np.cumsum(links_per_target)
        place = np.arange(ends[-1]) - np.repeat(ends - links_per_target, links_per_target)
        place += np.repeat((source_ends[first:last] - lengths)[pair], links_per_target)
        keys = sources.ids[place].astype(np.int64) * step + np.repeat(target_ids, links_per_target)
        yield _Links(keys, links_per_target)
        if progress:
            progress(last - first)


def _added(keys, counts, more_keys, more_counts):
    """Returns the union of two sets of ascending keys, and the sums of their counts."""
    both, place = np.unique(np.concatenate([keys, more_keys]), return_inverse=True)
    return both, np.bincount(place, np.concatenate([counts, more_counts]))


def _normalised(sources, counts):
    """Returns counts divided by their sums for each source id; `sources` ascends."""
    totals = np.bincount(sources, counts)
    totals[totals == 0] = 1.0
    return counts / totals[sources]
