"""The entries of a table: the likely target ids of each source id.

Axes: U source vocabulary, E entries.
"""

from collections.abc import Iterable

import numpy as np

from kformer.training.shortlist.ibm1 import Lexicon

MOST = 100  # Entries of a source id.
_MIN_PROBABILITY = 1e-3  # What is less likely is noise, for which a more frequent id is better.


def entries_of(
    lexicon: Lexicon, copies: Iterable[tuple[int, int]], vocab_size: int, most: int = MOST
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the `ends` and the `entries` of a `kformer.Shortlist`.

    Args:
        lexicon: `Lexicon`; what has a probability below 0.001 is left out.
        copies: Pairs of a source id and the target id of the same piece. Such an entry comes first,
            as names and numbers are copied, also those that the text did not have.
        vocab_size: U.
        most: Largest number of entries of a source id.

    Returns:
        ends: int32 (U,).
        entries: int32 (E,).
    """
    copies = np.array([*copies], np.int64).reshape(-1, 2)
    likely = lexicon.probabilities >= _MIN_PROBABILITY
    sources = np.concatenate([copies[:, 0], lexicon.sources[likely]])
    targets = np.concatenate([copies[:, 1], lexicon.targets[likely]])
    order = np.concatenate([np.full(len(copies), -2.0), -lexicon.probabilities[likely]])
    _, first = np.unique(np.stack([sources, targets]), axis=1, return_index=True)
    sources, targets, order = sources[first], targets[first], order[first]
    best = np.lexsort((targets, order, sources))
    sources, targets = sources[best], targets[best]
    rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
    kept = rank < most
    ends = np.cumsum(np.bincount(sources[kept], minlength=vocab_size))
    return ends.astype(np.int32), targets[kept].astype(np.int32)
