"""The translator's answers to the texts of a document: each distinct text is asked for once.

A text is first translated with its placeholders, for which names such as "X1" stand: models copy
names, and give them place, case and preposition, but few copy "{name}", which a vocabulary may not
even spell. A model that was trained with placeholders reads them as symbols. If the answers to the
first texts lack names, their placeholders are tried as they are, which is what a function gets at
once. A placeholder that an answer does not have exactly as often is left out of the text, which is
translated again, and put back beside the words around it. If nearly all of the first answers fail,
further texts are translated without placeholders at once.

Amounts such as "£2.8bn" stay in the text. A text whose answer lacks the digits of one is translated
again without its amounts, which are then put back.
"""

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kformer.documents.amounts import lacks_amounts
from kformer.documents.pair_alignment import align_pairs
from kformer.documents.placement import TakenText
from kformer.documents.word_places import LONGEST, SentencePair, word_pair, word_spans
from kformer.inference.facts import ModelFacts
from kformer.inference.glossary import Glossary
from kformer.inference.search_options import SearchOptions
from kformer.inference.source_marks import (
    PLACEHOLDER_SYMBOLS,
    PLACEHOLDERS,
    SYMBOLS,
    without_marks,
)
from kformer.inference.splitting import SplitTranslation, translate_split
from kformer.text.paragraphs.marks import has_letter

_ALIGNED = 1000  # Sentences that are aligned, if so many are not in texts with codes.
_TRIED = 16  # Texts with placeholders after which it is known how a translator copies them,
_HOPELESS = 7 / 8  # and that it does not, if more than this share of the answers fail.
_ENOUGH = 1 / 8  # Share of failures from which on another way is tried.
_BEHIND = " .,;:!?…)"  # What a word may have behind it; also nothing.
_LETTERS = "XYZQWV"  # Of names; the first one that none in the text has.
_NAME = re.compile(rf"[{_LETTERS}](?=\d)")
_CELLS = 1_000_000  # Pairs of words that are aligned together: 8 MB for an array of them.


class Answer(NamedTuple):
    """The translation of a segment's text.

    Attributes:
        taken: The text that was translated, with the codes that must be put back.
        text: The translation.
        sentences: Its sentences.
        flags: Faults of the translation.
    """

    taken: TakenText
    text: str
    sentences: tuple[SentencePair, ...]
    flags: tuple[str, ...]

    @property
    def is_unchanged(self) -> bool:
        """Whether the translation is the text, sentence by sentence."""
        pairs = self.sentences
        return self.text == self.taken.text or all(pair.source == pair.target for pair in pairs)

    @property
    def lack(self) -> str:
        """Why the translation cannot stand for the text: it, or a sentence of it, is empty."""
        if not self.text.strip():
            return "its translation is empty"
        pairs = self.sentences
        is_lost = any(has_letter(pair.source) and not pair.target.strip() for pair in pairs)
        return "the translation of a sentence is empty" if is_lost else ""


class _Plain(NamedTuple):
    """A translation by a function."""

    text: str
    flags: tuple[str, ...] = ()


class Answers:
    """Asks a translator, and remembers its answers.

    Args:
        translator: `kformer.AnyTranslator`, `PlainTranslator`, or another object with `facts`,
            with `split_translations` and, if its facts say so, with `align`.
        source_language, target_language, glossary, options: Passed on to the translator if they are
            not None.
        syntax: The regular expression of `syntax_pattern`: what no translation may add.
    """

    def __init__(
        self,
        translator: Any,
        source_language: str | None,
        target_language: str | None,
        syntax: re.Pattern,
        glossary: Glossary | None = None,
        options: SearchOptions | None = None,
    ):
        self._syntax = syntax
        self._split = _splitter(translator, source_language, target_language, glossary, options)
        self._align = translator.align if translator.facts.aligns else None
        self._is_model = translator.facts.takes_names
        self._reads_symbols = PLACEHOLDERS in translator.facts.source_marks
        # The ways to show placeholders, the best first, until one is chosen.
        self._ways = [_by_names, _as_they_are] if self._is_model else [_as_they_are]
        if self._reads_symbols:
            self._ways = [_by_symbols]
        self._way_of: dict[str, Callable[[TakenText], TakenText]] = {}  # Of texts with some.
        self._known: dict[str, SplitTranslation] = {}
        self._tried = self._failed = 0  # Answers to texts with placeholders.
        self._pairs: dict[tuple[str, str], SentencePair] = {}
        self.asked = 0

    def ask(self, texts: Iterable[TakenText]):
        """Translates the texts that are not known yet, in one call or a few."""
        texts = [*texts]
        plain = [taken for taken in texts if not taken.has_shown]
        shown = {t.text: t for t in texts if t.has_shown and t.text not in self._way_of}
        self.asked += len(shown) + len({taken.text for taken in plain}.difference(self._known))
        new = [*shown.values()]
        first = _TRIED if self._tried < _TRIED else 0
        self._translate([*plain, *map(self._ways[0], new[:first])])
        self._choose_way(new[:first])
        is_hopeless = self._tried >= _TRIED and self._failed > _HOPELESS * self._tried
        way = TakenText.without if is_hopeless else self._ways[0]
        self._way_of |= dict.fromkeys([taken.text for taken in new[first:]], way)
        self._translate(map(self._shown, new[first:]))
        self._translate(map(self._without_lost, new))
        self._translate(map(self._choose, texts))
        self._translate(map(self._choose, texts))  # Also of those without amounts.
        self._align_all(texts)

    def _choose_way(self, texts):
        """Translates the first texts with placeholders in each way; chooses the best one."""
        if not texts:
            return
        failures = []
        for way in self._ways:
            self._translate(map(way, texts))
            failures.append(sum(map(self._fails, map(way, texts))))
            if failures[-1] <= _ENOUGH * len(texts):
                break
        best = min(range(len(failures)), key=failures.__getitem__)
        self._way_of |= dict.fromkeys([taken.text for taken in texts], self._ways[best])
        self._tried += len(texts)
        self._failed += failures[best]
        self._ways.insert(0, self._ways.pop(best))

    def answer(self, taken: TakenText) -> Answer:
        """Returns the answer to a text that was asked for."""
        taken = self._choose(taken)
        translation = self._known[taken.text]
        text = translation.text
        if added := self._added(taken, text):
            text = without_marks(_without(text, added))
        text = taken.without_placeholders(text)
        pairs = [
            self._pairs.get((sentence.source, sentence.text))
            or SentencePair(sentence.source, sentence.text)
            for sentence in translation.sentences
        ]
        if self._is_model and pairs and text.startswith(pairs[0].target):
            first = pairs[0]._replace(target=_with_capital(pairs[0].source, pairs[0].target))
            text, pairs[0] = first.target + text[len(first.target) :], first
        return Answer(taken, text, tuple(pairs), translation.flags)

    def _shown(self, taken):
        """Returns the text as a translator first reads it."""
        return self._way_of[taken.text](taken) if taken.has_shown else taken

    def _without_lost(self, taken):
        """Returns the text without the placeholders that the answer to it lacks."""
        shown = self._shown(taken)
        return shown.without(shown.lost(self._known[shown.text].text))

    def _choose(self, taken):
        """Returns the text without what the answers to it lack."""
        if taken.has_shown:
            asked = self._shown(taken)
            if self._fails(asked):
                asked = self._without_lost(taken)
            taken = taken.without() if self._fails(asked) else asked
        amounts = taken.amounts
        answer = self._known.get(taken.text)
        if amounts and answer and lacks_amounts(amounts, answer.text):
            taken = taken.without_amounts()
        return taken

    def _fails(self, taken):
        if not taken.has_shown:
            return False
        text = self._known[taken.text].text
        return bool(taken.lost(text) or self._added(taken, text))

    def _added(self, taken, translation):
        """Returns where a translation has placeholders, or symbols, that its text has not."""
        patterns = self._syntax, SYMBOLS
        known = Counter(itertools.chain(*(pattern.findall(taken.text) for pattern in patterns)))
        known |= Counter(code.shown for code in taken.codes if code.is_copy)
        spans = []
        for match in itertools.chain(*(pattern.finditer(translation) for pattern in patterns)):
            if known[match[0]]:
                known[match[0]] -= 1
            else:
                spans.append(match.span())
        return spans

    def _translate(self, texts):
        """Translates `TakenText`s that are not known."""
        unknown = [*dict.fromkeys(taken.text for taken in texts if taken.text not in self._known)]
        if not unknown:
            return
        with warnings.catch_warnings():  # The numbers in it are of texts, not of lines.
            warnings.filterwarnings("ignore", r"Text \d+ has a sentence that is too long")
            answers = self._split([*unknown])
        self._known |= zip(unknown, answers, strict=True)

    def _align_all(self, texts):
        """Aligns the words of sentences in texts with codes, together with other sentences."""
        coded, plain = {}, {}
        for taken in texts:
            chosen = self._choose(taken)
            for sentence in self._known[chosen.text].sentences:
                (coded if chosen.codes else plain)[sentence.source, sentence.text] = None
        unknown = [*filter(_has_words, coded)]
        if self._pairs.keys() >= {*unknown}:  # They were aligned together with more texts.
            return
        self._pairs = {}  # Those of earlier texts are not needed any more.
        attention: list = [None] * len(unknown)
        if self._align:
            sources, targets = zip(*unknown, strict=True)
            attention = [alignment.weights for alignment in self._align(sources, targets)]
        pairs = {
            pair: word_pair(*pair, weights)
            for pair, weights in zip(unknown, attention, strict=True)
        }
        extra = (pair for pair in plain if pair not in coded and _has_words(pair))
        pairs |= {
            pair: word_pair(*pair)
            for pair in itertools.islice(extra, max(_ALIGNED - len(unknown), 0))
        }
        for group in _groups(pairs):
            for pair, weights in zip(group, align_pairs([pairs[p] for p in group]), strict=True):
                self._pairs[pair] = SentencePair(*pair, weights)


def _without(text, spans):
    """Returns a text without parts of it, each of which takes the space before it along."""
    pieces, done = [], 0
    for start, end in sorted(spans):
        is_apart = text[end : end + 1] in _BEHIND and text[start - 1 : start] == " "
        pieces.append(text[done : max(start - is_apart, done)])
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def _as_they_are(taken):
    return taken


def _by_symbols(taken):
    return taken.named(PLACEHOLDER_SYMBOLS)


def _by_names(taken):
    """Returns a text with names for its placeholders, of a letter that begins no name in it."""
    used = {*_NAME.findall(taken.text)}
    letter = next((letter for letter in _LETTERS if letter not in used), None)
    if letter is None:
        return taken.without()
    return taken.named([f"{letter}{number}" for number in range(1, 1 + len(taken.codes))])


def _with_capital(source, translation):
    """Returns a translation with a capital at its beginning if the source has one: "Chave API".

    A word with a capital inside, such as "iPhone", stays, and so does one that was copied.
    """
    words = translation.split(maxsplit=1)
    if not source[:1].isupper() or not words or not words[0].islower():
        return translation
    capital = translation[0].upper()
    is_copied = words[0] in source.split()
    return translation if is_copied or len(capital) != 1 else capital + translation[1:]


def _groups(pairs):
    """Yields pairs that are aligned together, so many that their weights fit into memory."""
    group, size = [], 0
    for pair, words in pairs.items():
        cells = len(words.source) * len(words.target)
        if group and size + cells > _CELLS:
            yield group
            group, size = [], 0
        group.append(pair)
        size += cells
    if group:
        yield group


def _has_words(pair):
    return all(0 < len(word_spans(text)) <= LONGEST for text in pair)


class PlainTranslator:
    """A function from texts to translations, or an object with such a method, for documents.

    Args:
        translator: The function, or an object with a method `translate`.

    Raises:
        TypeError: It is something else.
    """

    facts = ModelFacts(
        target_languages=None,
        takes_names=False,
        no_terms="A glossary needs a translator of `kformer.load`, an ensemble or a client of a "
        "server. Received: glossary with a function.",
    )

    def __init__(self, translator: Any):
        self._translate = getattr(translator, "translate", translator)
        if not callable(self._translate):
            raise TypeError(
                "`translator` must have a method `translate`, or be a function from texts to their "
                f"translations. Received: translator={translator!r:.99}."
            )

    def split_translations(
        self, texts: Sequence[str], source_language: str | None = None, **_target: Any
    ) -> list[SplitTranslation]:
        """Returns the translations of texts of many sentences."""
        return translate_split(self._find, texts, source_language)

    def _find(self, sentences, _progress):
        translations = self._translate(sentences)
        if len(translations) != len(sentences):
            raise ValueError(
                "`translator` must return as many translations as it gets texts. "
                f"Received: {len(translations)} for {len(sentences)} texts."
            )
        return map(_Plain, translations)


def as_translator(translator: Any) -> Any:
    """Returns a translator as `Answers` needs it, of whatever kind it is."""
    return translator if hasattr(translator, "facts") else PlainTranslator(translator)


def _splitter(translator, source_language, target_language, glossary, options) -> Callable:
    """Returns a function from texts to their `SplitTranslation`s."""
    facts = translator.facts
    if facts.target_languages == ():
        target_language = None  # It has no choice, so it is only the name of its language.
    settings = {
        "source_language": source_language,
        "target_language": target_language,
        "options": options,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if glossary is not None:
        if facts.no_terms:
            raise ValueError(facts.no_terms)
        settings["glossary"] = glossary
    return lambda texts: translator.split_translations(texts, **settings)
