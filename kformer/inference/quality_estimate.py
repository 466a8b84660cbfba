"""The quality estimate of a translation: its expected chrF, from counts and the log-probability.

A logistic model of six features, which every saved form can compute: NumPy, TensorFlow and LiteRT
run the same formula. Its weights are learned from translations of held-out text, and of the same
text disturbed (`disturbed_pairs`), because a model that saw only text of its domain is wrong
outside of it.

A word in many pieces is a sign of strange text, but among plain sentences it is only a name. So the
value of such a feature counts from where it is larger than in 95 % of plain text.

Spearman's correlation with sentence chrF, of three translators calibrated on 500 pairs: Mozilla's
English-Portuguese and Portuguese-English on 1,000 other sentences of NTREX-128, and a small one of
Marian's on 1,000 of Multi30k, each also disturbed:

    features                      en-pt           pt-en          Marian's
                               plain   dist.   plain  dist.    plain  dist.
    mean log-probability       0.291  -0.605   0.363  0.353    0.671  0.815
    these six, without floors  0.063   0.797   0.283  0.811    0.702  0.799
    these six                  0.302   0.737   0.366  0.845    0.702  0.759

Where the mean log-probability alone is better on plain text, which is measured by
cross-validation, it is the estimate.

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
# The sign of a weight, where it is known: few texts would give it another one by chance.
SIGNS = {"log_probability": 1, "log_error": -1, "length_difference": -1, "fragmentation": -1}
FLOORED = ("length_difference", "fragmentation")  # They say much of strange text, little of plain.
UNSURE_SHARE = 0.7  # Of the mean chrF on held-out text: translations below are to be flagged.
MIN_PAIRS = 100  # Fewer held-out pairs do not determine seven numbers.
PLAIN_WEIGHT = 10.0  # Of undisturbed pairs; disturbed ones have 1.
_LEAST, _MOST = -20.0, -1e-3  # Of a mean log-probability: float32 has few digits of 1 - p above.
_RIDGE = 1e-3
_FLOOR = 0.95  # Share of plain text whose value of a feature in `FLOORED` is no sign of anything.
_FOLDS = 5  # Of plain text, by which two estimates are compared.
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
        floors: Least value of some features, by name: one below counts as much as its floor.

    Raises:
        TypeError, ValueError: A number is none, or a weight is missing or unknown.
    """

    weights: Mapping[str, float]
    bias: float
    threshold: float
    floors: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        if not isinstance(self.weights, Mapping) or {*self.weights} != {*FEATURES}:
            raise ValueError(
                f"A quality estimate has a weight for each of {', '.join(FEATURES)}. "
                f"Received: weights={self.weights!r:.99}."
            )
        if not isinstance(self.floors, Mapping) or not {*self.floors} <= {*FEATURES}:
            raise ValueError(
                f"The floors of a quality estimate are of {', '.join(FEATURES)}. "
                f"Received: floors={self.floors!r:.99}."
            )
        for name, weight in {**self.weights, **self.floors, "bias": self.bias}.items():
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
            if name in self.floors:
                feature = ops.maximum(feature, self.floors[name])
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

    The estimate of all features is compared with that of the log-probability alone, by their rank
    correlation on plain text that neither was fitted to; the better one is returned.

    Args:
        evidence: Arrays (N,).
    """
    scores, is_plain = np.asarray(scores, float), np.asarray(is_plain, bool)
    evidence = Evidence(*(np.asarray(numbers, float) for numbers in evidence))
    plain = np.flatnonzero(is_plain)
    ways = (FEATURES, FEATURES[:1])
    estimates = np.zeros((len(ways), len(scores)))
    for fold in range(_FOLDS):
        tested = plain[fold::_FOLDS]
        known = np.setdiff1d(np.arange(len(scores)), tested)
        for way, names in enumerate(ways):
            estimate = _fit(evidence, scores, is_plain, known, names)
            estimates[way, tested] = estimate.quality(_some(evidence, tested))
    correlations = [rank_correlation(row[plain], scores[plain]) for row in estimates]
    best = int(correlations[1] > correlations[0])
    return _fit(evidence, scores, is_plain, np.arange(len(scores)), ways[best])


def _some(evidence, numbers):
    """Returns the evidence of some translations."""
    return Evidence(*(values[numbers] for values in evidence))


def _fit(evidence, scores, is_plain, known, names):
    """Returns the `QualityEstimate` of some features, by name, from the translations `known`.

    A feature whose weight gets the wrong sign is left out, the largest first.
    """
    while True:
        estimate = _fit_all(evidence, scores, is_plain, known, names)
        wrong = [name for name in names if estimate.weights[name] * SIGNS.get(name, 0) < 0]
        if not wrong:
            return estimate
        worst = max(wrong, key=lambda name: abs(estimate.weights[name]))
        names = tuple(name for name in names if name != worst)


def _fit_all(evidence, scores, is_plain, known, names):
    scores, is_plain = scores[known], is_plain[known]
    columns = [FEATURES.index(name) for name in names]
    features = np.stack(_some(evidence, known).features(), axis=1)[:, columns]  # (N, F)
    floors = {
        name: round(float(np.quantile(features[is_plain, names.index(name)], _FLOOR)), 6)
        for name in FLOORED
        if name in names
    }
    for name, floor in floors.items():
        place = names.index(name)
        features[:, place] = np.maximum(features[:, place], floor)
    center, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    inputs = np.hstack([(features - center) / spread, np.ones((len(features), 1))])  # (N, F + 1)
    importance = np.where(is_plain, PLAIN_WEIGHT, 1.0)
    ridge = _RIDGE * importance.sum() * np.diag([1.0] * len(names) + [0.0])
    solution = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-inputs @ solution))
        slope = inputs.T @ (importance * (expected - scores)) + ridge @ solution
        certainty = importance * np.maximum(expected * (1 - expected), 1e-6)
        solution -= np.linalg.solve((inputs.T * certainty) @ inputs + ridge, slope)
    weights = solution[:-1] / spread
    by_name = dict.fromkeys(FEATURES, 0.0)
    by_name |= {name: round(float(weight), 6) for name, weight in zip(names, weights, strict=True)}
    return QualityEstimate(
        by_name,
        round(float(solution[-1] - weights @ center), 6),
        round(float(UNSURE_SHARE * scores[is_plain].mean()), 4),
        floors,
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
    sources: Sequence[str],
    references: Sequence[str],
    seed: int = 0,
    reads_capitals: bool = True,
) -> list[tuple[str, str]]:
    """Returns as many pairs of held-out text with sources that are disturbed, in several ways.

    In turn, they are capitals; a few typing errors; many; words of shuffled letters; the reference
    in place of its source, as text of another language; and two sentences in a line.

    Args:
        reads_capitals: Whether the model gets sentences in capitals as they are.
    """
    rng = random.Random(seed)
    pairs = [*zip(sources, references, strict=True)]
    ways = [_capitals] if reads_capitals else []
    ways += [_few_errors, _many_errors, _shuffled, _foreign, _joined]
    disturbed = []
    for number, pair in enumerate(pairs):
        disturb = ways[number % len(ways)]
        disturbed.append(disturb(pair, pairs[number - 1], rng))
    return disturbed


def _capitals(pair, _, rng):
    return pair[0].upper(), pair[1]


def _few_errors(pair, _, rng):
    return _with_errors(pair[0], 0.3, rng), pair[1]


def _many_errors(pair, _, rng):
    return _with_errors(_with_errors(pair[0], 0.8, rng), 0.8, rng), pair[1]


def _shuffled(pair, _, rng):
    return _with_shuffled_letters(pair[0], rng), pair[1]


def _foreign(pair, _, rng):
    return pair[1], pair[1]


def _joined(pair, before, rng):
    return f"{before[0]} {pair[0]}", f"{before[1]} {pair[1]}"


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
