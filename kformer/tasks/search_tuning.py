"""The length penalty of a translator's beam search, chosen on several texts.

The penalty that is best for one validation text is often worse for other text than the default. So
every text counts alike, scores are smoothed over neighbouring penalties, and the default stays
where another penalty gains next to nothing.

Axes: P length penalties, N texts.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kformer.inference.search_options import SearchOptions

PENALTIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_NEXT_TO_NOTHING = 0.1  # Difference of smoothed scores, in points of BLEU or chrF.


class TunedSearch(NamedTuple):
    """Scores of length penalties, and the chosen one.

    Attributes:
        penalties: The P length penalties, ascending.
        scores: float array (P, N), the score of each text, 0 to 100.
        smoothed: float array (P,), the mean of the texts, smoothed over neighbouring penalties.
        length_penalty: The chosen penalty.
    """

    penalties: tuple[float, ...]
    scores: np.ndarray
    smoothed: np.ndarray
    length_penalty: float


def tune_search(
    translator: Any,
    texts: Sequence[tuple[Sequence[str], Sequence[str]]],
    score: Callable[[list[str], Sequence[str]], float],
    beam_size: int,
    penalties: Sequence[float] = PENALTIES,
    progress: Callable[[int], object] | None = None,
) -> TunedSearch:
    """Translates texts with each length penalty, and chooses one.

    Args:
        beam_size: Number of beams, at least 2.
    """
    scores = [
        [
            score(
                translator.translate(
                    sources,
                    beam_size=beam_size,
                    length_penalty=penalty,
                    progress=progress,
                    split=False,
                ),
                references,
            )
            for sources, references in texts
        ]
        for penalty in penalties
    ]
    smoothed = _smoothed(np.mean(scores, axis=1))
    chosen = _choose(smoothed, np.array(penalties))
    return TunedSearch(tuple(penalties), np.array(scores), smoothed, float(penalties[chosen]))


def _smoothed(scores):
    """Returns the mean of each score, counted twice, and of its neighbours."""
    weights = np.array([1, 2, 1])
    known = np.convolve(np.ones(len(scores)), weights, "same")
    return np.convolve(scores, weights, "same") / known


def _choose(smoothed, penalties):
    """Returns the place of the penalty nearest to the default among those that are good enough."""
    distance = np.abs(penalties - SearchOptions.length_penalty)
    return min(np.flatnonzero(smoothed >= smoothed.max() - _NEXT_TO_NOTHING), key=distance.item)
