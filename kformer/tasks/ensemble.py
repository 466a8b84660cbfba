"""`Ensemble`: several translators that translate together.

Axes: S source length, T target length, M models.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Unpack

import numpy as np

from kformer.arguments import pair_or_pairs, text_or_texts
from kformer.decoding.batch_decoder import BatchDecoder
from kformer.decoding.scoring import BatchLikelihood, Scored, TargetScores
from kformer.decoding.search_options import OtherSearchOptions, SearchOptions
from kformer.kinds import TRANSLATOR
from kformer.tasks.translation import Translation
from kformer.tasks.translator import Translator
from kformer.tasks.word_alignment import index_of
from kformer.text.glossary import Glossary
from kformer.text.paragraphs.split_translation import SplitTranslation


class Ensemble:
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
    def target_language(self) -> str | None:
        """Code of the language of the translations, such as "de"; None if it is unknown."""
        return self._translator.target_language

    @text_or_texts
    def translate(
        self,
        texts: Iterable[str],
        beam_size: int | None = None,
        length_penalty: float | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        *,
        prefixes: Iterable[str] | None = None,
        split: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
        **options: Unpack[OtherSearchOptions],
    ) -> list[str]:
        """Translates any number of sentences, as `kformer.Translator.translate` does."""
        return self._translator.translate(
            texts,
            beam_size,
            length_penalty,
            batch_size,
            progress,
            prefixes=prefixes,
            split=split,
            source_language=source_language,
            target_language=target_language,
            glossary=glossary,
            **options,
        )

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        options: SearchOptions | None = None,
        prefixes: Iterable[str] | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        details: bool = True,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[list[Translation]]:
        """As `translate`, but returns objects, as `kformer.Translator.translations` does.

        Token scores are logarithms of the mean probabilities. The attention is the mean over the
        models, each with its `alignment_head`.
        """
        return self._translator.translations(
            texts, options, prefixes, batch_size, progress, details, target_language, glossary
        )

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        options: SearchOptions | None = None,
        source_language: str | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, as `kformer.Translator.split_translations` does."""
        return self._translator.split_translations(
            texts, options, source_language, batch_size, progress, target_language, glossary
        )

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
