"""`Route`: a translation through several translators, such as de-en and then en-pt."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from kformer.export.loading import ROUTE, load, local_file, saved_form
from kformer.imports.published.model_names import published_name
from kformer.inference.any_translator import AnyTranslator
from kformer.inference.capitals import ABOUT as READS_CAPITALS
from kformer.inference.engine import Engine
from kformer.inference.facts import SINGLE_SENTENCES, ModelFacts
from kformer.inference.results import Translation
from kformer.inference.search_options import SearchOptions
from kformer.json_files import read_json

_RULE = 'A route is a JSON file such as {"route": ["de-en.tflite", "en-pt.tflite"]}.'


class Route(AnyTranslator):
    """Translators one behind the other: each translates what the one before has written.

    It has the methods of every translator. A translation has the flags of all hops, the sum of
    their scores, and the lowest of their quality estimates. Terms of a glossary are searched by the
    last translator. `kformer.load`, the command line and the server read a route from a JSON file,
    `{"route": ["de-en.tflite", "en-pt.tflite"]}`, with paths from the folder of that file, or names
    of published models.

    Args:
        translators: Two `kformer.AnyTranslator` or more, of any forms.

    Raises:
        TypeError: One of them is something else.
        ValueError: There are fewer than two, or one does not read the language before it.

    Examples:
        >>> import kformer
        >>> english = kformer.demo()
        >>> kformer.Route([english, english])
        Traceback (most recent call last):
          ...
        ValueError: Each translator of a route must read what the one before writes. Received: one
        that writes 'en' before one that reads 'de'.
    """

    engine: "RouteEngine"

    def __init__(self, translators: Sequence[AnyTranslator]):
        self.translators = tuple(translators)
        for number, translator in enumerate(self.translators):
            if not isinstance(translator, AnyTranslator):
                raise TypeError(
                    "A route has translators, such as `kformer.load` returns. "
                    f"Received: translators[{number}]={translator!r:.99}."
                )
        if len(self.translators) < 2:
            raise ValueError(f"A route has two translators or more. Received: {len(translators)}.")
        for first, second in zip(self.translators, self.translators[1:], strict=False):
            languages = first.target_language, second.source_language
            if None not in languages and len({*languages}) > 1:
                raise ValueError(
                    "Each translator of a route must read what the one before writes. Received: "
                    f"one that writes {languages[0]!r} before one that reads {languages[1]!r}."
                )
        self.engine = RouteEngine(self.translators)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads the JSON file of a route, and loads its models.

        Raises:
            FileNotFoundError, ValueError: The file, or one of its models, is missing or damaged; or
                it names a route, which could be itself.
        """
        names = read_json(path, dict[str, list[str]], rule=_RULE).get(ROUTE, [])
        models = [
            local_file(name) if published_name(name) else Path(path).parent / name for name in names
        ]
        if routes := [model for model in models if saved_form(model) == ROUTE]:
            raise ValueError(f"The file of a route names no other route. Received: {routes[0]}.")
        return cls([load(model) for model in models])

    def _into(self, target_language):
        *before, last = self.translators
        return Route([*before, last.into(target_language)])


class _Arrived(NamedTuple):
    """A candidate of the last translator, and the translation that it translates."""

    text: str
    candidate: Any
    before: Translation


class RouteEngine(Engine):
    """Translates by all but the last translator, and searches with the engine of the last one.

    Args:
        translators: The translators of a `Route`.
    """

    facts: ModelFacts

    def __init__(self, translators: Sequence[AnyTranslator]):
        *self._before, last = translators
        self._last, facts = last.engine, last.facts
        about: dict[str, Any] = {
            "source_language": translators[0].source_language,
            "target_language": facts.target_language,
        }
        about = {name: code for name, code in about.items() if code is not None}
        hops = [translator.facts for translator in translators]
        about |= {SINGLE_SENTENCES: True} if any(hop.single_sentences for hop in hops) else {}
        about |= {READS_CAPITALS: False} if any(hop.lowers_capitals for hop in hops) else {}
        self.facts = dataclasses.replace(
            facts,
            about=about,
            signatures=None,
            calls=1,
            search=SearchOptions(),
            encodes=False,
            takes_prefixes=False,
            aligns=False,
        )

    def options(self, chosen):
        """Returns the options that a caller chose; each translator adds its own."""
        self._last.options(chosen)
        return SearchOptions(**chosen)

    def search(self, sentences, request):
        """Returns the translations of the last hop."""
        between = self._between(sentences, request)
        answers = self._last.search([each.text for each in between], self._last_request(request))
        pairs = zip(answers, between, strict=True)
        return [
            [_Arrived(each.text, each, before) for each in several] for several, before in pairs
        ]

    def finished(self, answers, request, details):
        """Returns the `Translation` of each, with what the hops before have to say."""
        inner = [[arrived.candidate for arrived in several] for several in answers]
        finished = self._last.finished(inner, self._last_request(request), details)
        return [
            [_joined(each.before, last) for each, last in zip(several, translations, strict=True)]
            for several, translations in zip(answers, finished, strict=True)
        ]

    def rate(self, sentences, translations, request):
        """Returns the probabilities of given translations for the last hop."""
        return self._asked(self._last.rate, sentences, translations, request)

    def go_on(self, sentences, beginnings, request):
        """Returns translations with given beginnings, of the last hop."""
        return self._asked(self._last.go_on, sentences, beginnings, request)

    def _asked(self, ask, sentences, texts, request):
        distinct = [*dict.fromkeys(sentences)]
        known = dict(zip(distinct, self._between(distinct, request), strict=True))
        between = [known[sentence] for sentence in sentences]
        rated = ask([each.text for each in between], texts, self._last_request(request))
        return [
            each._replace(candidate=_Arrived(each.candidate.text, each.candidate, before))
            for each, before in zip(rated, between, strict=True)
        ]

    def _between(self, sentences, request):
        """Returns the translations before the last hop."""
        settings = {**request.options.given, "details": False, "split": False}
        settings["batch_size"] = request.batch_size
        settings.pop("n_best", None)  # Only the best goes on.
        arrived = [Translation(sentence, 0.0, quality=1.0) for sentence in sentences]
        for translator in self._before:
            answers = translator.translations([each.text for each in arrived], **settings)
            arrived = [
                _joined(*pair) for pair in zip(arrived, [f[0] for f in answers], strict=True)
            ]
        return arrived

    def _last_request(self, request):
        return request._replace(options=self._last.options(request.options.given))


def _joined(before: Translation, last: Translation) -> Translation:
    """Returns the last of two translations, with the flags and the doubt of both."""
    flags = tuple(dict.fromkeys((*before.flags, *last.flags)))
    quality = None
    if before.quality is not None and last.quality is not None:
        quality = min(before.quality, last.quality)
    return dataclasses.replace(last, score=before.score + last.score, flags=flags, quality=quality)
