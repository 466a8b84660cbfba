"""Translations that lack terms of a glossary, written anew with the terms in them.

It needs a model that scores given translations. For the first missing term there are candidates:
the translation with the term in place of a word or between two words. The model scores them, in one
batch for all sentences. If the model can also be told how a translation begins, it goes on by
itself behind the term in the best two places: what follows then fits the term, which may get an
ending. The best score wins among the candidates with most terms. This is repeated for each further
term.

A model that scores each token also shows which word stood for the term: the one that becomes
unlikely if the source lacks the term. A candidate that still has this word translates it twice, and
loses to others.
"""

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kformer.inference.glossary import Glossary, Occurrence, missed_terms
from kformer.text.paragraphs.joining import SPACE, UNSPACED_WORDS

_PLACES = 6  # Places for a term, those nearest to its place in the source.
_NEAR = 3  # Places for a term whose word is known.
_LEAST_LOSS = 2.0  # Log-probability that a word loses without its source.
_CONTINUED = 2  # Places from which the model goes on by itself.
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
    """

    answer: Any
    missed: bool


class Candidate(NamedTuple):
    """A translation with a term put in.

    Attributes:
        beginning: The text up to the term.
        text: The whole translation.
    """

    beginning: str
    text: str


def force_terms(
    glossary: Glossary,
    sentences: Sequence[str],
    translations: Sequence[str],
    score: Callable[[list[int], list[str]], Sequence[Draft]],
    go_on: Callable[[list[int], list[str]], Sequence[Draft]] | None = None,
    lose: Callable[[list[int], list[str], list[str]], Sequence[list[float]]] | None = None,
) -> dict[int, Forced]:
    """Finds translations that have the terms of a glossary; those that have them stay.

    A term stays missing if the model cannot write it, because its vocabulary lacks a character, or
    if a sentence has too many.

    Args:
        score: Scores translations: callable (numbers of sentences, translations) -> as many
            `Draft`.
        go_on: Translates: callable (numbers of sentences, beginnings of translations) -> as many
            `Draft`. None if the model cannot.
        lose: callable (numbers of sentences, other sources, translations) -> for each
            translation what its words, between spaces, lose in log-probability with that source.
            None if the model cannot.
    """
    all_terms = enumerate(map(glossary.find, sentences))
    occurrences = {number: terms for number, terms in all_terms if terms}
    best = {
        number: _Rated(
            Draft(translations[number], 0.0, None), missed_terms(terms, translations[number])
        )
        for number, terms in occurrences.items()
    }
    left = {number: rated.missed for number, rated in best.items() if rated.missed}
    for _ in range(_ROUNDS):
        if not left:
            break
        replaced = _replaced_words(best, left, lose)
        texts = {number: best[number].draft.text for number in left}
        candidates = {
            number: candidates_with(texts[number], terms[0], replaced.get(number))
            for number, terms in left.items()
        }
        rate = functools.partial(_rated, occurrences, texts, replaced)
        for number, rated in _best_drafts(candidates, rate, score, go_on).items():
            if len(rated.missed) < len(best[number].missed):
                best[number], left[number] = rated, rated.missed
            else:  # The next term may be one that the model can write.
                left[number] = left[number][1:]
        left = {number: terms for number, terms in left.items() if terms}
    return {
        number: Forced(rated.draft.answer, bool(rated.missed)) for number, rated in best.items()
    }


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


class _Rated(NamedTuple):
    """A draft with the terms that it lacks; `rank` is the smaller, the better.

    `is_twice`: whether it still has the word that stood for the term.
    """

    draft: Draft
    missed: list[Occurrence]
    is_twice: bool = False

    @property
    def rank(self):
        return len(self.missed), self.is_twice, -self.draft.score


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
