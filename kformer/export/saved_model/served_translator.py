"""Classes that run the SavedModel of a translator, classifier or language model in Python."""

import copy
import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Self

import numpy as np

from kformer.arguments import as_texts, check_target_language, prompt_or_prompts, text_or_texts
from kformer.decoding.search_options import SearchOptions
from kformer.export.saved_model.served_model import ServedModel
from kformer.serving import ServedTranslation
from kformer.serving.answers import ServedGeneration
from kformer.serving.request_rows import (
    read_best,
    read_class,
    read_generation,
    read_score,
    read_tags,
    warn_of_cut,
)
from kformer.text.degenerate import check_prompts
from kformer.text.forced_terms import Draft, flagged_answers, force_terms
from kformer.text.glossary import Glossary, check_glossary
from kformer.text.labels import Predictions, Tagging, predicts, tagger_text, tagging
from kformer.text.paragraphs.split_translation import (
    SplitTranslation,
    check_split,
    translate_split,
)
from kformer.text.quality_estimate import estimate_in
from kformer.text.source_marks import marked_sources
from kformer.text.zero_shot import warn_of_zero_shot

_REPORT_RULE = "The export report of a SavedModel must be as the export wrote it."


class ServedTranslator(ServedModel):
    """Runs the SavedModel of a translator in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.
        quality_estimate: The translator's `QualityEstimate`; None for none.

    Raises:
        ValueError: The folder holds no such model.

    Examples:
        >>> from kformer.export import ServedTranslator
        >>> translator = ServedTranslator("served/de-en")
        >>> translator.translate("Ein Hund läuft.")
        'A dog runs.'
        >>> translator.max_batch_size, sorted(translator.signatures)[:3]
        (64, ['beam', 'encode', 'score'])
    """

    _target_language: str | None = None
    _outputs = ("translation", "truncated")

    def __init__(self, path: str | Path):
        super().__init__(path)
        self._languages = tuple(self.report.get("target_languages", ()))
        self.quality_estimate = estimate_in(self.report.get("quality_estimate"), _REPORT_RULE, path)

    @property
    def target_languages(self) -> tuple[str, ...]:
        """The languages to choose from; empty if the model has no choice."""
        return self._languages

    @property
    def target_language(self) -> str | None:
        """The language that this translator translates into, or None if it is not known."""
        return self._target_language or self.report.get("target_language")

    def into(self, target_language: str | None) -> Self:
        """Returns a translator into one language, with the same SavedModel."""
        check_target_language(target_language, self._languages)
        if target_language is None:
            return self
        translator = copy.copy(self)
        translator._target_language, translator._languages = target_language, ()
        return translator

    @text_or_texts
    def translate(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        *,
        split: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[str]:
        """Translates texts like `kformer.Translator.translate`; the export chose the search.

        With a `glossary`, a missing term takes the place of a word, or stands between two, where
        the signature `score` finds the translation likeliest.
        """
        check_split(split, source_language)
        into = self.into(target_language)
        if split:
            translations = into._split(texts, source_language, batch_size, progress, glossary)
            return [translation.text for translation in translations]
        return [best.text for [best] in into._translations(texts, batch_size, progress, glossary)]

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[list[ServedTranslation]]:
        """As `translate`, but with scores and flags: for each text a list of its best one."""
        into = self.into(target_language)
        return into._translations(texts, batch_size, progress, glossary)

    def _inputs(self, texts):
        check_target_language(None, self._languages)
        inputs = super()._inputs(texts)
        if self._target_language is not None:
            inputs["target_language"] = [self._target_language] * len(texts)
        return inputs

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        source_language: str | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, like `kformer.Translator.split_translations`."""
        into = self.into(target_language)
        return into._split(texts, source_language, batch_size, progress, glossary)

    def _split(self, texts, source_language, batch_size, progress, glossary):
        glossary = check_glossary(glossary)
        directions = self.report.get("directions")
        warn_of_zero_shot(directions, source_language, self.target_language)

        def find(sentences, progress):
            answers = self._best(sentences, batch_size, progress, glossary)
            return [best for [best] in answers]

        return translate_split(find, texts, source_language, progress)

    def check_takes_glossary(self):
        """Raises a ValueError if the SavedModel cannot score translations."""
        if "score" not in self.signatures:
            raise ValueError(
                "A glossary needs a SavedModel with the signature `score`. "
                f"Received: one with {', '.join(self.signatures)}."
            )

    def _best(self, texts, batch_size, progress, glossary):
        texts = as_texts(texts, "texts")
        if glossary is not None:
            self.check_takes_glossary()
        marked = marked_sources(glossary, texts, self.report)
        best = self._answers("serving_default", read_best, marked, batch_size, progress)
        if glossary is None:
            return best
        search = _TermSearch(self, marked, best, batch_size)
        translations = [answer.text for [answer] in best]
        return flagged_answers(best, force_terms(glossary, texts, translations, search.score))

    def _scores(self, sources, targets, batch_size):
        """Returns the `ServedScore` of each pair."""
        return self._answers("score", read_score, sources, batch_size, None, targets)

    def _translations(self, texts, batch_size, progress, glossary):
        translations = self._best(texts, batch_size, progress, check_glossary(glossary))
        warn_of_cut([best.flags for [best] in translations], "translated")
        return translations


class _TermSearch:
    """Scores translations of some sentences, by number, for `force_terms`."""

    def __init__(self, translator: ServedTranslator, texts: list, best: list, batch_size: int):
        self._translator, self._texts, self._best = translator, texts, best
        self._batch_size = batch_size
        report = translator.report
        names = ("beam_size", "length_penalty")  # Early reports lack "search".
        search = report.get("search", {name: report[name] for name in names})
        self._options = SearchOptions(**search)

    def score(self, numbers: list[int], texts: list[str]) -> list[Draft]:
        """Scores given translations."""
        sources = [self._texts[number] for number in numbers]
        options, drafts = self._options, []
        scores = self._translator._scores(sources, texts, self._batch_size)
        for number, text, scored in zip(numbers, texts, scores, strict=True):
            total = score = scored.log_probability
            if options.beam_size > 1:
                score = options.normalized(total, scored.length)
            [first] = self._best[number]
            flags = tuple(flag for flag in first.flags if flag == "source cut")
            if estimate := self._translator.quality_estimate:
                flags += estimate.flags(scored.quality)
            answer = ServedTranslation(text, score, flags, scored.quality)
            drafts.append(Draft(text, total, answer))
        return drafts


class ServedClassifier(ServedModel):
    """Runs the SavedModel of a classifier in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.

    Examples:
        >>> import kformer
        >>> from kformer.export import ServedClassifier, export_saved_model
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> classifier = kformer.TextClassifier(translator.tokenizer, encoder, ["bad", "good"])
        >>> served = ServedClassifier(export_saved_model(classifier, "served/reviews"))
        >>> print(served.labels, served.predict(["Der Film war gut."]).probabilities.shape)
        ('bad', 'good') (1, 2)
    """

    _outputs = ("label", "probabilities", "labels")

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the probabilities."""
        [answer] = self._answers("classify", read_class, [""], 1, None)
        return tuple(answer.probabilities)

    @predicts
    def predict(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> Predictions:
        """Classifies texts like `kformer.TextClassifier.predict`."""
        answers = self._answers("classify", read_class, texts, batch_size, progress)
        warn_of_cut([answer.flags for answer in answers], "classified")
        rows = [[*answer.probabilities.values()] for answer in answers]
        classes = self.signatures["classify"].structured_outputs["probabilities"].shape[-1]
        probabilities = np.array(rows, np.float32).reshape(-1, classes)
        return Predictions([answer.label for answer in answers], probabilities)


class ServedTagger(ServedModel):
    """Runs the SavedModel of a tagger in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.

    Examples:
        >>> import kformer
        >>> from kformer.export import ServedTagger, export_saved_model
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> tagger = kformer.TextTagger(translator.tokenizer, encoder, labels=["B-X", "I-X", "O"])
        >>> served = ServedTagger(export_saved_model(tagger, "served/places"))
        >>> served.tag(["Tom fährt nach Ulm"])[0].words
        ['Tom', 'fährt', 'nach', 'Ulm']
    """

    _outputs = ("labels", "probabilities")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the tagger."""
        return tuple(self.report["labels"])

    @text_or_texts
    def tag(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> list[Tagging]:
        """Labels the words of each text, as `kformer.TextTagger.tag`."""
        texts = as_texts(texts, "texts")
        cleaned = [*map(tagger_text, texts)]
        answers = self._answers("tag", read_tags, cleaned, batch_size, progress)
        warn_of_cut([flags for *_, flags in answers], "tagged")
        return [tagging(text, *answer[:2]) for text, answer in zip(texts, answers, strict=True)]


class ServedLanguageModel(ServedModel):
    """Runs the SavedModel of a language model in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of prompts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.

    Examples:
        >>> import kformer
        >>> from kformer.export import ServedLanguageModel, export_saved_model
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
        >>> decoder = kformer.TransformerDecoder(tokenizer.vocab_size, **sizes)
        >>> model = kformer.LanguageModel(tokenizer, decoder, max_length=16)
        >>> served = ServedLanguageModel(export_saved_model(model, "served/text"))
        >>> served.generate(["A dog"])[0].startswith("A dog")
        True
    """

    _outputs = ("generation", "score")

    @prompt_or_prompts
    def generate(
        self,
        prompts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> list[str]:
        """Continues prompts like `kformer.LanguageModel.generate`; the export chose the search."""
        return [best.text for [best] in self.generations(prompts, batch_size, progress)]

    @prompt_or_prompts
    def generations(
        self,
        prompts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> list[list[ServedGeneration]]:
        """As `generate`, but with scores and flags: for each prompt a list of its best one."""
        generations = self._answers("generate", read_generation, prompts, batch_size, progress)
        check_prompts(best.flags for [best] in generations)
        return generations
