"""The source language of a request that names none, among the languages of the models."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import kformer
from kformer.kinds import TRANSLATOR
from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_routes import routes
from kformer.text.language_names import identified_codes, shown_code

AUTO = "auto"
MOST_CHARACTERS = 3000  # Of a request; more would tell no more.
_SURE = 0.5  # The probability above which a text in the target language is not translated.
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

    It is the target, into which nothing is to translate, for texts in that language, or without
    words. If no model translates the language of the texts, it is the most similar one that a model
    translates; "auto", for any model, if no model tells its language.
    """
    texts = [*texts]
    names = _codes_of_models(models, target)
    answer = await _identify(texts, None)
    best = answer.candidates[0] if answer.candidates else None
    detected = _item(best[0], best[1], names) if best else _UNKNOWN
    if best and best[0] in names:
        return names[best[0]], detected
    if best and best[0] in identified_codes(target) and best[1] > _SURE:
        return target, detected
    possible = names.keys() & {*kformer.identification.languages()}
    if not possible:
        return AUTO, detected
    candidates = (await _identify(texts, possible)).candidates
    return (names[candidates[0][0]] if candidates else target), detected


async def _identify(texts, possible):
    text = "\n".join(texts)[:MOST_CHARACTERS]
    return await asyncio.to_thread(kformer.identify, text, possible)


def _item(code, part, names):
    # Some clients read a whole number.
    return {"language": shown_code(names.get(code, code)), "confidence": float(round(100 * part))}


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
            for identified in identified_codes(source):
                codes.setdefault(identified, source)
    return codes
