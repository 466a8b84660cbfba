"""The engine of a Keras model: searches with its network, scores given translations.

Axes: S source length, T target length.
"""

from typing import Any, NamedTuple

from kformer.decoding.batch_decoder import Hypothesis
from kformer.inference.engine import Engine, Rated, SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.results import Translation
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.tasks.distinct_answers import distinct_answers, found_flags
from kformer.tasks.word_alignment import index_of
from kformer.text.text_rows import cut_flags, read_texts, write_texts

_PLAIN_BEAM = {"beam_size", "length_penalty", "length_offset"}


class KerasCandidate(NamedTuple):
    """A translation that a search found.

    Attributes:
        text: The translation.
        source: The ids of its source, the end id last.
        hypothesis: Its `Hypothesis`.
        cut: Flags of texts that were cut.
    """

    text: str
    source: list[int]
    hypothesis: Hypothesis
    cut: tuple[str, ...]


class KerasEngine(Engine):
    """Searches with the network of a `kformer.Translator`.

    Args:
        translator: `kformer.Translator`.
    """

    def __init__(self, translator: Any):
        self._translator = translator

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model."""
        translator = self._translator
        return ModelFacts(
            about=translator.about,
            target_languages=tuple(translator.tokenizer.target_languages),
            target_language=translator.about.get("target_language"),
            search=translator._search_defaults,
            choices=None,
            takes_prefixes=True,
            scores=True,
            scores_tokens=True,
            continues=True,
            aligns=translator.has_alignments,
            no_terms=None,
            quality_estimate=translator.quality_estimate,
        )

    def search(self, sentences: list[str], request: SearchRequest) -> list[list[KerasCandidate]]:
        """Returns the translations of sentences, which may begin with prefixes."""
        translator = self._translator
        sources = translator._read(sentences, "Sentence", request.did)
        forced = None
        if request.prefixes is not None:
            forced = translator._read_target(request.prefixes, "Prefix of sentence", "kept")
        hypotheses = self._decode(sources.ids, request, forced and _without_ends(forced.ids))
        answers = distinct_answers(translator.target_tokenizer, hypotheses, request.options)
        rows = [
            (i, hypothesis) for i, hypotheses in enumerate(answers) for hypothesis in hypotheses
        ]
        texts = iter(self._written(hypothesis for _, hypothesis in rows))
        candidates: list[list[KerasCandidate]] = [[] for _ in answers]
        for i, hypothesis in rows:
            cut = cut_flags(i, source=sources, prefix=forced)
            candidates[i].append(KerasCandidate(next(texts), sources.ids[i], hypothesis, cut))
        return candidates

    def finished(
        self, answers: list[list[KerasCandidate]], request: SearchRequest, details: bool
    ) -> list[list[Translation]]:
        """Returns the `Translation` of each, with tokens, flags and quality."""
        translator = self._translator
        flat = [candidate for several in answers for candidate in several]
        scores: list[Any] = [None] * len(flat)
        if details:
            head = index_of(translator.alignment_head)
            ids = [candidate.hypothesis.ids for candidate in flat]
            scores = translator._likelihood([candidate.source for candidate in flat], ids, **head)
        quality_of = translator._quality_of(request.options)
        results = iter(
            self._translation(*pair, quality_of) for pair in zip(flat, scores, strict=True)
        )
        return [[next(results) for _ in several] for several in answers]

    def _translation(self, candidate, tokens, quality_of):
        translator, hypothesis, source = self._translator, candidate.hypothesis, candidate.source
        skipped = translator.tokenizer.prefix_length(source)
        quality, estimate = quality_of(source, hypothesis), translator.quality_estimate
        unsure = estimate.flags(quality) if estimate else ()
        return Translation(
            candidate.text,
            hypothesis.score,
            (*candidate.cut, *found_flags(source, hypothesis), *unsure),
            tuple(translator.target_tokenizer.pieces(hypothesis.ids)),
            tuple(translator.tokenizer.pieces(source[skipped:])),
            tuple(tokens.log_probabilities.tolist()) if tokens else None,
            tokens.attention[:, skipped:] if tokens else None,
            quality,
        )

    def rate(
        self, sentences: list[str], translations: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns the probabilities of given translations, token by token."""
        sources, targets = self._read(sentences), self._targets(translations)
        options = request.options
        scores = self._translator._likelihood(sources.ids, targets)
        totals = [float(tokens.log_probabilities.sum(dtype="float64")) for tokens in scores]
        hypotheses = [
            Hypothesis(ids, _search_score(options, total, len(ids)), ended=True)
            for ids, total in zip(targets, totals, strict=True)
        ]
        pieces = self._translator.target_tokenizer.pieces
        return [
            rated._replace(
                tokens=pieces(rated.candidate.hypothesis.ids[:-1]),
                token_log_probabilities=tokens.log_probabilities[:-1].tolist(),
            )
            for rated, tokens in zip(self._rated(sources, hypotheses, totals), scores, strict=True)
        ]

    def go_on(
        self, sentences: list[str], beginnings: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns translations with given beginnings."""
        sources, options = self._read(sentences), request.options
        lists = self._decode(sources.ids, request, _without_ends(self._targets(beginnings)))
        best = [hypotheses[0] for hypotheses in lists]
        if options.beam_size == 1 or _PLAIN_BEAM.issuperset(options.changed):
            # A score is a log-probability, divided by the length penalty.
            totals = [each.score / _search_score(options, 1.0, len(each.ids)) for each in best]
        else:
            scores = self._translator._likelihood(sources.ids, [each.ids for each in best])
            totals = [float(tokens.log_probabilities.sum(dtype="float64")) for tokens in scores]
        return self._rated(sources, best, totals)

    def _decode(self, rows, request, prefixes):
        return self._translator._decode(
            rows, request.options, prefixes, request.batch_size, request.progress
        )

    def _read(self, sentences):
        """Returns the rows of sentences whose cuts have been warned of."""
        return self._translator._read(sentences, "Sentence", None)

    def _targets(self, texts):
        """Returns the ids of translations, the end id last."""
        translator = self._translator
        most = translator.max_source_length + EXTRA_LENGTH
        return read_texts(translator.target_tokenizer, texts, most, did=None).ids

    def _written(self, hypotheses):
        tokenizer = self._translator.target_tokenizer
        return write_texts(tokenizer, [hypothesis.ids for hypothesis in hypotheses])

    def _rated(self, sources, hypotheses, totals):
        texts = self._written(hypotheses)
        return [
            Rated(
                KerasCandidate(text, sources.ids[i], hypothesis, cut_flags(i, source=sources)),
                total,
            )
            for i, (text, hypothesis, total) in enumerate(
                zip(texts, hypotheses, totals, strict=True)
            )
        ]


def _without_ends(rows):
    return [row[:-1] for row in rows]


def _search_score(options, log_probability, length):
    """Returns the score by which a search sorts."""
    if options.beam_size == 1:
        return log_probability
    return options.normalized(log_probability, length)
