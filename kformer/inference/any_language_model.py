"""`AnyLanguageModel`: what people ask of a language model, once for all forms."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Unpack

from kformer.arguments import as_texts, check_integer, prompt_or_prompts
from kformer.inference.degenerate import check_prompts
from kformer.inference.engine import SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.results import Generation
from kformer.inference.search_options import AllSearchOptions, SearchOptions, chosen_options


class AnyLanguageModel:
    """The methods of every language model, whatever its form."""

    if TYPE_CHECKING:  # The class of its form has the property.

        @property
        def facts(self) -> ModelFacts: ...

    @prompt_or_prompts
    def generate(
        self,
        prompts: Iterable[str],
        *,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        **options: Unpack[AllSearchOptions],
    ) -> list[str]:
        """Continues any number of prompts; sorts them by length, keeps their order.

        Args:
            prompts: list of N strings, or another iterable of them, as a NumPy array, a pandas
                Series or a string tensor (N,); or one string. The continuation of an empty one is a
                whole text.
            batch_size: Prompts continued at once. It changes speed, not answers. A `.tflite` file
                and a client have batches of their own.
            progress: Called with the number of prompts done, after each batch.
            **options: The options of `kformer.SearchOptions`, by name, where the source is the
                prompt; by default the values in `search_defaults`.
                `max_length` counts the ids of the continuation alone; without it, a continuation
                ends at the end id or at the model's `max_length`. In a SavedModel and in a
                `.tflite` file the export chose them.

        Returns:
            list of N strings: each prompt, its characters normalised by the tokenizer, and its best
            continuation; or one string for one. `generations` returns more.

        Raises:
            TypeError: An argument, or one of the prompts, has the wrong type.
            ValueError: A number is out of range, or a prompt leaves no room below `max_length`.

        Warns:
            UserWarning: The option `max_length` is more than the model's.
        """
        search = self._search_of(chosen_options(AnyLanguageModel.generate, None, options))
        request = SearchRequest(search, None, batch_size, progress)
        return [best.text for best, *_ in self._generations(prompts, request, details=False)]

    @prompt_or_prompts
    def generations(
        self,
        prompts: Iterable[str],
        options: SearchOptions | None = None,
        *,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        details: bool = True,
        **named: Unpack[AllSearchOptions],
    ) -> list[list[Generation]]:
        """As `generate`, but with scores and flags; `kformer.LanguageModel` adds tokens.

        Args:
            prompts, batch_size, progress: As for `generate`.
            options: `kformer.SearchOptions`; `search_defaults` replace the options that it does not
                give, or all of them if it is None.
            details: Whether `kformer.LanguageModel` computes log-probabilities of tokens, too: it
                takes one more pass of the model.
            **named: Options by name, instead of `options`.

        Returns:
            for each prompt a list of `kformer.Generation`, best first: `n_best`, or as many as
            there are. Samples come in the order of their numbers.

        Raises:
            TypeError, ValueError: As `generate`.
        """
        search = self._search_of(chosen_options(AnyLanguageModel.generations, options, named))
        request = SearchRequest(search, None, batch_size, progress)
        return self._generations(prompts, request, details)

    def _generations(self, prompts, request, details):
        check_integer("batch_size", request.batch_size, least=1)
        answers = self._continued(as_texts(prompts, "prompts"), request, details)
        check_prompts(best.flags for best, *_ in answers)
        return answers

    def _search_of(self, chosen: dict[str, Any]) -> SearchOptions:
        """Returns the complete options of a search, from those that a caller chose."""
        return self.facts.options(chosen)

    def _continued(
        self, prompts: list[str], request: SearchRequest, details: bool
    ) -> list[list[Generation]]:
        """Returns the continuations of each prompt, best first."""
        raise NotImplementedError
