"""The quality estimate of a translation: its expected chrF, from counts and the log-probability.

A logistic model of six features, which every saved form can compute: NumPy, TensorFlow and LiteRT
run the same formula. Its weights are learned from translations of held-out text, and of the same
text disturbed (`disturbed_pairs`), because a model that saw only text of its domain is wrong
outside of it.

Spearman's correlation with sentence chrF, of three translators, on held-out text of their domain
and on the same text disturbed:

    features                              Multi30k       Marian's         demo
                                        held  dist.    held  dist.    held  dist.
    mean log-probability               0.642  0.742   0.653  0.767   0.345  0.497
    these six                          0.642  0.846   0.683  0.787   0.333  0.593
    and rarity of source pieces, share
    of bytes, share of copied pieces   0.635  0.859   0.709  0.788   0.342  0.631

Least log-probability, spread and entropy of attention, which only Python has, add 0.01 to 0.02 to
the first column. Boosted trees on all of these features have 0.688 where the mean has 0.677.

Axes: N translations, F features.
"""

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from kformer.arguments import check_number
from kformer.inference.results import UNSURE

FEATURES = (
    "log_probability",  # Mean of a token.
    "log_error",  # log(1 - p) for the geometric mean p of the probabilities of the tokens.
    "source_length",  # Logarithm of the number of pieces.
    "length_ratio",  # Logarithm of the target's pieces over the source's, one more of each.
    "length_difference",  # Its absolute value.
    "fragmentation",  # Logarithm of pieces for each word of the source: text unlike the training's.
)
UNSURE_SHARE = 0.7  # Of the mean chrF on held-out text: translations below are to be flagged.
MIN_PAIRS = 100  # Fewer held-out pairs do not determine seven numbers.
PLAIN_WEIGHT = 3.0  # Of undisturbed pairs; disturbed ones have 1.
_LEAST, _MOST = -20.0, -1e-3  # Of a mean log-probability: float32 has few digits of 1 - p above.
_RIDGE = 1e-3
_STEPS = 30  # Newton's method takes about six.


class Evidence(NamedTuple):
    """The numbers from which the quality of translations is estimated: (N,) each, or one each.

    Attributes:
        log_probability: The natural logarithm of the translation's probability.
        length: Number of its tokens, its end included if it came.
        source: Number of pieces of the source, at least 1.
        target: Number of pieces of the translation.
        words: Number of words of the source: pieces that begin with a space.
    """

    log_probability: Any
    length: Any
    source: Any
    target: Any
    words: Any

    def features(self, ops: Any = np) -> list:
        """Returns the F features.

        Args:
            ops: NumPy, or `keras.ops` for float32 tensors.
        """
        mean = self.log_probability / ops.maximum(self.length, 1.0)
        mean = ops.minimum(ops.maximum(mean, _LEAST), _MOST)
        ratio = ops.log((self.target + 1.0) / (self.source + 1.0))
        return [
            mean,
            ops.log(1.0 - ops.exp(mean)),
            ops.log(self.source),
            ratio,
            ops.abs(ratio),
            ops.log(self.source / ops.maximum(self.words, 1.0)),
        ]


@dataclasses.dataclass(frozen=True)
class QualityEstimate:
    """A calibrated estimate of the quality of translations, for one translator.

    Attributes:
        weights: Weight of each of `FEATURES`, by name.
        bias: The number that is added to the weighted features.
        threshold: Translations of a lower quality are flagged "unsure".

    Raises:
        TypeError, ValueError: A number is none, or a weight is missing or unknown.
    """

    weights: Mapping[str, float]
    bias: float
    threshold: float

    def __post_init__(self):
        if not isinstance(self.weights, Mapping) or {*self.weights} != {*FEATURES}:
            raise ValueError(
                f"A quality estimate has a weight for each of {', '.join(FEATURES)}. "
                f"Received: weights={self.weights!r:.99}."
            )
        for name, weight in {**self.weights, "bias": self.bias}.items():
            check_number(name, weight, least=-math.inf)
        check_number("threshold", self.threshold, least=0, most=1)

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | None) -> Self | None:
        """Returns the estimate of `get_config`; None for None."""
        return None if config is None else cls(**config)

    def get_config(self) -> dict[str, Any]:
        """Returns the attributes by name, for JSON."""
        return dataclasses.asdict(self)

    def quality(self, evidence: Evidence, ops: Any = np) -> Any:
        """Returns the expected sentence chrF of translations, from 0 to 1.

        Args:
            evidence: Numbers, or arrays or tensors (N,).
        """
        log_odds = self.bias
        for name, feature in zip(FEATURES, evidence.features(ops), strict=True):
            log_odds = log_odds + self.weights[name] * feature
        return 1.0 / (1.0 + ops.exp(-log_odds))

    def flags(self, quality: float | None) -> tuple[str, ...]:
        """Returns the flags of a translation by its quality: "unsure" or none."""
        return (UNSURE,) if quality is not None and quality < self.threshold else ()


def estimate_in(config: Mapping[str, Any] | None, rule: str, path: Any) -> QualityEstimate | None:
    """Returns the estimate in the settings of a saved form; None for None."""
    try:
        return QualityEstimate.from_config(config)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{rule} Received: {str(path)!r} ({error}).") from error


def fit_estimate(
    evidence: Evidence, scores: Sequence[float] | np.ndarray, is_plain: Sequence[bool] | np.ndarray
) -> QualityEstimate:
    """Learns a `QualityEstimate` from translations and their sentence chrF.

    It is a logistic regression with shares as labels, by Newton's method. The threshold is a share
    of the mean score of undisturbed text: the level of chrF depends on language and model.

    Args:
        evidence: Arrays (N,).
    """
    scores, is_plain = np.asarray(scores, float), np.asarray(is_plain, bool)
    features = np.stack(evidence.features(), axis=1)  # (N, F)
    center, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    inputs = np.hstack([(features - center) / spread, np.ones((len(features), 1))])  # (N, F + 1)
    importance = np.where(is_plain, PLAIN_WEIGHT, 1.0)
    ridge = _RIDGE * importance.sum() * np.diag([1.0] * len(FEATURES) + [0.0])
    solution = np.zeros(len(FEATURES) + 1)
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-inputs @ solution))
        slope = inputs.T @ (importance * (expected - scores)) + ridge @ solution
        certainty = importance * np.maximum(expected * (1 - expected), 1e-6)
        solution -= np.linalg.solve((inputs.T * certainty) @ inputs + ridge, slope)
    weights = solution[:-1] / spread
    return QualityEstimate(
        {name: round(float(weight), 6) for name, weight in zip(FEATURES, weights, strict=True)},
        round(float(solution[-1] - weights @ center), 6),
        round(float(UNSURE_SHARE * scores[is_plain].mean()), 4),
    )


class Doubt(NamedTuple):
    """How well quality estimates agree with the chrF of translations.

    Attributes:
        total: Number of translations.
        flagged: Number of those that are flagged "unsure".
        poor: Number of those whose chrF is under the threshold.
        right: Number of those that are both.
        correlation: Spearman's correlation of estimates and chrF; NaN if all of either are equal.
    """

    total: int
    flagged: int
    poor: int
    right: int
    correlation: float

    @property
    def precision(self) -> float | None:
        """Share of the flagged translations that are poor; None if none is flagged."""
        return self.right / self.flagged if self.flagged else None

    @property
    def recall(self) -> float | None:
        """Share of the poor translations that are flagged; None if none is poor."""
        return self.right / self.poor if self.poor else None

    def figures(self) -> dict[str, Any]:
        """Returns the figures of an export report, for JSON."""
        correlation = None if math.isnan(self.correlation) else self.correlation
        shares = {"precision": self.precision, "recall": self.recall, "correlation": correlation}
        rounded = {
            name: share if share is None else round(share, 4) for name, share in shares.items()
        }
        return {"flagged": self.flagged, "poor": self.poor, **rounded}

    def __str__(self):
        text = f"{self.flagged:,} of {self.total:,} translations are flagged as unsure"
        missed = self.poor - self.right
        if not self.poor:
            return f"{text}; none is poor"
        if not self.flagged:
            return f"{text}; {missed:,} are poor"
        return f"{text}: {self.right:,} of these are poor, and {missed:,} of the others"


def doubt_of(qualities: Sequence[float], scores: Sequence[float], threshold: float) -> Doubt:
    """Compares quality estimates with sentence scores, both from 0 to 1, as a `Doubt`."""
    qualities, scores = np.asarray(qualities, float), np.asarray(scores, float)
    flagged, poor = qualities < threshold, scores < threshold
    correlation = rank_correlation(qualities, scores)
    right = flagged & poor
    return Doubt(len(scores), int(flagged.sum()), int(poor.sum()), int(right.sum()), correlation)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Returns Spearman's rank correlation; equal values share their mean rank."""
    ranks = [_ranks(values) for values in (first, second)]
    if any(np.ptp(values) == 0 for values in ranks):
        return math.nan
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values):
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[places]


def disturbed_pairs(
    sources: Sequence[str], references: Sequence[str], seed: int = 0
) -> list[tuple[str, str]]:
    """Returns as many pairs of held-out text with sources that are disturbed, in five ways in turn.

    They are capitals; a few typing errors; many; words of shuffled letters; and the reference in
    place of its source, as text of another language.
    """
    rng = random.Random(seed)
    disturb = (
        lambda source, reference: source.upper(),
        lambda source, reference: _with_errors(source, 0.3, rng),
        lambda source, reference: _with_errors(_with_errors(source, 0.8, rng), 0.8, rng),
        lambda source, reference: _with_shuffled_letters(source, rng),
        lambda source, reference: reference,
    )
    pairs = zip(sources, references, strict=True)
    return [
        (disturb[number % len(disturb)](source, reference), reference)
        for number, (source, reference) in enumerate(pairs)
    ]


def _with_shuffled_letters(text, rng):
    return " ".join("".join(rng.sample(word, len(word))) for word in text.split(" "))


def _with_errors(text, share, rng):
    """Returns a text in which a share of the words has a typing error."""
    words = text.split(" ")
    for i, word in enumerate(words):
        if len(word) < 2 or rng.random() >= share:
            continue
        place = rng.randrange(len(word) - 1)
        kept, first, second, rest = word[:place], word[place], word[place + 1], word[place + 2 :]
        middle = rng.choice((second + first, second, first + first + second))
        words[i] = kept + middle + rest
    return " ".join(words)
