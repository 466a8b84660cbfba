"""Runs a folder of CTranslate2 and the SentencePiece models in it, without TensorFlow."""

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import sentencepiece

from kformer.arguments import as_texts, one_or_many
from kformer.files import check_file
from kformer.inference.any_translator import AnyTranslator
from kformer.inference.degenerate import degenerate_flags
from kformer.inference.engine import Engine, Rated, SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.quality_estimate import Evidence, estimate_in
from kformer.inference.results import Translation
from kformer.inference.search_options import EXTRA_LENGTH, SearchOptions
from kformer.json_files import read_json
from kformer.serving.request_rows import warn_of_cut
from kformer.text.alignment import WordAlignment, align_words
from kformer.text.paragraphs.joining import SPACE
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


class CTranslate2Translator(AnyTranslator):
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

    @functools.cached_property
    def engine(self) -> "CTranslate2Engine":
        """The engine that runs CTranslate2."""
        return CTranslate2Engine(self)

    @one_or_many
    def encode(self, texts: Iterable[str], progress: Callable[[int], object] | None = None):
        """Raises a ValueError: CTranslate2 gives no vectors of a translator's encoder."""
        raise ValueError(
            "CTranslate2 gives no vectors of texts: a .keras file, a SavedModel and a .tflite file "
            f"do. Received: {len(as_texts(texts, 'texts'))} texts."
        )


class CTranslate2Engine(Engine):
    """Searches and scores with CTranslate2.

    Args:
        model: `CTranslate2Translator`.
    """

    def __init__(self, model: CTranslate2Translator):
        self._model = model

    @functools.cached_property
    def facts(self) -> ModelFacts:
        """The facts about the model."""
        about = self._model.about
        return ModelFacts(
            about=about,
            encodes=False,
            target_language=about.get("target_language"),
            search=self._model.options,
            choices=None,
            scores=True,
            scores_tokens=True,
            continues=True,
            aligns=True,
            no_terms=None,
            quality_estimate=self._model.quality_estimate,
        )

    def options(self, chosen: dict[str, Any]) -> SearchOptions:
        """Returns the complete options of a search, if CTranslate2 has them."""
        options = super().options(chosen)
        check_search(options)
        return options

    def search(self, sentences: list[str], request: SearchRequest) -> list[list[Translation]]:
        """Returns the translations of sentences, best first."""
        answers = self._searched(sentences, request)
        if request.did:
            warn_of_cut([best.flags for best, *_ in answers], request.did)
        return answers

    def rate(
        self, sentences: list[str], translations: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns the probabilities of given translations, token by token."""
        model, options = self._model, request.options
        whole = model._source.encode(sentences)
        rows = [row[: model._longest] for row in whole]
        targets = [ids[: model._limit - 1] for ids in model._target.encode(translations)]
        pieces = [model._target.id_to_piece(ids) for ids in targets]
        results = model._translator.score_batch(
            [model._source.id_to_piece(row) for row in rows],
            pieces,
            max_batch_size=_BATCH,
            max_input_length=0,
        )
        rated = []
        for i, result in enumerate(results):
            logs = result.log_probs  # Of the pieces and of the end.
            total = sum(logs)
            score = options.normalized(total, len(logs)) if options.beam_size > 1 else total
            flags = ("source cut",) if len(whole[i]) > len(rows[i]) else ()
            text = model._target.decode(targets[i])  # Without characters that it lacks.
            answer = self._answer(text, score, flags, rows[i], targets[i], total, logs)
            rated.append(Rated(answer, total, pieces[i], logs[: len(pieces[i])]))
        return rated

    def go_on(
        self, sentences: list[str], beginnings: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns translations with given beginnings.

        CTranslate2 gives a search no score for the pieces that it was told to begin with, so the
        continued translations are scored as well.
        """
        target = self._model._target
        prefixes = [target.id_to_piece(ids) for ids in target.encode(beginnings)]
        answers = self._searched(sentences, request, prefixes)
        return self.rate(sentences, [best.text for best, *_ in answers], request)

    def align(
        self,
        sentences: list[str],
        translations: list[str],
        progress: Callable[[int], object] | None = None,
    ) -> list[WordAlignment]:
        """Returns the links of the words of translations to those of their sources.

        CTranslate2 gives the attention of a search that begins with the whole translation.
        """
        model = self._model
        sources = [row[: model._longest] for row in model._source.encode(sentences)]
        targets = [ids[: model._limit - 1] for ids in model._target.encode(translations)]
        pairs = [
            (model._source.id_to_piece(source), model._target.id_to_piece(target))
            for source, target in zip(sources, targets, strict=True)
        ]
        waiting = [
            model._translator.translate_batch(
                [source],
                target_prefix=[target],
                beam_size=1,
                max_input_length=0,
                max_decoding_length=len(target),
                return_attention=True,
                asynchronous=True,
            )[0]
            if source and target
            else None
            for source, target in pairs
        ]
        alignments = []
        for (source, target), begun in zip(pairs, waiting, strict=True):
            shape = len(target), len(source)
            attention = np.zeros(shape) if begun is None else begun.result().attention[0]
            skipped = model._added - 1  # The token of a language.
            rows = np.array(attention)[: shape[0], skipped : skipped + shape[1]]
            alignments.append(align_words(rows.reshape(shape), source, target))
            if progress:
                progress(1)
        return alignments

    def _searched(self, sentences, request, prefixes=None):
        """Returns the translations of sentences, which may begin with given pieces."""
        model, rows = self._model, self._model._source.encode(sentences)
        by_length = defaultdict(list)
        for i, row in enumerate(rows):
            begun = len(prefixes[i]) if prefixes else 0
            by_length[min(len(row), model._longest), begun].append(i)
        size = max(1, 4 * _BATCH // max(4, request.options.beam_size))
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
                request.options,
                prefixes and [prefixes[i] for i in places],
            )
            for length, places in batches
        ]
        answers: list[Any] = [None] * len(rows)
        for (length, places), results in zip(batches, waiting, strict=True):
            for i, result in zip(places, results, strict=True):
                answers[i] = self._answers(rows[i], length, result.result(), request.options)
            if request.progress:
                request.progress(len(places))
        return answers

    def _begun(self, rows, length, options, prefixes):
        """Returns the results of a batch, which wait until they are ready."""
        model, source_length = self._model, length + self._model._added
        begun = len(prefixes[0]) if prefixes else 0
        limit = min(options.limit(source_length, begun), model._limit)
        return model._translator.translate_batch(
            [model._source.id_to_piece(row) for row in rows],
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

    def _answers(self, source, length, result, options):
        """Returns the best translations of a source, each another text."""
        model, cut = self._model, ("source cut",) if len(source) > length else ()
        if not source:  # A blank text: CTranslate2 would translate the end alone.
            return [Translation("", 0.0, quality=1.0 if model.quality_estimate else None)]
        answers: dict[str, Any] = {}
        for score, pieces in _ranked(result, options):
            flags, ids = (*cut, "length limit"), model._target.piece_to_id(pieces)
            if ids and ids[-1] == model._target.eos_id():
                flags = cut
                ids.pop()
            text = model._target.decode(ids)
            if text not in answers:
                total = options.log_probability(score, len(pieces))
                row = source[:length]
                answers[text] = self._answer(text, score, flags, row, ids, total, pieces)
            if len(answers) == options.n_best:
                break
        return [*answers.values()]

    def _answer(self, text, score, flags, source, ids, total, tokens):
        """Returns a translation with the flags of its ids and, if it is estimated, its quality."""
        model, quality = self._model, None
        flags += degenerate_flags(source, ids)
        if estimate := model.quality_estimate:
            words = sum(piece.startswith(SPACE) for piece in model._source.id_to_piece(source))
            pieces = max(1, len(source) + model._added - 1)  # With a language's, without the end.
            evidence = Evidence(total, len(tokens), pieces, len(ids), words)
            quality = float(estimate.quality(evidence))
            flags += estimate.flags(quality)
        return Translation(text, score, flags, quality=quality)


def _ranked(result, options):
    """Returns pairs of a score and the pieces of a sequence with its end, best first."""
    pairs = zip(result.scores, result.hypotheses, strict=True)
    if options.beam_size == 1:
        return [*pairs]
    scored = [(options.normalized(total, len(pieces)), pieces) for total, pieces in pairs]
    return sorted(scored, key=lambda pair: pair[0], reverse=True)


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
