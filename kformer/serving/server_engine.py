"""The engine of a client: a server searches, over a connection."""

from typing import Any

from kformer.arguments import check_languages_known
from kformer.inference.engine import Engine, Rated, SearchRequest
from kformer.inference.facts import ModelFacts
from kformer.inference.glossary import Glossary
from kformer.inference.results import Translation
from kformer.inference.search_options import SearchOptions
from kformer.serving.connection import Connection
from kformer.serving.request_rows import (
    WITH_GLOSSARY,
    inputs_of,
    read_best,
    read_score,
    read_several,
    scored_translation,
    warn_of_cut,
)

_SCORE = "score"


class ServerEngine(Engine):
    """Searches with the signatures of a model on a server.

    The server chose the search; of its options a caller chooses `n_best` alone, with which the
    signature `beam` is asked.

    `kformer serve` has a signature for the terms of a glossary. Of TensorFlow Serving, a missing
    term takes the place of a word, or stands between two, where the signature `score` finds the
    translation likeliest; its score is then the log-probability.

    Args:
        server: `Connection`.
        target_language: The language of the translations; None if the model has no choice.
    """

    def __init__(self, server: Connection, target_language: str | None = None):
        self._server, self._target_language = server, target_language

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model that need no request to the server."""
        return ModelFacts(
            about={},
            target_languages=None,
            target_language=self._target_language,
            choices=frozenset({"n_best"}),
            scores=True,
            no_terms=None,
        )

    def options(self, chosen: dict[str, Any]) -> SearchOptions:
        """Returns options with as many beams as answers, as the server has at least so many."""
        super().options({name: value for name, value in chosen.items() if name != "n_best"})
        n_best = chosen.get("n_best", 1)
        return SearchOptions(beam_size=n_best, n_best=n_best) if n_best != 1 else SearchOptions()

    def search(self, sentences: list[str], request: SearchRequest) -> list[list[Translation]]:
        """Returns the best translations of each sentence, as many as the server found."""
        n_best = request.options.n_best
        signature, read = ("beam", read_several) if n_best > 1 else ("serving_default", read_best)
        answers = self._asked(signature, self._inputs(text=sentences), read, request)
        return [several[:n_best] for several in answers]

    def search_terms(
        self, sentences: list[str], glossary: Glossary, request: SearchRequest
    ) -> list[list[Translation]] | None:
        """Returns the best translations with terms, if the server searches for them."""
        signatures = self._server.metadata()
        if WITH_GLOSSARY in signatures:
            terms = [glossary.text_for(sentence) for sentence in sentences]
            inputs = {**self._inputs(text=sentences), "glossary": terms}
            return self._asked(WITH_GLOSSARY, inputs, read_best, request)
        if _SCORE not in signatures:
            raise ValueError(
                f"A glossary needs a model with the signature {WITH_GLOSSARY!r} or {_SCORE!r}. "
                f"Received: one with {', '.join(signatures)}."
            )
        return None

    def rate(
        self, sentences: list[str], translations: list[str], request: SearchRequest
    ) -> list[Rated]:
        """Returns the probabilities of given translations."""
        inputs = self._inputs(source=sentences, target=translations)
        scores = self._server.predict(_SCORE, inputs, read_score)
        return [
            scored_translation(text, scored, request.options, None)
            for text, scored in zip(translations, scores, strict=True)
        ]

    def _inputs(self, **texts):
        return inputs_of(self._target_language, **texts)

    def _asked(self, signature, inputs, read, request):
        answers = self._server.predict(signature, inputs, read, request.progress)
        flags = [best.flags for best, *_ in answers]
        check_languages_known(flags, self._target_language)
        if request.did:
            warn_of_cut(flags, request.did)
        return answers
