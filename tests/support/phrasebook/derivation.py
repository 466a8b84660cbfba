"""Synchronous derivation: a production expands a symbol into German and English together.

A production is a function that is registered under the symbol that it expands. It derives its
parts, which may be discontinuous ("stehe ... auf" in "ich stehe um acht uhr auf"), and returns them
as a tuple. Features pass in both directions: case and kind are arguments, gender and person are
fields of the returned tuple.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from support.phrasebook.words.lexicon import Adjective, Noun, Verb


class Nonsense(Exception):
    """Raised if the parts of a production do not fit together; the derivation is discarded."""


class Production(NamedTuple):
    """One way to expand a symbol."""

    name: str
    symbol: str
    weight: float
    expand: Callable


PRODUCTIONS: list[Production] = []


def production(symbol: str, weight: float = 1):
    """Registers a function as a production of `symbol`, chosen in proportion to `weight`."""

    def register(expand):
        _register(expand.__name__, symbol, weight, expand)
        return expand

    return register


def unit_production(symbol: str, weight: float, name: str, to: str):
    """Registers a production that expands `symbol` into the one symbol `to`."""
    _register(name, symbol, weight, lambda d, **features: d.derive(to, **features))


def terminal(symbol: str, weight: float, name: str, result):
    """Registers a production that expands `symbol` into `result`, whatever the features."""
    _register(name, symbol, weight, lambda d, **features: result)


def _register(name: str, symbol: str, weight: float, expand: Callable):
    PRODUCTIONS.append(Production(name, symbol, weight, expand))
    _alternatives.clear()


_alternatives: dict[str, tuple[list[Production], list[float]]] = {}


def alternatives(symbol: str) -> tuple[list[Production], list[float]]:
    """Returns the productions of a symbol and their cumulative weights."""
    if symbol not in _alternatives:
        found = [p for p in PRODUCTIONS if p.symbol == symbol]
        assert found, f"No production expands {symbol}."
        _alternatives[symbol] = found, list(accumulate(p.weight for p in found))
    return _alternatives[symbol]


class Derivation:
    """The derivation of one sentence, with its productions and words.

    Args:
        choose: Function that chooses one of some options. Its arguments are the options and, for
            productions, their cumulative weights.

    Attributes:
        productions: Names of the productions used.
        lemmas: Names of all words picked.
        pairs: Lemmas (noun, verb) and (noun, adjective) that are related in the sentence.
    """

    def __init__(self, choose: Callable):
        self.choose = choose
        self.productions: list[str] = []
        self.lemmas: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()

    def derive(self, symbol: str, **features):
        """Expands `symbol` by one of its productions."""
        chosen = self.choose(*alternatives(symbol))
        self.productions.append(chosen.name)
        return chosen.expand(self, **features)

    def pick(self, words: Sequence, but: Iterable = ()):
        """Chooses a word that is not in `but`."""
        word = self.choose(words)
        while word in but:
            word = self.choose(words)
        self.lemmas.add(word.name)
        return word

    def relate(self, word: Verb | Adjective, nouns: Iterable[Noun]):
        """Records that `word` is an adjective of the nouns, or a verb with them as arguments."""
        self.lemmas.add(word.name)
        self.pairs.update((noun.name, word.name) for noun in nouns)
