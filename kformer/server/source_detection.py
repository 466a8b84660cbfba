"""The source language of a request that names none, among the languages of the models."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import kformer
from kformer.kinds import TRANSLATOR
from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_routes import routes

AUTO = "auto"
MOST_CHARACTERS = 3000  # Of a request; more would tell no more.
# Codes that models have for languages that `kformer.identify` calls otherwise.
_IDENTIFIED_AS = {
    "no": ("nb", "nn"),
    "fil": ("tl",),
    "iw": ("he",),
    "in": ("id",),
    "sh": ("hr", "sr"),
    "bs": ("hr",),
    "zt": ("zh",),
    "pb": ("pt",),
}
# The answer of LibreTranslate to a text in no language, for clients that read the first item.
_UNKNOWN = {"language": "en", "confidence": 0.0}


async def detect(models: Sequence[HostedModel], texts: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the answer of /detect: languages with their confidence in percent, the best first.

    A language that a model translates from has the code of the model.
    """
    answer = await _identify(texts, None)
    names = _codes_of_models(models, None)
    return [_item(code, part, names) for code, part in answer.candidates] or [_UNKNOWN]


async def source_for(
    models: Sequence[HostedModel], texts: Iterable[str], target: str
) -> tuple[str, dict[str, Any]]:
    """Returns the language to translate texts from, and LibreTranslate's `detectedLanguage`.

    If no model translates the language of the texts, the language is the most similar one that a
    model translates; "auto", for any model, if no model tells its language.
    """
    texts = [*texts]
    names = _codes_of_models(models, target)
    answer = await _identify(texts, None)
    best = answer.candidates[0] if answer.candidates else None
    detected = _item(best[0], best[1], names) if best else _UNKNOWN
    if best and best[0] in names:
        return names[best[0]], detected
    possible = names.keys() & {*kformer.identification.languages()}
    if not possible:
        return AUTO, detected
    candidates = (await _identify(texts, possible)).candidates
    return (names[candidates[0][0]] if candidates else AUTO), detected


async def _identify(texts, possible):
    text = "\n".join(texts)[:MOST_CHARACTERS]
    return await asyncio.to_thread(kformer.identify, text, possible)


def _item(code, part, names):
    return {"language": names.get(code, code), "confidence": round(100 * part, 1)}


def _codes_of_models(models, target):
    """Returns the source languages of models and routes, as `kformer.identify` calls them.

    Args:
        target: The language that the models translate into; None for any.
    """
    codes: dict[str, str] = {}
    for model in (*models, *routes(models)):
        if model.kind is not TRANSLATOR:
            continue
        sources = [source for source, into in model.directions if target in (None, into)]
        if not model.directions and model.source_language:
            sources = [model.source_language]
        for source in sources:
            language = source.partition("-")[0].partition("_")[0].lower()
            for identified in _IDENTIFIED_AS.get(language, (language,)):
                codes.setdefault(identified, source)
    return codes
