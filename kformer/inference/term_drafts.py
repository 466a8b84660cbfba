"""Drafts: translations with the terms of a glossary, from what a model writes by itself.

A term is put into the translation of a sentence in place of the words that align with it, with or
without the article before them. Other drafts are what the model writes if the source already
contains the term in the language of the translation, which many models copy with a fitting article
and ending, or a name such as "X1" instead of it.
"""

import difflib
import itertools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from kformer.inference.glossary import Occurrence, normalized
from kformer.text.paragraphs.joining import UNSPACED_WORDS

_WORD = re.compile(r"\S+")
_SHORT = 4  # Letters of a word that may be an article or a preposition.
_MOST_REPLACED = 6  # Words of a translation that one term replaces.
_LEAST_WEIGHT = 0.2  # Attention to a term, from 0 to 1, of the word that stands for it,
_NEAR_WEIGHT = 0.5  # of words beside it that may belong to it,
_SURE_WEIGHT = 0.85  # and of those that do, as a share of that of the first word.
_MOST_DRAFTS = 12  # Drafts that are made for one term by replacing words.
_TITLE_WORD = 4  # Letters of a word that has a capital in a name; shorter ones are particles.
_LETTERS = "XYZQWV"  # Of names; the first one that the sentence does not have.
_ELISION = re.compile(r"(?<=\w)['’](?=\w)")
_TERM = "\0"  # In place of a term, where words are compared.
_QUOTES = "\"“”„«»'‘’"

Span = tuple[int, int]


class Source(NamedTuple):
    """A sentence in which something stands for its terms.

    Attributes:
        text: The sentence.
        marks: What stands for each term, in the order of the terms.
    """

    text: str
    marks: tuple[str, ...]


def is_kept_name(sentence: str, occurrence: Occurrence, translation: str) -> bool:
    """Returns whether a term is part of a name that the translation has as the sentence has it.

    Such a name is "Save the Children": the term has no capitals, its word in the sentence has one,
    and the translation has this word together with the word before or behind it.
    """
    text = normalized(sentence)
    word = text[occurrence.start : occurrence.end]
    if occurrence.term != occurrence.term.lower() or word[:1] == word[:1].lower():
        return False
    spans = _spans(text)
    inside = [i for i, (start, end) in enumerate(spans) if _meet((start, end), occurrence.span)]
    runs = [(inside[0] - 1, inside[-1]), (inside[0], inside[-1] + 1)]
    copied = f" {' '.join(_bare(each) for each in translation.split())} "
    for first, last in runs:
        if first < 0 or last >= len(spans):
            continue
        words = [text[slice(*spans[i])] for i in range(first, last + 1)]
        bare = [_bare(each) for each in words]
        is_joined = all(each[-1:].isalnum() for each in words[:-1])
        if is_joined and min(map(len, bare)) > 1 and f" {' '.join(bare)} " in copied:
            return True
    return False


def with_translations(sentence: str, terms: Sequence[Occurrence], quote: str = "") -> Source:
    """Returns a sentence with the translations of its terms in their places."""
    text = normalized(sentence)
    marks = [
        _title(term.translation, 1)
        if _begins(text, term.start) and text[term.start].isupper()
        else term.translation
        for term in terms
    ]
    return Source(_swapped(text, terms, [quote + mark + quote for mark in marks]), tuple(marks))


def with_names(sentence: str, terms: Sequence[Occurrence]) -> Source | None:
    """Returns a sentence with a name such as "X1" in place of each term; None if it has all."""
    text = normalized(sentence)
    letter = next((letter for letter in _LETTERS if letter not in text), None)
    if letter is None:
        return None
    marks = [f"{letter}{number}" for number in range(1, 1 + len(terms))]
    return Source(_swapped(text, terms, marks), tuple(marks))


def _swapped(text, terms, marks):
    parts, done = [], 0
    for term, mark in zip(terms, marks, strict=True):
        parts += [text[done : term.start], mark]
        done = term.end
    return "".join([*parts, text[done:]])


def without_names(text: str, source: Source, terms: Sequence[Occurrence]) -> str | None:
    """Returns a translation of `with_names` with the terms; None if it lacks a name."""
    for mark, term in zip(source.marks, terms, strict=True):
        pattern = re.compile(rf"(?<![\w-]){mark}(?![\w-])")
        if len(pattern.findall(text)) != 1:
            return None
        text = pattern.sub(_literal(term.translation), text)
    return text


def _whole(term, flags=0):
    """Returns a pattern of a term that is no part of a longer word."""
    return re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", flags)


def _literal(text):
    """Returns a text as a replacement of `re.sub`, which reads backslashes."""
    return text.replace("\\", r"\\")


def tidy(text: str, terms: Sequence[Occurrence], translation: str) -> str:
    """Returns a draft with the capitals of its terms, and without the quotes around them.

    Args:
        translation: What the model writes without the terms.
    """
    for term in terms:
        word = re.escape(term.translation)
        if term.translation != term.translation.lower():
            text = _whole(term.translation, re.IGNORECASE).sub(_literal(term.translation), text)
        text = re.compile(rf"[{_QUOTES}]({word})[{_QUOTES}]").sub(r"\1", text)
    starts = [term for term in terms if text.startswith(term.translation)]
    return _title(text, 1) if starts and translation[:1].isupper() else text


class Place(NamedTuple):
    """The words of a translation that stand for a term, one after the other.

    Attributes:
        spans: Where each word is, as (start, end) in characters.
        first, last: The first and the last of them that surely stand for it, counted from 0.
    """

    spans: tuple[Span, ...]
    first: int
    last: int

    @property
    def sure(self) -> tuple[Span, ...]:
        """Where the words are that surely stand for the term."""
        return self.spans[self.first : self.last + 1]


def aligned_place(
    alignment: Any, sentence: str, term: Occurrence, translation: str
) -> Place | None:
    """Returns the words of a translation that align with a term; None if none do.

    Args:
        alignment: The `WordAlignment` of the sentence and its translation.
    """
    text = normalized(sentence)
    source, target = _spans(text), _spans(translation)
    if (len(source), len(target)) != (len(alignment.source), len(alignment.target)):
        return None
    if not target or UNSPACED_WORDS.search(translation):
        return None
    inside = [i for i, span in enumerate(source) if _meet(span, term.span)]
    weights = alignment.weights[:, inside].sum(axis=1).tolist()  # M of them.
    best = max(range(len(weights)), key=weights.__getitem__)
    if weights[best] < _LEAST_WEIGHT:
        return None
    first, last = _run(weights, best, _NEAR_WEIGHT)
    sure_first, sure_last = _run(weights, best, _SURE_WEIGHT * weights[best])
    sure_first, sure_last = max(first, sure_first), min(last, sure_last)
    return Place(tuple(target[first : last + 1]), sure_first - first, sure_last - first)


def _run(weights, best, least):
    """Returns the first and the last index of a run around `best` with enough weight."""
    first = last = best
    while first and weights[first - 1] >= least and last - first + 1 < _MOST_REPLACED:
        first -= 1
    while (
        last + 1 < len(weights) and weights[last + 1] >= least and last - first + 1 < _MOST_REPLACED
    ):
        last += 1
    return first, last


def changed_place(translation: str, draft: str, written: str) -> Place | None:
    """Returns the words of a translation that a draft has a term for, if that is clear."""
    marked, count = _whole(written).subn(_TERM, draft, count=1)
    if not count:
        return None
    before = _spans(translation)
    words = [_bare(translation[slice(*span)]) for span in before]
    new_words = [_TERM if _TERM in word else _bare(word) for word in marked.split()]
    matcher = difflib.SequenceMatcher(None, words, new_words, autojunk=False)
    for kind, begin, end, new_begin, new_end in matcher.get_opcodes():
        if kind == "replace" and _TERM in new_words[new_begin:new_end]:
            first = min(new_words.index(_TERM) - new_begin, end - begin - 1)
            spans = tuple(before[begin:end])
            return Place(spans, first, len(spans) - 1) if len(spans) <= _MOST_REPLACED else None
    return None


def word_before(text: str, written: str) -> str | None:
    """Returns the short word before a term in a draft, "" for none; None without the term."""
    match = _whole(written).search(text)
    if not match:
        return None
    words = text[: match.start()].split()
    is_beside = text[: match.start()].endswith(" ") and words
    return words[-1] if is_beside and len(words[-1]) <= _SHORT and words[-1].isalnum() else ""


class Replacement(NamedTuple):
    """A part of a translation, and what is written in its place."""

    start: int
    end: int
    text: str


def replacements(
    translation: str, place: Place, term: str, before: Sequence[str]
) -> list[Replacement]:
    """Returns ways to put a term in the place of words, the plainest first.

    Words at the ends of the place may stay, and the short word before it may become another one,
    as the article of one word is not that of another.

    Args:
        before: Short words that other drafts have before the term.
    """
    spans, first, last = place
    starts, ends = zip(*(_core(translation, span) for span in spans), strict=True)
    while first < last and _is_short(translation, spans[first]):
        first += 1
    ways = []

    def add(start, word, end=ends[last]):
        written = _cased(term, translation, starts[first], start if word else None)
        if word and _begins(translation, start):
            word = _title(word, 1)
        ways.append(Replacement(start, end, f"{word} {written}" if word else written))

    for start in reversed(starts[: first + 1]):
        for end in ends[last:]:
            add(start, "", end)
    all_spans = _spans(translation)
    index = next(i for i, span in enumerate(all_spans) if span[1] > starts[first])
    previous = all_spans[index - 1] if index else None
    for word in filter(None, dict.fromkeys(before)):
        add(starts[first], word)
        if previous and _is_short(translation, previous):
            add(previous[0], word)
    elided = _ELISION.search(translation, starts[first], ends[last])
    if elided and elided.end() - starts[first] <= _SHORT:  # "l'hôpital"
        ways.append(Replacement(elided.end(), ends[last], term))
    elif elided and ends[last] - elided.start() <= _SHORT:  # "team's"
        start = starts[first]
        ways.insert(0, Replacement(start, elided.start(), _cased(term, translation, start)))
    return [*dict.fromkeys(ways)][:_MOST_DRAFTS]


def replaced(translation: str, parts: Sequence[Replacement]) -> str | None:
    """Returns a translation with all parts replaced; None if they overlap."""
    parts = sorted(parts)
    if any(before.end > part.start for before, part in itertools.pairwise(parts)):
        return None
    written, done = [], 0
    for part in parts:
        written += [translation[done : part.start], part.text]
        done = part.end
    return "".join([*written, translation[done:]])


def old_words(translation: str, place: Place, term: str) -> set[str]:
    """Returns the words that surely stand for a term, without short ones and its own."""
    words = {_bare(translation[slice(*span)]).casefold() for span in place.sure}
    own = {_bare(word) for word in term.casefold().split()}
    return {word for word in words if len(word) >= _SHORT} - own


def count_words(text: str, words: set[str]) -> int:
    """Returns how many words of a text are among `words`."""
    return sum(_bare(word).casefold() in words for word in text.split())


def changed_words(text: str, draft: str, terms: Sequence[str]) -> int:
    """Returns how many words of a text and a draft with terms the other one does not have."""
    for term in terms:  # Not all of its words are new.
        draft = _whole(term).sub(_TERM, draft, count=1)
    words = [_bare(word) for word in text.split()], [_bare(word) for word in draft.split()]
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(words[0]) + len(words[1]) - 2 * same


def repeated_words(text: str) -> int:
    """Returns how often a word follows itself."""
    words = [word.casefold() for word in text.split()]
    return sum(word == before for before, word in itertools.pairwise(words))


def _cased(term, translation, start, written_from=None):
    """Returns a term as it is written in place of the words from `start` on."""
    if term != term.lower():
        return term
    word = _WORD.match(translation, start)
    begins = _begins(translation, start)
    is_name = bool(word) and word[0][:1].isupper() and not begins
    if is_name and not word[0].isupper():
        return _title(term, _TITLE_WORD)
    begins = begins and written_from is None
    return _title(term, 1) if begins and word and word[0][:1].isupper() else term


def _title(text, least):
    """Returns a text with a capital for its first word and for words of so many letters."""
    if least == 1:
        return text[:1].upper() + text[1:]
    words = text.split(" ")
    return " ".join(
        word[:1].upper() + word[1:] if not i or len(word) >= least else word
        for i, word in enumerate(words)
    )


def _begins(text, place):
    return not any(map(str.isalnum, text[:place]))


def _spans(text) -> list[Span]:
    return [match.span() for match in _WORD.finditer(text)]


def _core(text, span):
    """Returns where a word is without the punctuation at its ends."""
    start, end = span
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return (start, end) if start < end else span


def _bare(word):
    return word[slice(*_core(word, (0, len(word))))] if word else word


def _is_short(text, span):
    word = text[slice(*span)]
    return len(word) <= _SHORT and word.isalpha()


def _meet(first, second):
    return first[0] < second[1] and second[0] < first[1]
