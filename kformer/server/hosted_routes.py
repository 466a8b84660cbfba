"""Routes of a server: from one language into another through two of its translators."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kformer.inference.capitals import ABOUT as READS_CAPITALS
from kformer.inference.facts import SINGLE_SENTENCES
from kformer.inference.glossary import Glossary
from kformer.inference.results import Translation
from kformer.inference.splitting import SplitTranslation
from kformer.kinds import TRANSLATOR
from kformer.server.hosted_models import HostedModel
from kformer.server.refusals import Refusal
from kformer.serving.request_rows import read_best

_SIGNATURE = "serving_default"


@dataclasses.dataclass(eq=False)
class HostedRoute(HostedModel):
    """Two hosted translators one behind the other, as `kformer.Route`: a model without a file.

    The queues are those of both. A translation has the flags of both, the sum of the scores and the
    lower of the quality estimates; terms of a glossary are searched by the last one.

    Attributes:
        hops: The two models.
        between: Code of the language between them.
    """

    hops: tuple[HostedModel, ...] = ()
    between: str = ""

    @property
    def waiting(self) -> int:
        """None wait here: each hop has its own queue."""
        return 0

    async def rows(self, signature: str, columns: Mapping[str, Sequence[str]]) -> list[dict]:
        """Returns the outputs of the only signature for each text."""
        return await self.sentences(columns["text"], None, None, is_long=True)

    async def sentences(
        self,
        sentences: Sequence[str],
        target_language: str | None,
        glossary: Glossary | None,
        is_long: bool,
    ) -> list[dict]:
        """Returns the rows of sentences that both have translated."""
        first, last = self.hops
        before = await first.sentences(sentences, self.between, None, is_long)
        texts = [best.text for row in before for best in read_best(row)]
        after = await last.sentences(texts, self.target_language, glossary, is_long)
        return [_joined(*pair) for pair in zip(before, after, strict=True)]

    async def ranked(
        self, sentences: Sequence[str], target_language: str | None, number: int
    ) -> list[list[Translation]]:
        """Returns so many translations of each sentence, of its best one between them."""
        first, last = self.hops
        before = await first.sentences(sentences, self.between, None, is_long=True)
        texts = [best.text for row in before for best in read_best(row)]
        return await last.ranked(texts, self.target_language, number)


def _joined(before, after):
    """Returns a row of outputs for two translations one behind the other."""
    [first], [last] = read_best(before), read_best(after)
    row = {
        "translation": last.text,
        "score": first.score + last.score,
        "flags": ", ".join(dict.fromkeys((*first.flags, *last.flags))),
        "truncated": bool(before.get("truncated") or after.get("truncated")),
    }
    if None in (first.quality, last.quality):
        return row
    return {**row, "quality": min(first.quality, last.quality)}


def routes(models: Iterable[HostedModel], source: str | None = None) -> Iterator[HostedRoute]:
    """Yields the routes through two models, to where no single model leads, each once.

    A model of several directions is no route by itself: it has its own way.

    Args:
        source: Code of the language that they begin with; None for all.
    """
    translators = [model for model in models if model.kind is TRANSLATOR]
    directions = [(pair, model) for model in translators for pair in model.directions]
    reached = {pair for pair, _ in directions}
    for (begin, between), first in directions:
        if source not in (None, begin):
            continue
        for (start, end), last in directions:
            is_new = end != begin and (begin, end) not in reached
            if start == between and is_new and last is not first:
                reached.add((begin, end))
                yield _route(first, last, begin, between, end)


def _route(first, last, begin, between, end):
    about = {"source_language": begin}
    for name, value in ((SINGLE_SENTENCES, True), (READS_CAPITALS, False)):
        if any(hop.about.get(name) is value for hop in (first, last)):
            about[name] = value
    return HostedRoute(
        name=f"{begin}-{end}",
        path=first.path,
        form="route",
        kind=TRANSLATOR,
        about=about,
        signatures={_SIGNATURE: last.signatures[_SIGNATURE]._replace(inputs=("text",))},
        choice=(),
        target_language=end,
        batch_size=1,
        calls=1,
        glossary=last.glossary,
        term_search=last.term_search,
        several=last.several,
        hops=(first, last),
        between=between,
    )


@dataclasses.dataclass(eq=False)
class _Unchanged(HostedModel):
    """Stands for a translator from a language into itself."""

    async def paragraphs(self, texts: Sequence[str], *_: Any, **__: Any) -> list[SplitTranslation]:
        """Returns the texts."""
        return [SplitTranslation(text, (), ()) for text in texts]


def for_languages(models: Iterable[HostedModel], source: str | None, target: str) -> HostedModel:
    """Returns the first translator from one language into another, or a route of two.

    If no model is for a known language into itself, its texts stay as they are, as with
    LibreTranslate.

    Raises:
        Refusal: There is neither.
    """
    translators = [model for model in models if model.kind is TRANSLATOR]
    for model in translators:
        if (source, target) in model.directions:
            return model
    if source == target and any(target in pair for each in translators for pair in each.directions):
        about, name = {"source_language": target}, f"{target}-{target}"
        return _Unchanged(name, Path(), "route", TRANSLATOR, about, {}, (), target, 1, 1)
    for model in translators:
        from_it = source in ("auto", model.source_language) or not model.source_language
        if from_it and (target in model.target_languages or not model.target_languages):
            return model
    for route in routes(translators, source):
        if target == route.target_language:
            return route
    pairs = [
        f"{_sources_in_words(model)} to {' or '.join(model.target_languages) or 'any'}"
        for model in translators
    ]
    raise Refusal(
        400,
        f"This server translates {', '.join(pairs) or 'nothing'}"
        f"{', and through two of these' if len(pairs) > 1 else ''}. "
        f"Received: source={source!r:.40}, target={target!r:.40}.",
    )


def _sources_in_words(model):
    sources = dict.fromkeys(source for source, _ in model.directions)
    return " or ".join(sources) or model.source_language or "any"
