"""Parsing: which English sentences the grammar can derive.

The productions themselves decide. Each runs once for every sequence of choices that it can make,
and the results for a symbol and its features are kept. A result whose English text does not occur
in the sentence is discarded, so that few sequences are left.
"""

from collections.abc import Iterator

from kformer.phrasebook import Pair
from support.phrasebook import LENGTHS
from support.phrasebook.derivation import Derivation, Nonsense, alternatives
from support.phrasebook.word_order import Clause, operator_first, subject_first
from support.phrasebook.words import english
from support.phrasebook.words.lexicon import Adjective, Noun


def parse(sentence: str) -> tuple[Pair, Derivation] | None:
    """Searches for a derivation of an English sentence.

    Returns:
        A pair whose target is `sentence`, and its derivation, as `sample` could yield them. None
        if the grammar cannot derive the sentence. Other derivations may exist.
    """
    if len(sentence.split()) not in LENGTHS:
        return None
    for phrase, choices in _Parts(sentence).expand("Sentence", {}):
        if phrase.english == sentence and len(phrase.german.split()) in LENGTHS:
            remaining = iter(choices)
            derivation = Derivation(lambda *_, remaining=remaining: next(remaining))
            return Pair(*derivation.derive("Sentence")), derivation
    return None


class _Parts:
    """All results of the grammar's symbols whose English text occurs in one sentence."""

    def __init__(self, sentence: str):
        self._sentence = f" {sentence} "
        self._results: dict = {}  # By symbol and features: by result, the choices that lead to it.

    def of(self, symbol: str, features: dict) -> dict:
        """Returns the distinct results for a symbol, each with choices that lead to it."""
        key = symbol, frozenset(features.items())
        if key not in self._results:
            self._results[key] = dict(self.expand(symbol, features))
        return self._results[key]

    def expand(self, symbol: str, features: dict) -> Iterator[tuple]:
        """Yields results for a symbol with the choices that led to them; results may repeat."""
        for production in alternatives(symbol)[0]:
            untried = [()]
            while untried:
                run = _Run(self, untried)
                try:
                    result = production.expand(run, **features)
                except Nonsense:
                    continue
                if self._occurs(result):
                    yield result, (production, *(c for step in run.steps for c in step[1]))

    def _occurs(self, result) -> bool:
        """Returns False only if no sentence with this part can be the one to parse."""
        if isinstance(result, Clause):
            _, *others = result.circumstances or [None]
            fronted = result._replace(circumstances=tuple(others))
            texts = subject_first(result), operator_first(result), subject_first(fronted)
            return any(self._has(text) for text in texts)
        if isinstance(result, english.VerbGroup):
            operator, main, plain = result
            in_parts = f" {operator}" in self._sentence and self._has(main)  # "can" in "cannot"
            return in_parts or (plain is not None and self._has(plain))
        if isinstance(getattr(result, "english", None), str):
            return self._has(result.english)
        return not isinstance(result, tuple) or all(map(self._occurs, result))

    def may_have(self, word) -> bool:
        """Returns False for a noun or an adjective none of whose English forms occurs."""
        if isinstance(word, Noun):
            forms = {english.noun(word, number) for number in word.numbers}
            return any(map(self._has, forms))
        return not isinstance(word, Adjective) or self._has(word.english)

    def _has(self, text: str) -> bool:
        return not text or f" {text} " in self._sentence


class _Run(Derivation):
    """Runs a production with the last of the untried sequences of choices.

    After that sequence it takes the first option at each choice, and adds the others to `untried`.

    Attributes:
        steps: Pairs of what was chosen, and the choices of an ordinary derivation that lead to it.
    """

    def __init__(self, parts: _Parts, untried: list[tuple]):
        super().__init__(lambda options: self._take([(o, (o,)) for o in dict.fromkeys(options)]))
        self._parts = parts
        self._untried = untried
        self.steps = untried.pop()
        self._taken = 0

    def _take(self, options: list[tuple]):
        if self._taken == len(self.steps):
            if not options:
                raise Nonsense("No option occurs in the sentence.")
            self._untried += [(*self.steps, option) for option in options[1:]]
            self.steps = (*self.steps, options[0])
        self._taken += 1
        return self.steps[self._taken - 1][0]

    def derive(self, symbol, **features):
        return self._take(list(self._parts.of(symbol, features).items()))

    def pick(self, words, but=()):
        fitting = [word for word in words if word not in but and self._parts.may_have(word)]
        return self._take([(word, (word,)) for word in fitting])
