"""`Engine`: what a form of a translator must be able to do; `AnyTranslator` does the rest.

An engine searches for translations of sentences and, where it can, scores given ones. It knows
nothing of texts of many sentences, of glossaries or of files.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kformer.inference.facts import ModelFacts
from kformer.inference.glossary import Glossary
from kformer.inference.results import Translation
from kformer.inference.search_options import SearchOptions

if TYPE_CHECKING:  # A client of a server needs no NumPy.
    from kformer.text.alignment import WordAlignment


class SearchRequest(NamedTuple):
    """The settings of one search, beside its sentences.

    Attributes:
        options: Complete `kformer.SearchOptions`.
        prefixes: The beginning of each translation; None for none.
        batch_size: Sentences translated at once, by an engine that has no batches of its own.
        progress: Called with the number of sentences done, after each batch.
        did: A participle for warnings of sentences that were cut, such as "translated"; None for no
            warnings.
    """

    options: SearchOptions
    prefixes: Iterable[str] | None = None
    batch_size: int = 32
    progress: Callable[[int], object] | None = None
    did: str | None = None


class Candidate(Protocol):
    """A translation that a search found; `Engine.finished` makes a `Translation` of it."""

    @property
    def text(self) -> str: ...


class Rated(NamedTuple):
    """A given translation, or one with a given beginning, and its probability.

    Attributes:
        candidate: As a search returns it.
        log_probability: Natural logarithm of its probability, with its end.
        tokens: Its pieces without the end; None if the engine does not give them.
        token_log_probabilities: The log-probability of each of `tokens`.
    """

    candidate: Any
    log_probability: float
    tokens: Sequence[str] | None = None
    token_log_probabilities: Sequence[float] | None = None


class Engine:
    """Base class of the engines. Sentences and translations are lists of equal lengths.

    Attributes:
        facts: The `ModelFacts` of its model.
    """

    if TYPE_CHECKING:  # A property of some engines, an attribute of others.

        @property
        def facts(self) -> ModelFacts: ...

    def search(self, sentences: list[str], request: SearchRequest) -> list[list[Any]]:
        """Returns for each sentence its translations, `Candidate`s, best first."""
        raise NotImplementedError

    def search_terms(
        self, sentences: list[str], glossary: Glossary, request: SearchRequest
    ) -> list[list[Any]] | None:
        """Returns translations with the terms of a glossary, if the engine searches for them.

        If it returns None, `AnyTranslator` searches for them with `rate` and `go_on`.
        """
        return None

    def finished(
        self, answers: list[list[Any]], request: SearchRequest, details: bool
    ) -> list[list[Translation]]:
        """Returns the `Translation` of each candidate.

        Args:
            details: Whether probabilities of tokens and attention are wanted, too.
        """
        return answers

    def rate(
        self, sentences: list[str], translations: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns the probability of each translation, if the facts say `scores`."""
        raise NotImplementedError

    def go_on(
        self, sentences: list[str], beginnings: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns translations with given beginnings, if the facts say `continues`."""
        raise NotImplementedError

    def align(
        self,
        sentences: list[str],
        translations: list[str],
        progress: Callable[[int], object] | None = None,
    ) -> "list[WordAlignment]":
        """Returns the links of words of each pair, if the facts say `aligns`."""
        raise NotImplementedError

    def options(self, chosen: dict[str, Any]) -> SearchOptions:
        """Returns the complete options of a search, from those that a caller chose."""
        return self.facts.options(chosen)
