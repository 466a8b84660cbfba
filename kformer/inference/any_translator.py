"""`AnyTranslator`: what people ask of a translator, once for all forms, over an engine."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

from kformer.arguments import (
    as_texts,
    check_as_many,
    check_integer,
    check_target_language,
    pair_or_pairs,
    replace_lone_surrogates,
    text_or_texts,
)
from kformer.inference.engine import Engine, SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.forced_terms import Draft, Forced, Writer, force_terms, word_losses
from kformer.inference.glossary import TERM_MISSED, TERM_UNLIKELY, Glossary, check_glossary
from kformer.inference.readings import Readings
from kformer.inference.results import Translation, with_flag
from kformer.inference.search_options import AllSearchOptions, SearchOptions, chosen_options
from kformer.inference.source_marks import marked_sources
from kformer.inference.splitting import (
    SentenceTranslation,
    SplitTranslation,
    check_split,
    joined_translation,
    translate_split,
)
from kformer.inference.zero_shot import warn_of_zero_shot

if TYPE_CHECKING:  # A client of a server needs no NumPy.
    from kformer.text.alignment import WordAlignment

Progress = Callable[[int], object]
Terms = Glossary | Mapping[str, str]


class AnyTranslator:
    """The methods of every translator, whatever its form; the base class of all of them.

    A `.keras` file, a SavedModel, a `.tflite` file, a folder of CTranslate2, an ensemble and a
    client of a server have these methods, with the same arguments and results. What a form cannot
    do, it refuses in a sentence.

    Attributes:
        engine: The `kformer.inference.engine.Engine` that searches.

    Examples:
        >>> import kformer
        >>> for form in "runs/de-en/translator.keras", "served/de-en", "de-en.tflite":
        ...     translator: kformer.AnyTranslator = kformer.load(form)
        ...     print(translator.translate("Ein Hund läuft."))
        A dog runs.
        A dog runs.
        A dog runs.
    """

    if TYPE_CHECKING:  # A property of some translators, an attribute of others.

        @property
        def engine(self) -> Engine: ...

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model: its languages, its search and its abilities."""
        return self.engine.facts

    @property
    def target_languages(self) -> tuple[str, ...]:
        """The languages of which one must be chosen for each translation; usually none."""
        return self.facts.target_languages or ()

    @property
    def source_language(self) -> str | None:
        """Code of the language of the texts, such as "de"; None if it is unknown."""
        return self.facts.source_language

    @property
    def target_language(self) -> str | None:
        """Code of the language of the translations, such as "de"; None if it is unknown."""
        return self.facts.target_language

    def into(self, target_language: str | None) -> Self:
        """Returns a translator into one of `target_languages`, which shares the weights.

        All of its methods then read texts for that language.

        Args:
            target_language: One of `target_languages`; None if there are none, for this translator.

        Raises:
            ValueError: It is another language; the message names the model's languages.
        """
        languages = self.facts.target_languages
        if languages is not None:
            check_target_language(target_language, languages)
        return self if target_language is None else self._into(target_language)

    def _into(self, target_language: str) -> Self:
        """Returns a translator into a language, which is one of `target_languages`."""
        raise NotImplementedError

    @text_or_texts
    def translate(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = 32,
        progress: Progress | None = None,
        prefixes: Iterable[str] | None = None,
        split: bool | None = None,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Terms | None = None,
        **options: Unpack[AllSearchOptions],
    ) -> list[str]:
        """Translates any number of texts; sorts sentences by length, keeps the texts' order.

        Args:
            texts: list of strings, or another iterable of them, as a NumPy array, a pandas Series
                or a string tensor (B,); or one string. A blank one translates to a blank one.
            batch_size: Sentences translated at once. It changes speed, not answers. A `.tflite`
                file, a folder of CTranslate2 and a client have batches of their own.
            progress: Called with the number of sentences done, after each batch.
            prefixes: Beginnings of the translations: as many strings, or None. A blank
                sentence translates to its prefix. For `kformer.Translator` and ensembles.
            split: Whether each text may have many sentences, as for `split_translations`. By
                default it may, if the model learned from single sentences (`facts`), and if
                neither `prefixes` nor several answers are asked for, and has then no white
                space at its ends; with False, a text is what the model reads at once.
            source_language: The language of the texts, such as "de", if they are split; by default
                the model's, or else English rules.
            target_language: One of `target_languages`, if there are any, as for `into`.
            glossary: `kformer.Glossary` of terms that have given translations, or a dict. A
                sentence whose translation lacks one of them is translated again with it.
            **options: The options of `kformer.SearchOptions`, by name; by default those of the
                model. In a SavedModel and in a `.tflite` file the export chose them.

        Returns:
            list of as many strings, the best translations, or one string for a string;
            `translations` flags degenerate ones.

        Raises:
            TypeError: An argument, or one of the texts, has the wrong type.
            ValueError: A number is out of range, there are not as many prefixes as texts, `split`
                or `glossary` does not go with another argument, the language is none of the
                model's, or the form cannot do what is asked.

        Warns:
            UserWarning: Sentences were too long for the model.
        """
        search = self.engine.options(chosen_options(AnyTranslator.translate, None, options))
        into = self.into(target_language)
        if into._splits(split, source_language, search, prefixes):
            answers = into._split(texts, search, source_language, batch_size, progress, glossary)
            return [answer.text if split else _plain(answer.text) for answer in answers]
        request = SearchRequest(search, prefixes, batch_size, progress, "translated")
        outcome = into._search(texts, request, glossary)
        best = [best.text for best, *_ in outcome.candidates]
        return [outcome.readings.written(number, text) for number, text in enumerate(best)]

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        options: SearchOptions | None = None,
        *,
        batch_size: int = 32,
        progress: Progress | None = None,
        prefixes: Iterable[str] | None = None,
        details: bool = True,
        split: bool | None = None,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Terms | None = None,
        **named: Unpack[AllSearchOptions],
    ) -> list[list[Translation]]:
        """As `translate`, but with scores and flags; `kformer.Translator` adds tokens.

        Args:
            texts, batch_size, progress, prefixes, split, source_language, target_language,
                glossary: As for `translate`. A translation of several sentences has the sum of
                their scores, all of their flags and tokens, and the lowest quality.
            options: `kformer.SearchOptions`; the model's own replace those that it leaves out.
            details: Whether `kformer.Translator` computes log-probabilities of tokens and
                attention, too: it takes one more pass of the model.
            **named: Options by name, instead of `options`.

        Returns:
            for each text a list of `kformer.Translation`, best first: `n_best`, or as many as there
            are. For one string, its list.

        Raises:
            TypeError, ValueError: As `translate`.

        Warns:
            UserWarning: As `translate`.
        """
        search = self.engine.options(chosen_options(AnyTranslator.translations, options, named))
        into = self.into(target_language)
        if into._splits(split, source_language, search, prefixes):
            known: dict[str, Translation] = {}
            answers = into._split(
                texts, search, source_language, batch_size, progress, glossary, details, known
            )
            if not all(answer.sentences for answer in answers):
                request = SearchRequest(search, None, batch_size)
                [[known[""]]] = into._finished([""], request, None, details)
            joined = [joined_translation(answer, known) for answer in answers]
            if not split:
                joined = [dataclasses.replace(each, text=_plain(each.text)) for each in joined]
            return [[each] for each in joined]
        request = SearchRequest(search, prefixes, batch_size, progress, "translated")
        return into._finished(texts, request, glossary, details)

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        options: SearchOptions | None = None,
        *,
        source_language: str | None = None,
        batch_size: int = 32,
        progress: Progress | None = None,
        target_language: str | None = None,
        glossary: Terms | None = None,
        **named: Unpack[AllSearchOptions],
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences; line breaks, indents and list marks stay.

        Each text is split into sentences, all of which are translated as by `translate`, sentences
        of similar length together. A line break always ends a sentence. A sentence that is too long
        for the model is halved at a clause, or else at a word, until no part is.

        Args:
            texts, batch_size, target_language, glossary: As for `translate`; a text may be a whole
                page.
            options, named: As for `translations`.
            source_language: The language of the texts, such as "de", whose rules and abbreviations
                decide where a sentence ends; by default the model's, or else English rules.
            progress: Called with the number of texts done, in proportion to their sentences.

        Returns:
            list of as many `kformer.SplitTranslation`: the best translation of each text, its
            flags and its sentences. For one string, its own.

        Raises:
            ImportError: The package sentencex is not installed.
            TypeError, ValueError: As `translate`.

        Warns:
            UserWarning: A sentence was too long.
        """
        search = self.engine.options(
            chosen_options(AnyTranslator.split_translations, options, named)
        )
        into = self.into(target_language)
        return into._split(texts, search, source_language, batch_size, progress, glossary)

    @pair_or_pairs
    def align(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        progress: Progress | None = None,
    ) -> "list[WordAlignment]":
        """Links the words of given translations to words of their sources, by attention.

        The attention is that of the translator's `alignment_head`.

        Args:
            sources: list of strings, or another iterable of them, as for `translate`; or one
                string.
            targets: as many strings, their translations; or one string.
            progress: Called with the number of pairs done, after each batch.

        Returns:
            list of as many `kformer.WordAlignment`; or one for one pair.

        Raises:
            TypeError: The arguments are no lists of strings.
            ValueError: They have different lengths, or the form does not align words.
        """
        sources, targets = as_texts(sources, "sources"), as_texts(targets, "targets")
        check_as_many(sources=sources, targets=targets)
        if not self.facts.aligns:
            raise ValueError(
                "Words are aligned by a .keras file, by a SavedModel and a folder of CTranslate2 "
                "of this version, and by such a .tflite file with one vocabulary and with the "
                f"signatures `encode` and `decode_step`. Received: {type(self).__name__}."
            )
        return self.engine.align(sources, targets, progress)

    def check_takes_glossary(self):
        """Raises a ValueError if this translator cannot search for the terms of a glossary."""
        if refusal := self.facts.no_terms:
            raise ValueError(refusal)

    def _splits(self, split, source_language, options, prefixes):
        """Returns whether texts are split into sentences."""
        if split is None:
            is_one = options.n_best == 1 and not options.sample and prefixes is None
            split = is_one and self.facts.single_sentences
        return check_split(split, source_language, prefixes)

    def _split(
        self,
        texts,
        options,
        source_language,
        batch_size,
        progress,
        glossary,
        details=False,
        known=None,
    ):
        """Returns the `SplitTranslation` of each text, and of each sentence what is `known`."""
        check_integer("batch_size", batch_size, least=1)
        glossary = self._checked(glossary, options)
        facts = self.facts
        source_language = source_language or facts.source_language
        warn_of_zero_shot(facts.directions, source_language, facts.target_language)

        def find(sentences, progress):
            request = SearchRequest(options, None, batch_size, progress)
            answers = self._finished(sentences, request, glossary, details)
            for sentence, (best, *_) in zip(sentences, answers, strict=True):
                if known is not None:
                    known[sentence] = best
                yield SentenceTranslation(sentence, best.text, best.flags, best.quality)

        return translate_split(find, texts, source_language, progress)

    def _finished(self, texts, request, glossary, details):
        """Returns the `Translation`s of each text, with all flags."""
        outcome = self._search(texts, request, glossary)
        answers = self.engine.finished(outcome.candidates, outcome.request, details)
        for flag, numbers in outcome.flagged.items():
            for number in numbers:
                best, *more = answers[number]
                answers[number] = [with_flag(best, flag), *more]
        return [
            [outcome.readings.checked(number, each) for each in translations]
            for number, translations in enumerate(answers)
        ]

    def _search(self, texts, request, glossary):
        """Returns the `_Outcome` of texts, each of which the model reads at once."""
        check_integer("batch_size", request.batch_size, least=1)
        texts = as_texts(texts, "texts")
        glossary = self._checked(glossary, request.options, request.prefixes)
        request = request._replace(prefixes=self._checked_prefixes(request.prefixes, texts))
        engine, facts = self.engine, self.facts
        is_free = request.prefixes is None
        readings = Readings.of(texts, facts) if is_free else Readings(texts, texts)
        texts = readings.read
        if glossary is not None:
            candidates = engine.search_terms(texts, glossary, request)
            if candidates is not None:
                return _Outcome(candidates, request, {}, readings)
        marked = marked_sources(glossary, texts, facts.about)
        candidates = engine.search(marked, request)
        if glossary is None:
            return _Outcome(candidates, request, {}, readings)
        search = TermSearch(engine, facts, marked, request, self.align if facts.aligns else None)
        forced = search.forced(glossary, texts, [best.text for best, *_ in candidates])
        for number, outcome in forced.items():
            if outcome.answer is not None:
                candidates[number] = [outcome.answer]
        flagged = {
            TERM_MISSED: [number for number, each in forced.items() if each.missed],
            TERM_UNLIKELY: [number for number, each in forced.items() if each.is_unlikely],
        }
        return _Outcome(candidates, request, flagged, readings)

    def _checked(self, glossary, options, prefixes=None):
        """Returns the `kformer.Glossary` of an argument, or None."""
        glossary = check_glossary(
            glossary,
            n_best=options.n_best > 1,
            sample=options.sample,
            prefixes=prefixes is not None,
        )
        if glossary is not None:
            self.check_takes_glossary()
        return glossary

    def _checked_prefixes(self, prefixes, texts):
        if prefixes is None:
            return None
        prefixes = as_texts(prefixes, "prefixes")
        check_as_many(texts=texts, prefixes=prefixes)
        if not self.facts.takes_prefixes:
            raise ValueError(
                "Only a .keras file and an ensemble of them begin translations with prefixes. "
                f"Received: {len(prefixes)} prefixes with {type(self).__name__}."
            )
        return prefixes


def _plain(text):
    """Returns a text as a model writes it: valid UTF-8, without space and U+0000 at its ends."""
    return replace_lone_surrogates(text).rstrip("\0").strip()


class _Outcome(NamedTuple):
    """The outcome of a search.

    Attributes:
        candidates: For each text its candidates, best first.
        request: The checked request.
        flagged: Numbers of the texts by the flags that their terms raise.
        readings: The texts, as they were asked and as the model read them.
    """

    candidates: list[list[Any]]
    request: SearchRequest
    flagged: dict[str, list[int]]
    readings: Readings


SavedTranslator = AnyTranslator  # The name in version 0.2.


class TermSearch:
    """Searches translations of some sentences, by number, that contain terms of a glossary.

    Args:
        engine: `Engine`.
        facts: Its facts.
        sentences: The sentences as the model reads them.
        request: The request of the search without terms.
        align: The method `align` of the translator; None if it has none.
    """

    def __init__(
        self,
        engine: Engine,
        facts: ModelFacts,
        sentences: list[str],
        request: SearchRequest,
        align: Callable | None = None,
    ):
        self._engine, self._facts, self._sentences = engine, facts, sentences
        self._align = align
        self._request = request._replace(progress=None, did=None)

    def forced(
        self, glossary: Glossary, sentences: list[str], translations: list[str]
    ) -> dict[int, Forced]:
        """Returns the `Forced` of each sentence with terms, as `force_terms`."""
        facts = self._facts
        writer = Writer(
            self._score if facts.scores else _none,
            self._go_on if facts.continues else None,
            self._lose if facts.scores_tokens else None,
            self._write if facts.scores else None,
            self._align,
        )
        return force_terms(glossary, sentences, translations, writer)

    def _score(self, numbers, texts, sources=None):
        return self._drafts(self._engine.rate, numbers, texts, sources)

    def _go_on(self, numbers, beginnings):
        return self._drafts(self._engine.go_on, numbers, beginnings)

    def _write(self, sources):
        return [best.text for best, *_ in self._engine.search(sources, self._request)]

    def _drafts(self, ask, numbers, texts, sources=None):
        if sources is None:
            sources = [self._sentences[number] for number in numbers]
        rated = ask(sources, texts, self._request)
        return [Draft(each.candidate.text, each.log_probability, each.candidate) for each in rated]

    def _lose(self, numbers, changed, texts):
        """Returns what the words of translations lose in log-probability with other sources."""
        sentences = [self._sentences[number] for number in numbers]
        before, after = (
            self._engine.rate(sources, texts, self._request) for sources in (sentences, changed)
        )
        return [
            word_losses(first.tokens, first.token_log_probabilities, second.token_log_probabilities)
            for first, second in zip(before, after, strict=True)
        ]


def _none(numbers, texts, sources=None):
    """Returns drafts that lack every term: of a model that reads terms, but scores nothing."""
    return [Draft("", 0.0, None) for _ in numbers]
