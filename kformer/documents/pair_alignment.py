"""Aligns the words of sentences with those of their translations, from these pairs alone.

Words that go together in many pairs of a document belong together: the first model of IBM (Brown
et al., 1993, "The Mathematics of Statistical Machine Translation"), with a prior of each pair. The
prior is the attention of the model, or else that a word is near to the diagonal (Dyer et al., 2013,
"A Simple, Fast, and Effective Reparameterization of IBM Model 2"). Both directions are fitted, and
their sum is normalized to both sides.

Axes: N source words, M target words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_ROUNDS = 4  # Of expectation and maximization.
_NULL = 0.08  # Probability that a word belongs to no other.
_SMOOTHING = 0.01  # Added to each count of two words.
_SAME = 10.0  # How much likelier two equal words belong together at first.
_STEEPNESS = 4.0  # Of the prior at the diagonal.


class WordPair(NamedTuple):
    """The words of a sentence and of its translation.

    Attributes:
        source, target: N and M words.
        attention: float array (M, N), of each target word to each source word, or None.
    """

    source: Sequence[str]
    target: Sequence[str]
    attention: np.ndarray | None = None


def align_pairs(pairs: Sequence[WordPair]) -> list[np.ndarray]:
    """Returns how strongly the words of each pair belong together.

    Args:
        pairs: Pairs with at least one word on each side.

    Returns:
        For each pair a float array (M, N) whose rows have the sum 1.
    """
    priors = [_prior(pair) for pair in pairs]
    sources = [pair.source for pair in pairs]
    targets = [pair.target for pair in pairs]
    forward = _posteriors(sources, targets, priors)
    backward = _posteriors(targets, sources, [prior.T for prior in priors])
    return [
        _mutual(by_target + by_source.T + 1e-3)
        for by_target, by_source in zip(forward, backward, strict=True)
    ]


def _prior(pair):
    if pair.attention is not None:
        prior = _mutual(pair.attention + 1e-9) + 1e-3
    else:
        rows, columns = ((np.arange(len(side)) + 0.5) / len(side) for side in pair[1::-1])
        prior = np.exp(-_STEEPNESS * abs(rows[:, None] - columns))
    source, target = (np.array([word.casefold() for word in side]) for side in pair[:2])
    return prior * np.where(target[:, None] == source, _SAME, 1.0)


def _mutual(weights):
    """Returns weights that are high where they are high among their row and their column."""
    for _ in range(3):  # Sinkhorn and Knopp, 1967.
        weights = weights / weights.sum(1, keepdims=True)
        weights = weights / weights.sum(0)
    weights = (weights / weights.sum(1, keepdims=True)) * (weights / weights.sum(0))
    return weights / weights.sum(1, keepdims=True)


def _posteriors(sources, targets, priors):
    """Returns the probability that each target word belongs to each source word, (M, N)."""
    source_ids, target_ids = _ids(sources), _ids(targets)
    target_number = 1 + max(int(ids.max()) for ids in target_ids)
    # A number for each two words that are in a pair together.
    codes = [
        rows[:, None] + np.int64(target_number) * columns
        for rows, columns in zip(target_ids, source_ids, strict=True)
    ]
    known, flat = np.unique(np.concatenate([part.ravel() for part in codes]), return_inverse=True)
    ends = np.cumsum([part.size for part in codes])[:-1]
    places = [
        part.reshape(shape.shape) for part, shape in zip(np.split(flat, ends), codes, strict=True)
    ]
    words = known // target_number
    priors = [(1 - _NULL) * prior / prior.sum(1, keepdims=True) for prior in priors]
    likelihoods, null = np.ones(len(known)), 1.0
    posteriors: list[np.ndarray] = []
    for _ in range(_ROUNDS):
        posteriors = [
            _normalized(likelihoods[place] * prior, _NULL * null)
            for place, prior in zip(places, priors, strict=True)
        ]
        weights = np.concatenate([posterior.ravel() for posterior in posteriors])
        counts = np.bincount(flat, weights, len(known)) + _SMOOTHING
        totals = np.bincount(words, counts - _SMOOTHING) + _SMOOTHING * target_number
        likelihoods, null = counts / totals[words], 1 / target_number
    return posteriors


def _normalized(weights, null):
    return weights / (weights.sum(1, keepdims=True) + null)


def _ids(texts):
    numbers: dict[str, int] = {}
    return [
        np.array([numbers.setdefault(word.casefold(), len(numbers)) for word in words])
        for words in texts
    ]
