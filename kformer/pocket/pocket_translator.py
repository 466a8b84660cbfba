"""Runs a `.tflite` translator with NumPy and ai-edge-litert, without TensorFlow."""

import copy
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from kformer.arguments import as_texts, check_target_language, text_or_texts
from kformer.kinds import TRANSLATOR
from kformer.pocket.metadata import METADATA_RULE
from kformer.pocket.pocket_model import SOURCE_CUT, PocketModel
from kformer.pocket.pocket_terms import TermSearch, can_search_terms
from kformer.pocket.pocket_text import text_in
from kformer.text.degenerate import degenerate_flags
from kformer.text.forced_terms import flagged_answers
from kformer.text.glossary import Glossary, check_glossary
from kformer.text.paragraphs.split_translation import (
    SplitTranslation,
    check_split,
    translate_split,
)
from kformer.text.quality_estimate import estimate_in
from kformer.text.source_marks import TERMS, marked_sources, reads_marks
from kformer.text.zero_shot import warn_of_zero_shot

TRANSLATION_CUT = 2  # A bit of the output `truncated`.


class PocketTranslation(NamedTuple):
    """A translation of a sentence.

    Attributes:
        text: The translation.
        flags: Its problems, usually none: "source cut", "length limit", "loop", "length ratio",
            "unsure", as in `kformer.Translation`; "translation cut": there was no room for its end.
        score: The score of the search, which `kformer.Greedy` and `kformer.Beam` define.
        quality: Estimate of its chrF, from 0 to 1; None if the file has none.
    """

    text: str
    flags: tuple[str, ...]
    score: float
    quality: float | None = None


class PocketTranslator(PocketModel):
    """A `.tflite` translator; any number of threads may share one.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Maximum number of sentences or batches translated at the same time, each on one
            core, by all threads together; by default the number of cores. One call uses several
            only if it has many sentences. Large files run in processes, others in threads.

    Attributes:
        manifest: dict, the metadata of the file.
        quality_estimate: The translator's `QualityEstimate`; None for none.

    Raises:
        FileNotFoundError: A file is missing.
        TypeError: `workers` is no integer.
        ValueError: `workers` is under 1; or a file is malformed, of another kind or of a newer
            format.

    Examples:
        >>> from kformer.pocket import PocketTranslator
        >>> translator = PocketTranslator("de-en.tflite")
        >>> translator.translate("Ein Hund läuft.")
        'A dog runs.'
        >>> translator.translate(["Ein Hund läuft.", ""])
        ['A dog runs.', '']
    """

    kind = TRANSLATOR
    signature = "translate"
    bulk_signature = "translate_ids"

    def __init__(self, path: str | Path, workers: int | None = None):
        super().__init__(path, workers)
        self._languages = self.manifest.get("target_languages", {})
        self._target_language = self.manifest.get("target_language")
        self.quality_estimate = estimate_in(
            self.manifest.get("quality_estimate"), METADATA_RULE, path
        )

    @property
    def target_languages(self) -> tuple[str, ...]:
        """The languages to choose from; empty if the model has no choice."""
        return tuple(self._languages)

    @property
    def target_language(self) -> str | None:
        """The language that this translator translates into, or None if it is not known."""
        return self._target_language

    def into(self, target_language: str | None) -> Self:
        """Returns a translator into one language, which runs the same file with the same workers.

        Args:
            target_language: One of `target_languages`; None returns this translator.

        Raises:
            ValueError: The file has no such target language.
        """
        check_target_language(target_language, self._languages)
        if target_language is None:
            return self
        translator = copy.copy(self)
        translator._text, translator._languages = self._text.into(target_language), {}
        translator._target_language = target_language
        return translator

    @text_or_texts
    def translate(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        *,
        split: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[str]:
        """Translates texts like `kformer.Translator.translate`; the export chose the search.

        Raises:
            ValueError: With a `glossary`, the file can neither read terms nor decode step by step.
        """
        check_split(split, source_language)
        into = self.into(target_language)
        if split:
            answers = into._split(texts, source_language, progress, glossary)
            return [translation.text for translation in answers]
        answers = into._best(texts, "translated", progress, glossary)
        return [best.text for best in answers]

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[list[PocketTranslation]]:
        """Translates texts; returns for each a list of its one translation, with flags."""
        answers = self.into(target_language)._best(texts, "translated", progress, glossary)
        return [[best] for best in answers]

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        source_language: str | None = None,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, like `kformer.Translator.split_translations`.

        Args:
            texts: list of strings, each of any number of sentences; or one string.
            source_language: Their language; by default the language in the file's metadata.
            progress: Called with the number of texts done, in proportion to their sentences.
            target_language: One of `target_languages`, if there are any.
            glossary: As for `translate`.
        """
        return self.into(target_language)._split(texts, source_language, progress, glossary)

    def _split(self, texts, source_language, progress, glossary):
        glossary = self._checked(glossary)

        def find(sentences, progress):
            return self._best(sentences, None, progress, glossary)

        if source_language is None:
            source_language = self.manifest.get("source_language")
        directions = self.manifest.get("directions")
        warn_of_zero_shot(directions, source_language, self._target_language)
        return translate_split(find, texts, source_language, progress)

    def _checked(self, glossary):
        """Returns the `kformer.Glossary` of an argument, or None."""
        glossary = check_glossary(glossary)
        if glossary is not None:
            self.check_takes_glossary()
        return glossary

    def check_takes_glossary(self):
        """Raises a ValueError if the file can neither read terms nor score translations."""
        if not can_search_terms(self.manifest) and not reads_marks(self.manifest, TERMS):
            raise ValueError(
                "A glossary needs a .tflite file with the signatures `encode` and `decode_step` "
                "and with one vocabulary, or a model that was trained with terms. Received: "
                f"glossary with {self.manifest.get('signatures', 'a file without signatures')}."
            )

    def _best(self, texts, did, progress, glossary):
        """Returns the best translation of each text, with the terms of a glossary."""
        glossary = self._checked(glossary)
        if glossary is None:
            return self._answers(texts, did, progress)
        texts = as_texts(texts, "texts")
        marked = marked_sources(glossary, texts, self.manifest)
        best = self._answers(marked, did, progress)
        search = TermSearch(self._team, self._text, self.manifest, marked, self._new_answer)
        forced = search.forced(glossary, texts, [answer.text for answer in best])
        return [answer for [answer] in flagged_answers([[answer] for answer in best], forced)]

    def _new_answer(self, text, source, ids, score):
        """Returns a translation that was searched step by step."""
        return PocketTranslation(text, self._flags(source, False, np.array(ids)), score)

    def _read_text(self, outputs, over):
        source, ids = outputs["source_ids"], outputs["ids"]
        row = source[source != self.manifest["padding_id"]].tolist()
        cut = over or bool(int(outputs["truncated"][0]) & SOURCE_CUT)
        flags = self._flags(row, cut, ids)
        end_missing = int(outputs["truncated"][0]) & TRANSLATION_CUT
        flags += ("translation cut",) if end_missing else ()
        return self._translation(text_in(outputs["translation"]), flags, outputs)

    def _read_row(self, worker, outputs, source, cut, length):
        ids = outputs["ids"]
        text, end_missing = self._text.decode(worker, ids)
        flags = self._flags(source, cut, ids)
        flags += ("translation cut",) if end_missing else ()
        return self._translation(text, flags, outputs), end_missing

    def _translation(self, text, flags, outputs):
        score, quality = (_number(outputs, name) for name in ("score", "quality"))
        if self.quality_estimate:
            flags += self.quality_estimate.flags(quality)
        return PocketTranslation(text, flags, score, quality)

    def _flags(self, source, cut, ids):
        """Returns the flags of `ids`, an array, for the ids of their source, its end id last."""
        flags = ["source cut"] if cut else []
        if len(source) == 1:  # Blank input gets no further flags.
            return tuple(flags)
        end_id = self.manifest.get("target_end_id", self.manifest["end_id"])
        ids = ids.tolist()
        if end_id in ids:
            ids = ids[: ids.index(end_id)]
        else:
            flags.append("length limit")
            padding_id = self.manifest.get("target_padding_id", self.manifest["padding_id"])
            while ids and ids[-1] == padding_id:
                ids.pop()
        return (*flags, *degenerate_flags(source[:-1], ids))


def _number(outputs, name):
    """Returns the one number in an output; None if the file lacks it."""
    return float(np.ravel(outputs[name])[0]) if name in outputs else None
