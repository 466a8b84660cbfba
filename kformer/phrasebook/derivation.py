"""Synchronous derivation: a production expands a symbol into German and English at once.

A production is a function, registered under the symbol it expands. It derives its parts, which may
be discontinuous (the two halves of "ich stehe um acht uhr auf"), and hands them up as a record.
Features run both ways: case and kind come down as arguments, gender and person go up in the record.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from kformer.phrasebook.words.lexicon import Adjective, Noun, Verb


class Nonsense(Exception):
    """Raised by a production whose parts make no sense together; the derivation is given up."""


class Production(NamedTuple):
    name: str
    symbol: str
    weight: float
    expand: Callable


PRODUCTIONS: list[Production] = []


def production(symbol: str, weight: float = 1):
    """Registers a function as one way to expand `symbol`, chosen in proportion to `weight`."""

    def register(expand):
        PRODUCTIONS.append(Production(expand.__name__, symbol, weight, expand))
        _alternatives.clear()
        return expand

    return register


_alternatives: dict[str, tuple[list[Production], list[float]]] = {}


def alternatives(symbol: str) -> tuple[list[Production], list[float]]:
    """The productions of a symbol and their cumulative weights."""
    if symbol not in _alternatives:
        found = [p for p in PRODUCTIONS if p.symbol == symbol]
        assert found, f"No production expands {symbol}."
        _alternatives[symbol] = found, list(accumulate(p.weight for p in found))
    return _alternatives[symbol]


class Derivation:
    """One sentence in the making, and the record of what it is made of.

    Args:
        choose: called with the options and, for productions, their cumulative weights.

    Attributes:
        productions: names of the productions used.
        lemmas: names of all words picked.
        pairs: (noun, verb) and (noun, adjective) lemmas that belong together in the sentence.
    """

    def __init__(self, choose: Callable):
        self.choose = choose
        self.productions: list[str] = []
        self.lemmas: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()

    def derive(self, symbol: str, **features):
        chosen = self.choose(*alternatives(symbol))
        self.productions.append(chosen.name)
        return chosen.expand(self, **features)

    def pick(self, words: Sequence, but: Iterable = ()):
        """Chooses a word, never one of `but`."""
        word = self.choose(words)
        while word in but:
            word = self.choose(words)
        self.lemmas.add(word.name)
        return word

    def relate(self, word: Verb | Adjective, nouns: Iterable[Noun]):
        """Notes that `word` describes, does or suffers what the nouns stand for."""
        self.lemmas.add(word.name)
        self.pairs.update((noun.name, word.name) for noun in nouns)
