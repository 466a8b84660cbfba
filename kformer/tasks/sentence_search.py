"""The search of a translator for translations of sentences, with the terms of a glossary.

Axes: S source length, T target length.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from kformer.arguments import as_texts, check_as_many, check_integer
from kformer.decoding.batch_decoder import Hypothesis
from kformer.decoding.search_options import EXTRA_LENGTH, SearchOptions
from kformer.tasks.translation import distinct_answers, found_flags
from kformer.text.forced_terms import Draft, force_terms, word_losses
from kformer.text.glossary import TERM_MISSED, Glossary, check_glossary
from kformer.text.quality_estimate import QualityEstimate
from kformer.text.source_marks import marked_sources
from kformer.text.text_rows import TextRows, cut_flags, read_texts, write_texts

_PLAIN_BEAM = {"beam_size", "length_penalty", "length_offset"}


class SearchResult(NamedTuple):
    """The sentences of a search, and the answers to each.

    Attributes:
        sources: `TextRows`.
        prefixes: `TextRows`, or None.
        answers: For each sentence a list of `Hypothesis`, best first.
        missed: Indices of the sentences whose translations lack a term.
        quality_of: Function from the ids of a sentence and a `Hypothesis` to its quality, or None.
        estimate: `QualityEstimate`, or None.
    """

    sources: TextRows
    prefixes: TextRows | None
    answers: list[list[Hypothesis]]
    missed: set[int]
    quality_of: Callable[[list[int], Hypothesis], float | None]
    estimate: QualityEstimate | None

    def quality(self, i: int, hypothesis: Hypothesis) -> float | None:
        """Returns the estimated quality of an answer to sentence `i`; None if there is none."""
        return self.quality_of(self.sources.ids[i], hypothesis)

    def flags(self, i: int, hypothesis: Hypothesis) -> tuple[str, ...]:
        """Returns the flags of a translation of sentence `i`."""
        cut = cut_flags(i, source=self.sources, prefix=self.prefixes)
        missed = (TERM_MISSED,) if i in self.missed else ()
        unsure = self.estimate.flags(self.quality(i, hypothesis)) if self.estimate else ()
        return (*cut, *found_flags(self.sources.ids[i], hypothesis), *missed, *unsure)


def check_search(glossary: Any, options: SearchOptions, prefixes: Any = None) -> Glossary | None:
    """Returns the argument `glossary`; raises an error if the search does not go with it."""
    return check_glossary(
        glossary,
        n_best=options.n_best > 1,
        sample=options.sample,
        prefixes=prefixes is not None,
    )


class SentenceSearch:
    """The methods of `kformer.Translator` that search."""

    def _search(
        self,
        texts,
        options,
        prefixes,
        batch_size,
        progress,
        target_language=None,
        glossary=None,
        did="translated",
    ) -> SearchResult:
        """Searches for the translations of sentences.

        Args:
            did: As for `read_texts`.
        """
        check_integer("batch_size", batch_size, least=1)
        glossary = check_search(glossary, options, prefixes)
        texts = as_texts(texts, "texts")
        marked = marked_sources(glossary, texts, self.about)
        sources = self._read(marked, "Sentence", did, target_language)
        forced = None
        if prefixes is not None:
            prefixes = as_texts(prefixes, "prefixes")
            check_as_many(texts=texts, prefixes=prefixes)
            forced = self._read_target(prefixes, "Prefix of sentence", "kept")
            forced = forced._replace(ids=[row[:-1] for row in forced.ids])  # No end ids.
        hypotheses = self._decode(
            sources.ids, options, forced.ids if forced else None, batch_size, progress
        )
        answers = distinct_answers(self.target_tokenizer, hypotheses, options)
        missed: set[int] = set()
        if glossary is not None:
            search = _TermSearch(self, sources.ids, options, batch_size)
            written = write_texts(self.target_tokenizer, [best.ids for best, *_ in answers])
            forced_terms = force_terms(
                glossary, texts, written, search.score, search.go_on, search.lose
            )
            for i, forced_answer in forced_terms.items():
                if forced_answer.answer is not None:
                    answers[i] = [forced_answer.answer]
            missed = {i for i, forced_answer in forced_terms.items() if forced_answer.missed}
        quality_of, estimate = self._quality_of(options), self.quality_estimate
        return SearchResult(sources, forced, answers, missed, quality_of, estimate)


class _TermSearch:
    """Scores and continues translations of some sentences, by number, for `force_terms`.

    Args:
        translator: `kformer.Translator`.
        rows: The ids of all sentences.
        options: `kformer.SearchOptions`.
        batch_size: Sentences translated at once.
    """

    def __init__(self, translator: Any, rows: list, options: SearchOptions, batch_size: int):
        self._translator, self._rows = translator, rows
        self._options, self._batch_size = options, batch_size

    def score(self, numbers: list[int], texts: list[str]) -> list[Draft]:
        """Scores given translations."""
        options, targets = self._options, self._targets(texts)
        totals = self._log_probabilities(numbers, targets)
        answers = [
            Hypothesis(ids, _search_score(options, total, len(ids)), ended=True)
            for ids, total in zip(targets, totals, strict=True)
        ]
        return self._drafts(answers, totals)

    def go_on(self, numbers: list[int], beginnings: list[str]) -> list[Draft]:
        """Translates from given beginnings on."""
        prefixes = [ids[:-1] for ids in self._targets(beginnings)]
        rows = [self._rows[number] for number in numbers]
        lists = self._translator._decode(rows, self._options, prefixes, self._batch_size)
        answers = [best for best, *_ in lists]
        options = self._options
        if options.beam_size == 1 or _PLAIN_BEAM.issuperset(options.changed):
            # A score is a log-probability, divided by the length penalty.
            totals = [best.score / _search_score(options, 1.0, len(best.ids)) for best in answers]
        else:
            totals = self._log_probabilities(numbers, [best.ids for best in answers])
        return self._drafts(answers, totals)

    def lose(self, numbers: list[int], sources: list[str], texts: list[str]) -> list[list[float]]:
        """Returns what the words of translations lose in log-probability with other sources."""
        translator, targets = self._translator, self._targets(texts)
        most = translator.max_source_length
        rows = [self._rows[number] for number in numbers]
        changed = read_texts(translator.tokenizer, sources, most, did=None).ids
        before, after = (translator._likelihood(ids, targets) for ids in (rows, changed))
        return [
            word_losses(
                translator.target_tokenizer.pieces(ids[:-1]),
                first.log_probabilities[:-1].tolist(),
                second.log_probabilities[:-1].tolist(),
            )
            for ids, first, second in zip(targets, before, after, strict=True)
        ]

    def _log_probabilities(self, numbers, targets):
        rows = [self._rows[number] for number in numbers]
        return [
            float(scores.log_probabilities.sum(dtype="float64"))
            for scores in self._translator._likelihood(rows, targets)
        ]

    def _targets(self, texts):
        """Returns the ids of translations, the end id last."""
        translator = self._translator
        most = translator.max_source_length + EXTRA_LENGTH
        return read_texts(translator.target_tokenizer, texts, most, did=None).ids

    def _drafts(self, answers, scores) -> list[Draft]:
        texts = write_texts(self._translator.target_tokenizer, [best.ids for best in answers])
        return [Draft(*draft) for draft in zip(texts, scores, answers, strict=True)]


def _search_score(options, log_probability, length):
    """Returns the score by which a search sorts."""
    if options.beam_size == 1:
        return log_probability
    return options.normalized(log_probability, length)
