"""Classes that run the SavedModel of a translator, classifier or language model in Python."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kformer.arguments import as_texts, check_target_language, text_or_texts
from kformer.export.saved_model.served_model import ServedModel
from kformer.inference.any_language_model import AnyLanguageModel
from kformer.inference.any_translator import AnyTranslator
from kformer.inference.engine import Engine, Rated, SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.quality_estimate import estimate_in
from kformer.inference.results import Translation
from kformer.inference.search_options import SearchOptions
from kformer.serving.request_rows import (
    read_best,
    read_class,
    read_generation,
    read_score,
    read_several,
    read_tags,
    scored_translation,
    warn_of_cut,
)
from kformer.text.alignment import WordAlignment, align_words
from kformer.text.labels import Predictions, Tagging, predicts, tagger_text, tagging

_ALIGNED_AT_ONCE = 16  # Pairs, whose attention becomes lists of numbers.
_REPORT_RULE = "The export report of a SavedModel must be as the export wrote it."


class ServedTranslator(AnyTranslator, ServedModel):
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

    @functools.cached_property
    def engine(self) -> "SavedModelEngine":
        """The engine that calls the signatures."""
        return SavedModelEngine(self)

    def _into(self, target_language):
        translator = copy.copy(self)
        translator._target_language, translator._languages = target_language, ()
        translator.engine = SavedModelEngine(translator)
        return translator

    def _inputs(self, texts):
        check_target_language(None, self._languages)
        inputs = super()._inputs(texts)
        if self._target_language is not None:
            inputs["target_language"] = [self._target_language] * len(texts)
        return inputs


class SavedModelEngine(Engine):
    """Searches and scores with the signatures of a SavedModel.

    The export chose the search; of its options a caller chooses `n_best` alone, of which the
    signature `beam` has at most as many as it has beams, or 4.

    With a glossary, a missing term takes the place of a word, or stands between two, where the
    signature `score` finds the translation likeliest.

    Args:
        model: `ServedTranslator`.
    """

    def __init__(self, model: ServedTranslator):
        self._model = model

    @functools.cached_property
    def facts(self) -> ModelFacts:
        """The facts about the model."""
        model, report = self._model, self._model.report
        names = ("beam_size", "length_penalty")  # Early reports lack "search".
        search = report.get("search", {name: report[name] for name in names if name in report})
        scores, refusal = "score" in model.signatures, None
        if not scores:
            refusal = (
                "A glossary needs a SavedModel with the signature `score`. "
                f"Received: one with {', '.join(model.signatures)}."
            )
        return ModelFacts(
            **model._own_facts(),
            target_languages=model._languages,
            target_language=model._target_language or report.get("target_language"),
            search=SearchOptions(**search),
            choices=frozenset({"n_best"} if "beam" in model.signatures else ()),
            scores=scores,
            aligns="align" in model.signatures,
            no_terms=refusal,
            quality_estimate=model.quality_estimate,
        )

    def options(self, chosen: dict[str, Any]) -> SearchOptions:
        """Returns the model's own options; with `n_best`, at least as many beams."""
        n_best = chosen.get("n_best", 1)
        options = super().options({key: chosen[key] for key in chosen if key != "n_best"})
        beams = max(options.beam_size, n_best)
        return dataclasses.replace(options, beam_size=beams, n_best=n_best)

    def search(self, sentences: list[str], request: SearchRequest) -> list[list[Translation]]:
        """Returns the best translations of each sentence, as many as there are."""
        n_best = request.options.n_best
        signature, read = ("beam", read_several) if n_best > 1 else ("serving_default", read_best)
        answers = self._model._answers(
            signature, read, sentences, request.batch_size, request.progress
        )
        if request.did:
            warn_of_cut([best.flags for best, *_ in answers], request.did)
        return [several[:n_best] for several in answers]

    def rate(
        self, sentences: list[str], translations: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns the probabilities of given translations."""
        scores = self._model._answers(
            "score", read_score, sentences, request.batch_size, None, translations
        )
        estimate = self._model.quality_estimate
        return [
            scored_translation(text, scored, request.options, estimate)
            for text, scored in zip(translations, scores, strict=True)
        ]

    def align(
        self,
        sentences: list[str],
        translations: list[str],
        progress: Callable[[int], object] | None = None,
    ) -> list[WordAlignment]:
        """Returns the links of the words of translations to those of their sources."""
        return self._model._answers(
            "align", _read_alignment, sentences, _ALIGNED_AT_ONCE, progress, translations
        )


def _read_alignment(row):
    """Reads a row of the signature `align`; pieces that stand for no text are ""."""
    sides = [row["target_pieces"], row["source_pieces"]]
    columns = [[i for i, piece in enumerate(side) if piece] for side in sides]
    pieces = [[side[i] for i in numbers] for side, numbers in zip(sides, columns, strict=True)]
    attention = np.array(row["attention"], np.float32).reshape(*map(len, sides))
    return align_words(attention[np.ix_(*columns)], pieces[1], pieces[0])


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


class ServedLanguageModel(AnyLanguageModel, ServedModel):
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

    def _continued(self, prompts, request, details):
        return self._answers(
            "generate", read_generation, prompts, request.batch_size, request.progress
        )
