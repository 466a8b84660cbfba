"""Translations that lack terms of a glossary, written anew with the terms in them.

It needs a model that scores given translations. First, there are drafts, as `term_drafts` makes
them: the translation with each term in place of the words that align with it, and what the model
writes if the terms, or names, stand in the source. The draft wins that is likeliest both for the
sentence and for the sentence with the terms in it.

If no draft has all terms, a term is put where the model likes it best. For the first missing term
there are candidates: the translation with the term in place of a word or between two words. The
model scores them, in one batch for all sentences. If the model can also be told how a translation
begins, it goes on by itself behind the term in the best two places: what follows then fits the
term, which may get an ending. The best score wins among the candidates with most terms. This is
repeated for each further term.

A model that scores each token also shows which word stood for the term: the one that becomes
unlikely if the source lacks the term. A candidate that still has this word translates it twice, and
loses to others.
"""

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kformer.inference.glossary import Glossary, Occurrence, missed_terms
from kformer.inference.term_drafts import (
    aligned_place,
    changed_place,
    changed_words,
    count_words,
    is_kept_name,
    old_words,
    repeated_words,
    replaced,
    replacements,
    tidy,
    with_names,
    with_translations,
    without_names,
    word_before,
)
from kformer.text.paragraphs.joining import SPACE, UNSPACED_WORDS

MOST_LOSS = 10.0  # Log-probability that terms may cost the sentence around them.
_PLACES = 6  # Places for a term, those nearest to its place in the source.
_NEAR = 3  # Places for a term whose word is known.
_LEAST_LOSS = 2.0  # Log-probability that a word loses without its source.
_CONTINUED = 2  # Places from which the model goes on by itself.
_SCORED_TWICE = 4  # Drafts with replaced words that are scored for both sources.
_CHANGE = 1.0  # Log-probability that a draft must gain for each word that it changes.
_ROUNDS = 16  # Most terms of a sentence that are put into its translation.
_UNSPACED = UNSPACED_WORDS.pattern[1:-1]
_BETWEEN_SPACES = re.compile(r"\S+")
_RUN = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


class Draft(NamedTuple):
    """A translation of a sentence.

    Attributes:
        text: The translation.
        score: Its log-probability. A length penalty would favour long translations, as the term
            itself costs most of the probability, in whatever translation.
        answer: What its translator returns for it.
    """

    text: str
    score: float
    answer: Any


class Forced(NamedTuple):
    """The outcome for a sentence with terms.

    Attributes:
        answer: The answer of the draft that replaces the translation; None if it stays.
        missed: Whether a term is missing.
        loss: By how much it is less likely than other translations if the source has the terms in
            the language of the translation, without what each term costs by itself.
    """

    answer: Any
    missed: bool
    loss: float = 0.0

    @property
    def is_unlikely(self) -> bool:
        """Whether the terms spoil the sentence around them."""
        return self.loss > MOST_LOSS


class Candidate(NamedTuple):
    """A translation with a term put in.

    Attributes:
        beginning: The text up to the term.
        text: The whole translation.
    """

    beginning: str
    text: str


class _Rated(NamedTuple):
    """A draft with the terms that it lacks; `rank` is the smaller, the better.

    `is_twice`: whether it still has the word that stood for the term. `total`: what it is rated
    by; None for the score of the draft. `swapped`: its log-probability if the source has the terms.
    """

    draft: Draft
    missed: list[Occurrence]
    is_twice: bool = False
    total: float | None = None
    swapped: float | None = None

    @property
    def rank(self):
        total = self.draft.score if self.total is None else self.total
        return len(self.missed), self.is_twice, -total


class Writer(NamedTuple):
    """What a model can do for `force_terms`, each a callable; None for what it cannot do.

    Attributes:
        score: Scores translations: (numbers of sentences, translations, sources) -> as many
            `Draft`. The sources are None for the sentences themselves.
        go_on: Translates: (numbers of sentences, beginnings of translations) -> as many `Draft`.
        lose: (numbers of sentences, other sources, translations) -> for each translation what its
            words, between spaces, lose in log-probability with that source.
        write: Translates other sources: (sources) -> as many translations.
        align: (sentences, translations) -> as many `WordAlignment`.
    """

    score: Callable[..., Sequence[Draft]]
    go_on: Callable[[list[int], list[str]], Sequence[Draft]] | None = None
    lose: Callable[[list[int], list[str], list[str]], Sequence[list[float]]] | None = None
    write: Callable[[list[str]], Sequence[str]] | None = None
    align: Callable[[list[str], list[str]], Sequence[Any]] | None = None


def force_terms(
    glossary: Glossary, sentences: Sequence[str], translations: Sequence[str], writer: Writer
) -> dict[int, Forced]:
    """Finds translations that have the terms of a glossary; those that have them stay.

    A term stays missing if the model cannot write it, because its vocabulary lacks a character, or
    if a sentence has too many. A term within a name that the translation copies is no term.
    """
    occurrences = {}
    for number, terms in enumerate(map(glossary.find, sentences)):
        texts = sentences[number], translations[number]
        if terms := [term for term in terms if not is_kept_name(texts[0], term, texts[1])]:
            occurrences[number] = terms
    places = _places_of_terms(sentences, translations, occurrences, writer.align)
    best, left = {}, {}
    for number, terms in occurrences.items():
        text = translations[number]
        missed = _missed(number, terms, text, places)
        best[number] = _Rated(Draft(text, 0.0, None), missed)
        if missed:
            left[number] = missed
    drafts, losses = None, {}
    if left and writer.write:
        drafts = _Drafts(sentences, translations, occurrences, left, places, writer)
        for number, (rated, loss) in drafts.best().items():
            if len(rated.missed) < len(best[number].missed):
                best[number], losses[number] = rated, loss
                left[number] = rated.missed
        left = {number: terms for number, terms in left.items() if terms}
    for _ in range(_ROUNDS):
        if not left:
            break
        stood = _replaced_words(best, left, writer.lose)
        texts = {number: best[number].draft.text for number in left}
        candidates = {
            number: candidates_with(texts[number], terms[0], stood.get(number))
            for number, terms in left.items()
        }
        rate = functools.partial(_rated, occurrences, texts, stood)
        rated_drafts = _best_drafts(candidates, rate, writer.score, writer.go_on)
        for number, rated in rated_drafts.items():
            if len(rated.missed) < len(best[number].missed):
                best[number], left[number] = rated, rated.missed
                if drafts:
                    losses[number] = drafts.loss(number, rated)
            else:  # The next term may be one that the model can write.
                left[number] = left[number][1:]
        left = {number: terms for number, terms in left.items() if terms}
    return {
        number: Forced(rated.draft.answer, bool(rated.missed), losses.get(number, 0.0))
        for number, rated in best.items()
    }


def _places_of_terms(sentences, translations, occurrences, align):
    """Returns where the words of a translation are that align with a term, by the term."""
    numbers = [
        number
        for number, terms in occurrences.items()
        if missed_terms(terms, translations[number], inflected=False)
    ]
    if not numbers or align is None:
        return {}
    pairs = [sentences[n] for n in numbers], [translations[n] for n in numbers]
    places = {}
    for number, alignment in zip(numbers, align(*pairs), strict=True):
        for term in occurrences[number]:
            place = aligned_place(alignment, sentences[number], term, translations[number])
            if place:
                places[number, term.start] = place
    return places


def _missed(number, terms, text, places):
    """Returns the terms that a translation lacks.

    A word that has a term with an ending is another word if it does not align with the term.
    """
    missed = missed_terms(terms, text)
    for term in missed_terms(terms, text, inflected=False):
        place = places.get((number, term.start))
        if place and term not in missed:
            start, end = place.spans[0][0], place.spans[-1][1]
            if missed_terms([term], text[start:end]):
                missed.append(term)
    return sorted(missed, key=lambda term: term.start)


class _Drafts:
    """Drafts of the sentences that lack terms."""

    def __init__(self, sentences, translations, occurrences, left, places, writer):
        self._sentences, self._translations = sentences, translations
        self._occurrences, self._left, self._writer = occurrences, left, writer
        self._places = places
        self._sources = {n: with_translations(sentences[n], terms) for n, terms in left.items()}
        self._texts = {number: [translations[number]] for number in left}
        self._costs: dict[str, float] = {}
        self._written: dict[int, int] = {}  # The plain translation and those that it wrote.
        self._scores: dict[tuple[int, str], tuple[Draft, float]] = {}

    def best(self) -> dict[int, tuple[_Rated, float]]:
        """Returns the best draft of each sentence, and the log-probability that it loses."""
        self._write()
        self._replace()
        self._score()
        best = {}
        for number, texts in self._texts.items():
            rated = [self._rated(number, text) for text in texts]
            chosen = min(rated, key=lambda each: each.rank)
            best[number] = chosen, self.loss(number, chosen)
        return best

    def loss(self, number, rated):
        """Returns by how much a draft is less likely than others if the source has the terms."""
        if rated.swapped is None:
            [draft] = self._writer.score([number], [rated.draft.text], [self._sources[number].text])
            rated = rated._replace(swapped=draft.score)
        likeliest = max(self._scores[number, text][1] for text in self._texts[number])
        own = sum(self._costs[term.translation] for term in self._left[number])
        return max(likeliest - rated.swapped - own, 0.0)

    def _write(self):
        """Adds what the model writes if the source has the terms."""
        asked = []
        for number, terms in self._left.items():
            sentence = self._sentences[number]
            asked.append((number, self._sources[number], False))
            asked.append((number, with_translations(sentence, terms, quote='"'), False))
            if named := with_names(sentence, terms):
                asked.append((number, named, True))
        answers = self._writer.write([source.text for _, source, _ in asked])
        for (number, source, is_named), text in zip(asked, answers, strict=True):
            terms, plain = self._left[number], self._translations[number]
            draft = without_names(text, source, terms) if is_named else text
            if draft and (text := tidy(draft, terms, plain)) not in self._texts[number]:
                self._texts[number].append(text)
        self._written = {number: len(texts) for number, texts in self._texts.items()}

    def _replace(self):
        """Adds translations with terms in place of the words that stood for them."""
        for number, terms in self._left.items():
            plain, drafts = self._translations[number], self._texts[number][1:]
            ways = []
            for term in terms:
                place = self._place(number, term, drafts)
                if place:
                    before = [word_before(draft, term.translation) for draft in drafts]
                    short_words = [word for word in before if word]
                    ways.append(replacements(plain, place, term.translation, short_words))
            for parts in _one_at_a_time(ways):
                if (text := replaced(plain, parts)) and text not in self._texts[number]:
                    self._texts[number].append(text)

    def _place(self, number, term, drafts):
        """Returns the place of a term in a translation, if it is known."""
        key, plain = (number, term.start), self._translations[number]
        if key not in self._places:
            changed = (changed_place(plain, draft, term.translation) for draft in drafts)
            if place := next(filter(None, changed), None):
                self._places[key] = place
        return self._places.get(key)

    def _score(self):
        """Scores the drafts, and keeps those that may be the best."""
        numbers = [number for number, several in self._texts.items() for _ in several]
        texts = [text for several in self._texts.values() for text in several]
        plain = dict(
            zip(zip(numbers, texts, strict=True), self._writer.score(numbers, texts), strict=True)
        )
        for number, several in self._texts.items():
            written = several[: self._written[number]]
            rest = [text for text in several if text not in written]
            rest.sort(key=lambda text: self._placed(number, plain[number, text]).rank)
            self._texts[number] = [*written, *rest[:_SCORED_TWICE]]
        numbers = [number for number, several in self._texts.items() for _ in several]
        texts = [text for several in self._texts.values() for text in several]
        sources = [self._sources[number].text for number in numbers]
        swapped = self._writer.score(numbers, texts, sources)
        self._costs = self._costs_of_terms()
        for number, text, draft in zip(numbers, texts, swapped, strict=True):
            self._scores[number, text] = plain[number, text], draft.score

    def _costs_of_terms(self):
        """Returns the log-probability that each term costs where it is the whole source."""
        first = {}
        for number, terms in self._left.items():
            for term in terms:
                first.setdefault(term.translation, number)
        terms = [*first]
        drafts = self._writer.score([*first.values()], terms, terms)
        return {term: max(-draft.score, 0.0) for term, draft in zip(terms, drafts, strict=True)}

    def _rated(self, number, text):
        draft, swapped = self._scores[number, text]
        return self._placed(number, draft, swapped)

    def _placed(self, number, draft, swapped=None):
        """Returns the `_Rated` of a draft."""
        plain, terms = self._translations[number], self._left[number]
        missed = self._missed(number, draft.text)
        is_twice = repeated_words(draft.text) > repeated_words(plain)
        for term in terms:
            if place := self._places.get((number, term.start)):
                words = old_words(plain, place, term.translation)
                count = count_words(plain, words)
                is_twice |= bool(words) and count_words(draft.text, words) >= count
        changes = changed_words(plain, draft.text, [term.translation for term in terms])
        total = draft.score + (swapped or 0.0) - _CHANGE * changes
        return _Rated(draft, missed, is_twice, total, swapped)

    def _missed(self, number, text):
        """Returns the terms that a draft lacks; a form that is another word does not count."""
        all_terms = self._occurrences[number]
        missed = missed_terms(all_terms, text)
        exact = missed_terms(all_terms, text, inflected=False)
        seeming = missed_terms(all_terms, self._translations[number])
        unlike = [term for term in self._left[number] if term not in seeming and term in exact]
        return [*missed, *(term for term in unlike if term not in missed)]


def _one_at_a_time(ways):
    """Yields ways to replace the words of all terms; one term at a time is not by its first."""
    if not ways:
        return
    plain = [several[0] for several in ways]
    yield plain
    for i, several in enumerate(ways):
        for way in several[1:]:
            yield [*plain[:i], way, *plain[i + 1 :]]


def _replaced_words(best, left, lose) -> dict[int, tuple[int, int]]:
    """Returns where the word is that stands for the first missing term of each sentence.

    It is the word that loses most of its probability if the source lacks the term.
    """
    if lose is None:
        return {}
    numbers, spans = [number for number, terms in left.items() if terms[0].rest], {}
    texts = [best[number].draft.text for number in numbers]
    losses = lose(numbers, [left[number][0].rest for number in numbers], texts)
    for number, text, lost in zip(numbers, texts, losses, strict=True):
        runs = [match.span() for match in _BETWEEN_SPACES.finditer(text)]
        if len(runs) != len(lost) or max(lost, default=0) < _LEAST_LOSS:
            continue
        start, end = runs[lost.index(max(lost))]
        words = [word for word in _words(text) if start <= word[0] < end]
        if words:
            spans[number] = words[0]
    return spans


def word_losses(
    pieces: Sequence[str], before: Sequence[float], after: Sequence[float]
) -> list[float]:
    """Returns what each word loses in log-probability."""
    losses: list[float] = []
    for piece, first, second in zip(pieces, before, after, strict=True):
        if piece.startswith(SPACE) or not losses:
            losses.append(0.0)
        losses[-1] += first - second
    return losses


def _rated(occurrences, texts, replaced, number, draft) -> _Rated:
    missed, span = missed_terms(occurrences[number], draft.text), replaced.get(number)
    if span is None:
        return _Rated(draft, missed)
    text = texts[number]
    word = text[slice(*span)].casefold()
    before, now = (
        [part[slice(*place)].casefold() for place in _words(part)].count(word)
        for part in (text, draft.text)
    )
    return _Rated(draft, missed, now >= before)


def _best_drafts(candidates, rate, score, go_on) -> dict[int, _Rated]:
    """Returns the best draft of each sentence, by the number of the sentence."""
    numbers = [number for number, several in candidates.items() for _ in several]
    texts = [candidate.text for several in candidates.values() for candidate in several]
    scored = iter(score(numbers, texts))
    best, beginnings = {}, []
    for number, several in candidates.items():
        drafts = [rate(number, next(scored)) for _ in several]
        order = sorted(range(len(drafts)), key=lambda i: drafts[i].rank)
        best[number] = drafts[order[0]]
        places = [*dict.fromkeys(several[i].beginning for i in order)]
        beginnings += [(number, beginning) for beginning in places[:_CONTINUED]]
    if go_on:
        continued = go_on(*map(list, zip(*beginnings, strict=True)))
        for (number, _), draft in zip(beginnings, continued, strict=True):
            best[number] = min(best[number], rate(number, draft), key=lambda draft: draft.rank)
    return best


def candidates_with(
    text: str, occurrence: Occurrence, replaced: tuple[int, int] | None = None
) -> list[Candidate]:
    """Returns translations with a term that `text` lacks, each another text."""
    term, words = occurrence.translation, _words(text)
    if not words:
        return [Candidate(term, term)]
    place = sum(replaced) / 2 if replaced else occurrence.place * len(text)
    nearest = sorted(range(len(words)), key=lambda i: abs(sum(words[i]) / 2 - place))
    candidates = []
    for i in [*nearest[: _NEAR if replaced else _PLACES], len(words)]:
        beginning = _beginning(text, words, i, term)
        begin, end = words[i] if i < len(words) else (words[-1][1],) * 2
        # Between two words, but not before the first one, which has a capital; or for a word.
        for after in (begin, end) if i else (end,):
            rest = text[after:]
            candidates.append(Candidate(beginning, beginning + _gap(beginning, rest) + rest))
    return [*{candidate.text: candidate for candidate in candidates}.values()]


def _words(text) -> list[tuple[int, int]]:
    """Returns where each word begins and ends, without punctuation at its ends."""
    words = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        while start < end and not text[start].isalnum():
            start += 1
        while start < end and not text[end - 1].isalnum():
            end -= 1
        if start < end:
            words.append((start, end))
    return words


def _beginning(text, words, i, term):
    """Returns the text before word `i`, and the term."""
    if i == len(words):
        before = text[: words[-1][1]]
        return before + _gap(before, term) + term
    before = text[: words[i][0]]
    is_capital = i == 0 and term == term.lower() and text[words[0][0]].isupper()
    return before + (term[0].upper() + term[1:] if is_capital else term)


def _gap(before, after):
    """Returns the space that is needed between two texts."""
    if not after[:1].isalnum() or not before[-1:].isalnum():
        return ""
    return "" if UNSPACED_WORDS.match(before[-1]) or UNSPACED_WORDS.match(after) else " "
