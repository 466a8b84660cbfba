"""Glossaries: the terms of a text, and the translation that each of them must have.

Texts are compared token by token: a run of letters and digits is a token, and so is every other
character, above all each character of a script without spaces between words. A term therefore
matches whole words, and in Chinese, Japanese or Thai any characters.
"""

import copy
import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from kformer.arguments import check_text
from kformer.text.long_lines import check_whole
from kformer.text.paragraphs.joining import UNSPACED_WORDS
from kformer.text.text_files import read_lines

TERM_MISSED = "term missed"  # A flag of a translation,
TERM_UNLIKELY = "term unlikely"  # and of one that a term spoils.
_MOST_ENDING = 2  # Letters by which a word may be longer than the term's,
_LETTERS_OF_ENDING = 2  # of which each needs so many letters of the term's word.
_COMMENT = "#"
_HYPHENS = {"-", "\u2010", "\u2011"}  # They join words to one.


class Occurrence(NamedTuple):
    """A term in a sentence.

    Attributes:
        term: As in the glossary.
        translation: The translation that it must have.
        place: Where its middle is, from 0 to 1.
        rest: The sentence without it; blank if there is nothing else.
        end: Where it ends, in characters of the `normalized` sentence.
        start: Where it begins.
    """

    term: str
    translation: str
    place: float
    rest: str
    end: int
    start: int

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.start, self.end


class Glossary:
    """Terms of a source language, each with the translation that it must have.

    A term matches whole words, and no part of a word with hyphens, such as "election" in
    "re-election". A term without capitals also matches where it is capitalized; a
    term with capitals, such as "US", matches exactly. Of several terms that begin at one place,
    the longest matches. Other forms of a word, such as its plural, are terms of their own.

    Texts are compared after Unicode's normalization NFKC.

    Args:
        terms: Translations by term, or pairs of a term and its translation.

    Raises:
        TypeError: A term or a translation is not a string.
        ValueError: There are no terms, one is blank, or has two translations.

    Examples:
        >>> import kformer
        >>> glossary = kformer.Glossary({"Hund": "cat"})
        >>> [occurrence.term for occurrence in glossary.find("Ein Hund sucht die Hunde.")]
        ['Hund']
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> translator.translate("Der Hund ist hier.", glossary=glossary)
        'The cat is here.'
    """

    def __init__(self, terms: Mapping[str, str] | Iterable[tuple[str, str]]):
        self._translations: dict[str, str] = {}
        self._ignored: re.Pattern | None = None
        for term, translation in terms.items() if isinstance(terms, Mapping) else terms:
            self._add(check_text("term", term), check_text("translation", translation))
        self._index()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a TSV file with a term, a tab and its translation on each line.

        Blank lines are skipped, and lines that begin with "#" and have no tab.

        Args:
            path: A file of UTF-8, plain or compressed.

        Raises:
            FileNotFoundError, IsADirectoryError: There is no such file.
            ValueError: It is not UTF-8, a line has another form, or it has no terms; the message
                has the number of the line.
        """
        name = repr(str(path))
        return cls._parsed(check_whole(read_lines(path), name), name)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads the text of a glossary file, with the errors of `load`."""
        return cls._parsed(text.splitlines(), "the glossary")

    @classmethod
    def _parsed(cls, lines, name):
        glossary = cls.__new__(cls)
        glossary._translations, glossary._ignored = {}, None
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix("\ufeff").strip()
            if not text or (text.startswith(_COMMENT) and "\t" not in text):
                continue
            fields = text.split("\t")
            if len(fields) != 2:
                raise ValueError(
                    "A line of a glossary must be a term, a tab and its translation. "
                    f"Received: {name}, where line {number} has {len(fields)} columns."
                )
            glossary._add(*fields, f" in {name}, line {number}")
        glossary._index(f" in {name}")
        return glossary

    def __len__(self):
        return len(self._translations)

    def __repr__(self):
        return f"Glossary({len(self)} terms)"

    def _add(self, term, translation, where=""):
        term, translation = normalized(term), normalized(translation)
        if not term or not translation:
            raise ValueError(
                "A term and its translation must not be blank. "
                f"Received: {term!r:.60} and {translation!r:.60}{where}."
            )
        known = self._translations.setdefault(term, translation)
        if known != translation:
            raise ValueError(
                "A term must have one translation. "
                f"Received: {term!r:.60} with {known!r:.60} and {translation!r:.60}{where}."
            )

    def _index(self, where=""):
        """Sorts the terms by their first token, and those of one token by length."""
        if not self._translations:
            raise ValueError(f"A glossary must have a term. Received: none{where}.")
        self._by_token: dict[str, list[_Term]] = defaultdict(list)
        for text in self._translations:
            term = _term(text)
            self._by_token[term.tokens[0].casefold()].append(term)
        for terms in self._by_token.values():  # Of one length, the exact ones come first.
            terms.sort(key=lambda term: (-len(term.tokens), term.any_case))

    def outside(self, pattern: re.Pattern) -> Self:
        """Returns a glossary that finds no terms where a text matches a regular expression."""
        glossary = copy.copy(self)
        glossary._ignored = pattern
        return glossary

    def find(self, sentence: str) -> list[Occurrence]:
        """Returns the terms in a sentence, from left to right; they do not overlap."""
        text = normalized(sentence)
        tokens = _tokens(text)
        ignored = [match.span() for match in self._ignored.finditer(text)] if self._ignored else []
        occurrences, i = [], 0
        while i < len(tokens):
            term = self._longest(tokens, i)
            if term is None:
                i += 1
                continue
            last = i + len(term.tokens) - 1
            start, end = tokens[i].start, tokens[last].end
            if not any(start < stop and begin < end for begin, stop in ignored):
                place = (start + end) / 2 / len(text)
                translation = self._translations[term.text]
                rest = (text[:start].rstrip() + text[end:]).strip()
                occurrences.append(Occurrence(term.text, translation, place, rest, end, start))
            i = last + 1
        return occurrences

    def text_for(self, sentence: str) -> str:
        """Returns the terms that occur in a sentence, as `from_text` reads them; "" for none.

        A glossary of these alone finds the same terms in the sentence.
        """
        occurrences = self.find(sentence)
        return "".join(f"{term}\t{self._translations[term]}\n" for term, *_ in occurrences)

    def _longest(self, tokens, i):
        for term in self._by_token.get(tokens[i].text.casefold(), ()):
            if _matches(tokens, i, term):
                return term
        return None


def check_glossary(value: Any, **refused: Any) -> Glossary | None:
    """Returns the argument `glossary`: a `Glossary`, a mapping that becomes one, or None."""
    if value is None:
        return None
    names = [name for name, is_set in refused.items() if is_set]
    if names:
        raise ValueError(
            "With a glossary, the best translation is searched for each sentence, without samples "
            f"and prefixes. Received: glossary, {', '.join(names)}."
        )
    if isinstance(value, Glossary):
        return value
    if isinstance(value, Mapping):
        return Glossary(value)
    raise TypeError(
        "`glossary` must be a kformer.Glossary, or a dict of terms and their translations. "
        f"Received: glossary={value!r:.99}."
    )


def missed_terms(
    occurrences: Sequence[Occurrence], translation: str, inflected: bool = True
) -> list[Occurrence]:
    """Returns the occurrences of terms whose translations are missing.

    A translation has a term as whole words, each of which may have an ending: up to two letters,
    and up to half as many as the word. A term without capitals may be capitalized, and every term
    may be in capitals. A term that occurs twice in the source must be there twice. If it is there
    less often, the occurrences are missed that are farthest from the others.

    Args:
        inflected: Whether a word may have an ending.
    """
    if not occurrences:
        return []
    text = normalized(translation)
    tokens = _tokens(text)
    by_translation = defaultdict(list)
    for number, occurrence in enumerate(occurrences):
        by_translation[occurrence.translation].append(number)
    taken: set[int] = set()
    missed: set[int] = set()
    terms = {written: _term(written) for written in by_translation}
    for written in sorted(terms, key=lambda written: -len(terms[written].tokens)):
        places = [*_places(tokens, terms[written], taken, len(text), inflected)]
        left = by_translation[written]
        for place in places[: len(left)]:
            nearest = min(left, key=lambda number: abs(occurrences[number].place - place))
            left = [number for number in left if number != nearest]
        missed.update(left)
    return [occurrences[number] for number in sorted(missed)]


def _places(tokens, term, taken, length, inflected) -> Iterator[float]:
    """Yields the place of each occurrence of a translation, from 0 to 1, and takes its tokens."""
    for i in range(len(tokens) - len(term.tokens) + 1):
        indices = range(i, i + len(term.tokens))
        if taken.isdisjoint(indices) and _matches(tokens, i, term, inflected):
            taken.update(indices)
            yield (tokens[i].start + tokens[indices[-1]].end) / 2 / length


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Term(NamedTuple):
    text: str
    tokens: tuple[str, ...]
    any_case: bool


@functools.lru_cache(maxsize=10_000)  # Translations are compared in every sentence.
def _term(text):
    return _Term(text, tuple(token.text for token in _tokens(text)), text == text.lower())


def normalized(text: str) -> str:
    """Returns a text as glossaries compare it: in NFKC, without white space at its ends."""
    return unicodedata.normalize("NFKC", text).strip()


def _tokens(text) -> list[_Token]:
    """Splits a text into words, runs of white space as " ", and other characters."""
    tokens = []
    kinds = [*map(_kind, text)]
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not kinds[start] or kinds[end] != kinds[start]:
            content = " " if kinds[start] == " " else text[start:end]
            tokens.append(_Token(content, start, end))
            start = end
    return tokens


@functools.lru_cache(maxsize=10_000)
def _kind(character):
    """Returns " " for white space, "w" for a part of a word, "" for a token of its own."""
    if character.isspace():
        return " "
    if UNSPACED_WORDS.match(character):
        return ""
    return "w" if character.isalnum() or unicodedata.category(character)[0] == "M" else ""


def _matches(tokens, i, term, inflected=False):
    """Returns whether the tokens from `i` on are a term's."""
    if i + len(term.tokens) > len(tokens):
        return False
    last = i + len(term.tokens) - 1
    if _is_joined(tokens, i, -1) or _is_joined(tokens, last, 1):
        return False
    same = _is_form if inflected else _is_same
    return all(
        same(tokens[place].text, token, term.any_case)
        for place, token in enumerate(term.tokens, start=i)
    )


def _is_joined(tokens, i, step):
    """Returns whether a hyphen joins token `i` to a word, on the side of `step`."""
    end = i + 2 * step
    return (
        0 <= end < len(tokens)
        and tokens[i + step].text in _HYPHENS
        and _is_word(tokens[i])
        and _is_word(tokens[end])
    )


def _is_word(token):
    return _kind(token.text[0]) == "w"


def _is_same(token, term_token, any_case):
    return token == term_token or (any_case and token.casefold() == term_token.casefold())


def _is_form(token, term_token, any_case):
    """Returns whether a token is one of a translation of a term, perhaps with an ending."""
    if any_case:
        token, term_token = token.casefold(), term_token.casefold()
    if not token.startswith(term_token):
        upper = term_token.upper()
        if upper == term_token or not token.startswith(upper):
            return False
        term_token = upper
    ending = token[len(term_token) :]
    most = min(_MOST_ENDING, len(term_token) // _LETTERS_OF_ENDING)
    return not ending or (len(ending) <= most and ending.isalpha())
