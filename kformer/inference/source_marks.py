"""Marks in a source for models that were trained with them: terms, and placeholders.

The translation of a term follows the term, between two symbols: the text of "Ein Hund läuft." with
"hound" for "Hund" is "Ein Hund⟨ hound⟩ läuft." ([Dinu et al.,
2019](https://arxiv.org/abs/1906.01105)). A placeholder is one of a few symbols, which the
translation has, too.

The symbols are characters of Unicode's private use area, each a piece of the vocabulary, so every
form of a model reads them like other text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kformer.inference.glossary import Occurrence, normalized
from kformer.text.paragraphs.joining import UNSPACED_WORDS

TERMS, PLACEHOLDERS = KINDS = ("terms", "placeholders")
ABOUT = "source_marks"  # The name, in the metadata of a model, of the kinds that it was trained on.
TERM_BEGIN, TERM_END = "\ue000", "\ue001"  # Before and behind the translation of a term.
PLACEHOLDER_SYMBOLS = tuple(map(chr, range(0xE010, 0xE018)))  # For those of one sentence.
_SYMBOLS = {TERMS: (TERM_BEGIN, TERM_END), PLACEHOLDERS: PLACEHOLDER_SYMBOLS}
SYMBOLS = re.compile("[\ue010-\ue017]")  # Of placeholders.
_ANY = re.compile("[\ue000\ue001\ue010-\ue017]")


def symbols_of(kinds: Iterable[str]) -> tuple[str, ...]:
    """Returns the characters that a vocabulary needs for some of `KINDS`."""
    return tuple(symbol for kind in kinds for symbol in _SYMBOLS[kind])


def reads_marks(about: Mapping[str, Any], kind: str) -> bool:
    """Returns whether a model with the metadata `about` was trained with one of `KINDS`."""
    kinds = about.get(ABOUT)
    return isinstance(kinds, list | tuple) and kind in kinds


def marked_sources(glossary: Any, sentences: Sequence[str], about: Mapping[str, Any]) -> list[str]:
    """Returns sentences with their terms, for a model that was trained with them; else as they are.

    Args:
        glossary: `kformer.Glossary`, or None.
    """
    if glossary is None or not reads_marks(about, TERMS):
        return [*sentences]
    return [with_terms(sentence, glossary.find(sentence)) for sentence in sentences]


def without_marks(text: str) -> str:
    """Returns a text without the symbols."""
    return _ANY.sub("", text)


def with_terms(sentence: str, occurrences: Sequence[Occurrence]) -> str:
    """Returns a sentence with the translation of each term behind it."""
    if not occurrences:
        return sentence
    text, parts, done = normalized(sentence), [], 0
    for occurrence in occurrences:
        space = "" if UNSPACED_WORDS.match(occurrence.translation) else " "
        term = without_marks(text[done : occurrence.end])
        parts += [term, TERM_BEGIN, space, without_marks(occurrence.translation), TERM_END]
        done = occurrence.end
    return "".join([*parts, without_marks(text[done:])])
