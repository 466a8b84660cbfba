"""Runs a folder of CTranslate2 and the SentencePiece models in it, without TensorFlow."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

import sentencepiece

from kformer.arguments import as_texts, check_target_language, one_or_many, text_or_texts
from kformer.decoding.search_options import EXTRA_LENGTH, SearchOptions
from kformer.files import check_file
from kformer.json_files import read_json
from kformer.serving.answers import ServedTranslation
from kformer.serving.request_rows import warn_of_cut
from kformer.text.degenerate import degenerate_flags
from kformer.text.forced_terms import Draft, flagged_answers, force_terms, word_losses
from kformer.text.glossary import Glossary, check_glossary
from kformer.text.paragraphs.split_translation import SplitTranslation, check_split, translate_split
from kformer.text.quality_estimate import Evidence, estimate_in
from kformer.text.source_marks import marked_sources
from kformer.text.vocabulary import SPACE
from kformer.text.zero_shot import warn_of_zero_shot
from kformer.threads import available_cores

SIDES = ("source.spm", "target.spm")
DESCRIPTION = "kformer.json"
LONGEST = 1024  # Ids of a source, in folders that kformer has not described.
_BATCH = 64  # Sentences of one batch, with up to 4 beams.
_REFUSED = ("sample", "coverage_penalty")


class _Config(TypedDict):
    add_source_bos: bool


class _Description(TypedDict):
    max_source_length: NotRequired[int]
    max_target_length: NotRequired[int]
    search: NotRequired[dict]
    quality_estimate: NotRequired[dict]
    source_language: NotRequired[str | None]
    target_language: NotRequired[str | None]
    directions: NotRequired[list[str]]


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


def check_search(options: SearchOptions):
    """Raises a ValueError if CTranslate2 cannot search with these options.

    Its random numbers differ from kformer's, and it covers a source with the attention of one head,
    kformer with the mean over all heads.
    """
    changed = options.changed
    if received := [f"{name}={changed[name]}" for name in _REFUSED if name in changed]:
        raise ValueError(
            "A folder of CTranslate2 searches without samples and without a coverage penalty, "
            f"which CTranslate2 computes otherwise. Received: {', '.join(received)}."
        )


class CTranslate2Translator:
    """Translates like `kformer.Translator`, with the search that was chosen at the export.

    It is the fastest form for large files. CTranslate2 has one limit of length for a batch, so
    sentences of one length make a batch. With several beams, CTranslate2 returns as many finished
    sequences as beams, and the scores of `kformer.Beam` rank them. CTranslate2 stops when there are
    as many, where `kformer.Beam` may go on, so a few translations differ.

    Args:
        path: A folder of `export_ctranslate2`.
        workers: Maximum number of batches translated at the same time, each on one core; by default
            the number of cores.
        options: `kformer.SearchOptions` to search with instead of those in the folder.

    Attributes:
        about: dict, the description of the model: its languages, licence and so on.
        options: `kformer.SearchOptions` of the search. Older folders have greedy search.
        quality_estimate: The translator's `QualityEstimate`; None for none.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, ctranslate2 is not installed, or an option is one that
            CTranslate2 does not have.

    Examples:
        >>> import kformer
        >>> from kformer.export import CTranslate2Translator, export_ctranslate2
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> folder = export_ctranslate2(translator, "ct2")
        >>> CTranslate2Translator(folder).translate("Ein Hund läuft.")
        'A dog runs.'
    """

    target_languages: tuple[str, ...] = ()  # A folder has one.

    def __init__(
        self, path: str | Path, workers: int | None = None, options: SearchOptions | None = None
    ):
        path = Path(path)
        rule = "A folder of CTranslate2 must have its settings."
        config = read_json(path / "config.json", _Config, rule=rule)
        for name in ("model.bin", *SIDES):
            check_file(path / name)
        self.about: dict[str, Any] = {}
        if (path / DESCRIPTION).exists():
            rule = "The description of a folder of CTranslate2 must be as the export wrote it."
            self.about = read_json(path / DESCRIPTION, _Description, rule=rule)
        self.options = options or _options_in(path, self.about.pop("search", {}))
        self.quality_estimate = estimate_in(self.about.pop("quality_estimate", None), rule, path)
        check_search(self.options)
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
        longest = self.about.get("max_source_length", LONGEST)
        self._longest = longest - self._added
        # The number of positions in the folder.
        self._limit = self.about.get("max_target_length", max(LONGEST, longest + EXTRA_LENGTH))

    @property
    def target_language(self) -> str | None:
        """Code of the language of the translations; None if it is not known."""
        return self.about.get("target_language")

    def into(self, target_language: str | None) -> Self:
        """Returns this translator; raises a ValueError for a language, as there is no choice."""
        check_target_language(target_language, self.target_languages)
        return self

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
        """Translates texts like `kformer.Translator.translate`."""
        check_split(split, source_language)
        self.into(target_language)
        if split:
            answers = self._split(texts, source_language, progress, glossary)
            return [answer.text for answer in answers]
        return [best.text for best, *_ in self._translations(texts, progress, glossary)]

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[list[ServedTranslation]]:
        """As `translate`, but with scores and flags: for each text the `n_best` of its options."""
        self.into(target_language)
        return self._translations(texts, progress, glossary)

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        source_language: str | None = None,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, like `kformer.Translator.split_translations`."""
        self.into(target_language)
        return self._split(texts, source_language, progress, glossary)

    @one_or_many
    def encode(self, texts: Iterable[str], progress: Callable[[int], object] | None = None):
        """Raises a ValueError: CTranslate2 gives no vectors of a translator's encoder."""
        raise ValueError(
            "CTranslate2 gives no vectors of texts: a .keras file, a SavedModel and a .tflite file "
            f"do. Received: {len(as_texts(texts, 'texts'))} texts."
        )

    def _translations(self, texts, progress, glossary):
        glossary = self._checked(glossary)
        answers = self._answers(as_texts(texts, "texts"), progress, glossary)
        warn_of_cut([best.flags for best, *_ in answers], "translated")
        return answers

    def _split(self, texts, source_language, progress, glossary):
        glossary = self._checked(glossary)

        def find(sentences, progress):
            return [best for best, *_ in self._answers(sentences, progress, glossary)]

        language = source_language or self.about.get("source_language")
        target_language = self.about.get("target_language")
        warn_of_zero_shot(self.about.get("directions"), language, target_language)
        return translate_split(find, texts, language, progress)

    def _checked(self, glossary):
        return check_glossary(glossary, n_best=self.options.n_best > 1)

    def _answers(self, texts, progress, glossary):
        """Returns the translations of each text, best first."""
        rows = self._source.encode(marked_sources(glossary, texts, self.about))
        answers = self._searched(rows, progress)
        if glossary is None:
            return answers
        translations = [best.text for best, *_ in answers]
        search = _TermSearch(self, rows)
        forced = force_terms(glossary, texts, translations, search.score, search.go_on, search.lose)
        return flagged_answers(answers, forced)

    def _searched(self, rows, progress=None, prefixes=None):
        """Returns the translations of rows of ids, which may begin with given pieces."""
        by_length = defaultdict(list)
        for i, row in enumerate(rows):
            begun = len(prefixes[i]) if prefixes else 0
            by_length[min(len(row), self._longest), begun].append(i)
        size = max(1, 4 * _BATCH // max(4, self.options.beam_size))
        # The longest first: the last ones to be ready are short.
        batches = [
            (length, places[start : start + size])
            for (length, _), places in sorted(by_length.items(), reverse=True)
            for start in range(0, len(places), size)
        ]
        waiting = [
            self._begun(
                [rows[i][:length] for i in places],
                length,
                prefixes and [prefixes[i] for i in places],
            )
            for length, places in batches
        ]
        answers: list[Any] = [None] * len(rows)
        for (length, places), results in zip(batches, waiting, strict=True):
            for i, result in zip(places, results, strict=True):
                answers[i] = self._answer(rows[i], length, result.result())
            if progress:
                progress(len(places))
        return answers

    def _begun(self, rows, length, prefixes):
        """Returns the results of a batch, which wait until they are ready."""
        options, source_length = self.options, length + self._added
        begun = len(prefixes[0]) if prefixes else 0
        limit = min(options.limit(source_length, begun), self._limit)
        return self._translator.translate_batch(
            [self._source.id_to_piece(row) for row in rows],
            target_prefix=prefixes,
            max_batch_size=len(rows),
            beam_size=options.beam_size,
            num_hypotheses=options.beam_size,
            length_penalty=0,  # `_ranked` has kformer's own.
            repetition_penalty=options.repetition_penalty,
            no_repeat_ngram_size=options.no_repeat_ngram,
            max_input_length=0,
            min_decoding_length=options.minimum(source_length, limit),
            max_decoding_length=limit,
            return_scores=True,
            return_end_token=True,
            asynchronous=True,
        )

    def _answer(self, source, length, result):
        """Returns the best translations of a source, each another text."""
        cut = ("source cut",) if len(source) > length else ()
        if not source:  # A blank text: CTranslate2 would translate the end alone.
            return [ServedTranslation("", 0.0, quality=1.0 if self.quality_estimate else None)]
        answers: dict[str, Any] = {}
        for score, pieces in self._ranked(result):
            flags, ids = (*cut, "length limit"), self._target.piece_to_id(pieces)
            if ids and ids[-1] == self._target.eos_id():
                flags = cut
                ids.pop()
            text = self._target.decode(ids)
            if text not in answers:
                total = self.options.log_probability(score, len(pieces))
                answers[text] = self._rated(text, score, flags, source[:length], ids, total, pieces)
            if len(answers) == self.options.n_best:
                break
        return [*answers.values()]

    def _rated(self, text, score, flags, source, ids, total, tokens):
        """Returns a translation with the flags of its ids and, if it is estimated, its quality."""
        flags += degenerate_flags(source, ids)
        quality = None
        if estimate := self.quality_estimate:
            words = sum(piece.startswith(SPACE) for piece in self._source.id_to_piece(source))
            pieces = max(1, len(source) + self._added - 1)  # With a language's, without the end.
            evidence = Evidence(total, len(tokens), pieces, len(ids), words)
            quality = float(estimate.quality(evidence))
            flags += estimate.flags(quality)
        return ServedTranslation(text, score, flags, quality)

    def _ranked(self, result):
        """Returns pairs of a score and the pieces of a sequence with its end, best first."""
        options = self.options
        pairs = zip(result.scores, result.hypotheses, strict=True)
        if options.beam_size == 1:
            return [*pairs]
        scored = [(options.normalized(total, len(pieces)), pieces) for total, pieces in pairs]
        return sorted(scored, key=lambda pair: pair[0], reverse=True)


class _TermSearch:
    """Scores and continues translations of some sentences, by number, for `force_terms`.

    CTranslate2 gives a search no score for the pieces that it was told to begin with, so the
    continued translations are scored as well.
    """

    def __init__(self, translator: CTranslate2Translator, rows: list):
        self._translator, self._rows = translator, rows

    def score(self, numbers: list[int], texts: list[str]) -> list[Draft]:
        """Scores given translations."""
        translator, options = self._translator, self._translator.options
        rows = [self._rows[number][: translator._longest] for number in numbers]
        targets = translator._target.encode(texts)
        results = self._log_probabilities(rows, targets)
        drafts = []
        for number, row, ids, result in zip(numbers, rows, targets, results, strict=True):
            text = translator._target.decode(ids)  # Without characters that it lacks.
            total = sum(result)
            score = options.normalized(total, len(result))
            flags = ("source cut",) if len(self._rows[number]) > len(row) else ()
            score = score if options.beam_size > 1 else total
            answer = translator._rated(text, score, flags, row, ids, total, result)
            drafts.append(Draft(text, total, answer))
        return drafts

    def go_on(self, numbers: list[int], beginnings: list[str]) -> list[Draft]:
        """Translates from given beginnings on."""
        target = self._translator._target
        rows = [self._rows[number] for number in numbers]
        prefixes = [target.id_to_piece(ids) for ids in target.encode(beginnings)]
        answers = self._translator._searched(rows, prefixes=prefixes)
        return self.score(numbers, [best.text for best, *_ in answers])

    def lose(self, numbers: list[int], sources: list[str], texts: list[str]) -> list[list[float]]:
        """Returns what the words of translations lose in log-probability with other sources."""
        translator = self._translator
        rows = [self._rows[number][: translator._longest] for number in numbers]
        changed = [ids[: translator._longest] for ids in translator._source.encode(sources)]
        targets = [ids[: translator._limit - 1] for ids in translator._target.encode(texts)]
        before, after = (self._log_probabilities(ids, targets) for ids in (rows, changed))
        return [
            word_losses(translator._target.id_to_piece(ids), first[: len(ids)], second[: len(ids)])
            for ids, first, second in zip(targets, before, after, strict=True)
        ]

    def _log_probabilities(self, rows, targets) -> list[list[float]]:
        """Returns the log-probabilities of the pieces of each target, and of its end."""
        translator = self._translator
        results = translator._translator.score_batch(
            [translator._source.id_to_piece(row) for row in rows],
            [translator._target.id_to_piece(ids)[: translator._limit - 1] for ids in targets],
            max_batch_size=_BATCH,
            max_input_length=0,
        )
        return [result.log_probs for result in results]


def _options_in(path, search):
    """Returns the options of the search in the description of a folder."""
    try:
        return SearchOptions(**search)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "The description of a folder of CTranslate2 must have options of a search. "
            f"Received: {str(path / DESCRIPTION)!r} ({error})."
        ) from error


def _tokenizer(path):
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise ValueError(
            f"A file .spm must be a SentencePiece model. Received: {str(path)!r}."
        ) from error
