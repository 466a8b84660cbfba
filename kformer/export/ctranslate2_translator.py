"""Runs a folder of CTranslate2 and the SentencePiece models in it, without TensorFlow."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

import sentencepiece

from kformer.arguments import as_texts, check_target_language
from kformer.files import check_file
from kformer.json_files import read_json
from kformer.serving.answers import ServedTranslation
from kformer.serving.request_rows import warn_of_cut
from kformer.text.degenerate import degenerate_flags
from kformer.text.paragraphs.split_translation import (
    SplitTranslation,
    check_split,
    translate_split,
)
from kformer.threads import available_cores

SIDES = ("source.spm", "target.spm")
DESCRIPTION = "kformer.json"
_EXTRA_LENGTH = 50  # As `kformer.decoding.search_options.EXTRA_LENGTH`, which needs Keras.
_LONGEST = 1024  # Ids of a source, in folders that kformer has not described.
_BATCH = 64


class _Config(TypedDict):
    add_source_bos: bool


class _Description(TypedDict):
    max_source_length: NotRequired[int]
    source_language: NotRequired[str | None]
    target_language: NotRequired[str | None]


def library():
    """Returns the module `ctranslate2`; raises a ValueError if it is not installed."""
    try:
        import ctranslate2
    except ImportError as error:
        raise ValueError(
            "A folder for CTranslate2 needs a package: pip install 'kformer[ctranslate2]'. "
            "Received: no module named 'ctranslate2'."
        ) from error
    return ctranslate2


class CTranslate2Translator:
    """Translates like `kformer.Translator` by default: greedily, up to 50 ids over the source.

    It is the fastest form for large files. CTranslate2 has one limit of length for a batch, so
    sentences of one length make a batch.

    Args:
        path: A folder of `export_ctranslate2`.
        workers: Maximum number of batches translated at the same time, each on one core; by default
            the number of cores.

    Attributes:
        about: dict, the description of the model: its languages, licence and so on.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or ctranslate2 is not installed.
    """

    target_languages: tuple[str, ...] = ()  # A folder has one.

    def __init__(self, path: str | Path, workers: int | None = None):
        path = Path(path)
        rule = "A folder of CTranslate2 must have its settings."
        config = read_json(path / "config.json", _Config, rule=rule)
        for name in ("model.bin", *SIDES):
            check_file(path / name)
        self.about: dict[str, Any] = {}
        if (path / DESCRIPTION).exists():
            rule = "The description of a folder of CTranslate2 must be as the export wrote it."
            self.about = read_json(path / DESCRIPTION, _Description, rule=rule)
        self._source, self._target = (_tokenizer(path / name) for name in SIDES)
        threads = {"inter_threads": workers or available_cores(), "intra_threads": 1}
        try:
            self._translator = library().Translator(str(path), **threads)
        except (RuntimeError, ValueError, IndexError) as error:
            raise ValueError(
                "A folder of CTranslate2 must hold a model that it runs. "
                f"Received: {str(path)!r} ({str(error).splitlines()[0]:.200})."
            ) from error
        self._added = config["add_source_bos"] + 1  # Lengths count the end, also an ignored one.
        self._longest = self.about.get("max_source_length", _LONGEST) - self._added

    @property
    def target_language(self) -> str | None:
        """Code of the language of the translations; None if it is not known."""
        return self.about.get("target_language")

    def into(self, target_language: str | None) -> Self:
        """Returns this translator; raises a ValueError for a language, as there is no choice."""
        check_target_language(target_language, self.target_languages)
        return self

    def translate(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        *,
        split: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
    ) -> list[str]:
        """Translates texts like `kformer.Translator.translate`, greedily."""
        check_split(split, source_language)
        self.into(target_language)
        if split:
            answers = self._split(texts, source_language, progress)
            return [answer.text for answer in answers]
        return [best.text for [best] in self._translations(texts, progress)]

    def translations(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[list[ServedTranslation]]:
        """As `translate`, but with scores and flags: for each text a list of its best one."""
        self.into(target_language)
        return self._translations(texts, progress)

    def split_translations(
        self,
        texts: Iterable[str],
        source_language: str | None = None,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, like `kformer.Translator.split_translations`."""
        self.into(target_language)
        return self._split(texts, source_language, progress)

    def encode(self, texts: Iterable[str], progress: Callable[[int], object] | None = None):
        """Raises a ValueError: CTranslate2 gives no vectors of a translator's encoder."""
        raise ValueError(
            "CTranslate2 gives no vectors of texts: a .keras file, a SavedModel and a .tflite file "
            f"do. Received: {len(as_texts(texts, 'texts'))} texts."
        )

    def _translations(self, texts, progress):
        answers = self._answers(as_texts(texts, "texts"), progress)
        warn_of_cut([best.flags for best in answers], "translated", stacklevel=4)
        return [[best] for best in answers]

    def _split(self, texts, source_language, progress):
        language = source_language or self.about.get("source_language")
        return translate_split(self._answers, texts, language, progress, stacklevel=4)

    def _answers(self, texts, progress):
        """Returns the translation of each text."""
        rows = self._source.encode(texts)
        by_length = defaultdict(list)
        for i, row in enumerate(rows):
            by_length[min(len(row), self._longest)].append(i)
        # The longest first: the last ones to be ready are short.
        batches = [
            (length, places[start : start + _BATCH])
            for length, places in sorted(by_length.items(), reverse=True)
            for start in range(0, len(places), _BATCH)
        ]
        waiting = [
            self._begun([rows[i][:length] for i in places], length) for length, places in batches
        ]
        answers: list[Any] = [None] * len(rows)
        for (length, places), results in zip(batches, waiting, strict=True):
            for i, result in zip(places, results, strict=True):
                answers[i] = self._answer(rows[i], length, result.result())
            if progress:
                progress(len(places))
        return answers

    def _begun(self, rows, length):
        """Returns the results of a batch, which wait until they are ready."""
        return self._translator.translate_batch(
            [self._source.id_to_piece(row) for row in rows],
            max_batch_size=_BATCH,
            beam_size=1,
            length_penalty=0,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=length + self._added + _EXTRA_LENGTH,
            return_scores=True,
            return_end_token=True,
            asynchronous=True,
        )

    def _answer(self, source, length, result):
        flags = ("source cut",) if len(source) > length else ()
        if not source:  # A blank text: CTranslate2 would translate the end alone.
            return ServedTranslation("", 0.0)
        ids = self._target.piece_to_id(result.hypotheses[0])
        if ids and ids[-1] == self._target.eos_id():
            ids.pop()
        else:
            flags += ("length limit",)
        flags += degenerate_flags(source[:length], ids)
        return ServedTranslation(self._target.decode(ids), result.scores[0], flags)


def _tokenizer(path):
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise ValueError(
            f"A file .spm must be a SentencePiece model. Received: {str(path)!r}."
        ) from error
