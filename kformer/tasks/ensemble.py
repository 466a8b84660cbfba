"""`Ensemble`: several translators that translate together.

Axes: S source length, T target length, M models.
"""

import copy
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kformer.arguments import pair_or_pairs
from kformer.decoding.batch_decoder import BatchDecoder
from kformer.decoding.scoring import BatchLikelihood, Scored, TargetScores
from kformer.inference.any_translator import AnyTranslator
from kformer.kinds import TRANSLATOR
from kformer.tasks.keras_engine import KerasEngine
from kformer.tasks.translator import Translator
from kformer.tasks.word_alignment import index_of


class Ensemble(AnyTranslator):
    """Several translators of one vocabulary that choose each id by the mean of their probabilities.

    An ensemble of M models takes M times as long as one of them, and is usually better: models
    agree on what is right more often than on errors. `kformer distill` trains a small model on its
    answers.

    Args:
        translators: M `kformer.Translator` with the same tokenizers, of any sizes. `kformer train
            --tokenizer FIRST.keras --seed 1` trains another one for the first. The ensemble has the
            `shortlist`, `search_defaults` and `quality_estimate` that the first of them has now.

    Raises:
        TypeError: One of them is something else.
        ValueError: There are none, or their tokenizers differ.

    Examples:
        >>> import kformer
        >>> names = "runs/de-en/translator.keras", "runs/second/translator.keras"
        >>> ensemble = kformer.Ensemble([kformer.load(name) for name in names])
        >>> ensemble.translate("Ein Hund läuft.", beam_size=4)
        'A dog runs.'
    """

    def __init__(self, translators: Sequence[Translator]):
        self.translators = tuple(translators)
        if not self.translators:
            raise ValueError("An ensemble has at least one translator. Received: none.")
        for number, translator in enumerate(self.translators):
            TRANSLATOR.check(f"translators[{number}]", translator)
        _check_vocabularies(self.translators)
        self._translator = _MeanTranslator(self.translators)

    @property
    def engine(self) -> KerasEngine:
        """The engine that searches with all networks."""
        return self._translator.engine

    def _into(self, target_language):
        ensemble = copy.copy(self)
        ensemble._translator = self._translator.into(target_language)
        return ensemble

    @pair_or_pairs
    def score(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        progress: Callable[[int], object] | None = None,
    ) -> list[Scored]:
        """Returns the log-probabilities of translations, as `kformer.Translator.score` does."""
        return self._translator.score(sources, targets, progress)


def _check_vocabularies(translators):
    """Raises a ValueError unless all translators have the tokenizers of the first one."""
    first = translators[0]
    for number, translator in enumerate(translators):
        for name in ("tokenizer", "target_tokenizer"):
            own, expected = getattr(translator, name), getattr(first, name)
            if _identity(own) != _identity(expected):
                raise ValueError(
                    "The translators of an ensemble must have the same vocabulary. Received: "
                    f"another `{name}` in translators[{number}], of {own.vocab_size} ids, than in "
                    f"translators[0], of {expected.vocab_size} ids."
                )


def _identity(tokenizer):
    return tokenizer.model, tokenizer.prefix, tokenizer.target_languages


class _MeanTranslator(Translator):
    """The first translator, with the search and the scores of all."""

    has_alignments = False  # Each model has a head of its own.

    def __init__(self, translators: Sequence[Translator]):
        first, *more = translators
        super().__init__(
            first.tokenizer,
            first.transformer,
            first.target_tokenizer,
            max_source_length=min(t.max_source_length for t in translators),
            about=first.about,
            search_defaults=first.search_defaults,
            quality_estimate=first.quality_estimate,
        )
        self._decode = BatchDecoder(
            first.transformer,
            first.target_tokenizer,
            more_models=[translator.transformer for translator in more],
        )
        self.shortlist = first.shortlist
        self._likelihood = _MeanLikelihood(translators)


class _MeanLikelihood:
    """The `BatchLikelihood` of an ensemble, by the mean of the probabilities."""

    def __init__(self, translators: Sequence[Translator]):
        self._likelihoods = [
            (BatchLikelihood(t.transformer, t.target_tokenizer), index_of(t.alignment_head))
            for t in translators
        ]

    def __call__(
        self, sources: list, targets: list, progress: Callable | None = None
    ) -> list[TargetScores]:
        """As `BatchLikelihood`; `progress` is called while the last model reads the pairs."""
        scores = []
        for number, (likelihood, head) in enumerate(self._likelihoods, start=1):
            last = number == len(self._likelihoods)
            scores.append(likelihood(sources, targets, progress if last else None, **head))
        return [_mean(pair_scores) for pair_scores in zip(*scores, strict=True)]


def _mean(scores):
    """Returns the `TargetScores` of the mean probabilities of M models, for one pair."""
    logarithms = np.stack([model.log_probabilities for model in scores])  # (M, T)
    mean = np.logaddexp.reduce(logarithms, axis=0) - np.float32(math.log(len(scores)))
    attention = np.mean([model.attention for model in scores], axis=0)
    return TargetScores(mean, attention)  # (T,), (T, S)
