"""Translations in the style of OpenAI's API: /v1/translations and /v1/models.

OpenAI has no endpoint for the translation of text. This one has the form of its endpoints for
embeddings: a model, an input or a list of them, and an answer with `object`, `data` and `usage`.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from kformer.kinds import TRANSLATOR
from kformer.server.hosted_documents import HostedDocuments, Languages
from kformer.server.hosted_models import HostedModel, without_regions
from kformer.server.hosted_routes import for_languages, routes
from kformer.server.libre_translate import check_format, check_terms
from kformer.server.refusals import Refusal
from kformer.server.source_detection import AUTO, source_for


class TranslationsRequest(TypedDict):
    """The fields of a request."""

    input: str | list[str]
    model: NotRequired[str]
    source_language: NotRequired[str | None]
    target_language: NotRequired[str | None]
    format: NotRequired[str]
    glossary: NotRequired[dict[str, str] | str | None]


def model_named(models: Sequence[HostedModel], name: str) -> HostedModel:
    """Returns the model of a name; "translator" is the first translator, too.

    A route has the name of its languages, such as "de-pt".
    """
    for model in itertools.chain(models, routes(models)):
        if model.name == name:
            return model
    for model in models:
        if model.kind.name == name:
            return model
    names = ", ".join(model.name for model in models)
    raise Refusal(404, f"This server has the models {names}. Received: {name!r:.80}.")


async def translations(
    models: Sequence[HostedModel], documents: HostedDocuments, fields: dict[str, Any]
) -> dict[str, Any]:
    """Returns the answer of /v1/translations, with sentences, flags and quality of each text."""
    form, glossary = check_format(fields), check_terms(fields)
    languages_of_request = fields.get("source_language"), fields.get("target_language")
    source, target = without_regions(models, *languages_of_request)
    texts = fields["input"]
    texts = [texts] if isinstance(texts, str) else texts
    if "model" in fields:
        model = model_named(models, fields["model"])
        if model.kind is not TRANSLATOR:
            raise Refusal(
                400,
                f"The model must be a translator. Received: {model.name!r}, a {model.kind.words}.",
            )
    elif target:
        if not source:
            source, _ = await source_for(models, texts, target)
        model = for_languages(models, source, target)
        source = None if source == AUTO else source
    else:
        raise Refusal(400, "A request names a model or a target language. Received: neither.")
    if form == "text":
        answers = await model.paragraphs(texts, source, target, glossary)
        data = [*map(_translation, itertools.count(), answers)]
        sentences = sum(len(answer.sentences) for answer in answers)
    else:
        model.check_target(target)
        languages = Languages(source, target)
        translated = await documents.markup(model, texts, languages, kind=form, glossary=glossary)
        data = [*map(_markup, itertools.count(), translated)]
        sentences = sum(report.segments for _, report in translated)
    return {
        "object": "list",
        "model": model.name,
        "data": data,
        "usage": {"characters": sum(map(len, texts)), "sentences": sentences},
    }


def _translation(index, answer):
    sentences = [
        {
            "source": sentence.source,
            "text": sentence.text,
            "flags": [*sentence.flags],
            **_quality([sentence]),
        }
        for sentence in answer.sentences
    ]
    item = _item(index, answer.text, answer.flags)
    return {**item, **_quality(answer.sentences), "sentences": sentences}


def _quality(sentences):
    """Returns the field `quality`: the lowest estimate of sentences, if the model has estimates."""
    numbers = [sentence.quality for sentence in sentences if sentence.quality is not None]
    return {"quality": round(min(numbers), 4)} if numbers else {}


def _markup(index, translated):
    """Returns the answer to a text with markup, which has no list of sentences."""
    text, report = translated
    return _item(index, text, dict.fromkeys(flag for _, flags in report.flags for flag in flags))


def _item(index, text, flags):
    return {"object": "translation", "index": index, "text": text, "flags": [*flags]}


def models_listed(models: Sequence[HostedModel]) -> dict[str, Any]:
    """Returns the answer of /v1/models: the models, and the routes through two of them."""
    data = [
        {
            "id": model.name,
            "object": "model",
            "created": model.created,
            "owned_by": "kformer",
            "kind": model.kind.name,
            "source_language": model.source_language,
            "target_languages": [*model.target_languages],
            "directions": ["-".join(codes) for codes in model.directions],
            "licence": model.about.get("licence"),
            "citation": model.about.get("citation"),
            "examples": [*model.examples],
        }
        for model in (*models, *routes(models))
    ]
    return {"object": "list", "data": data}


def error(message: str, status: int) -> dict[str, Any]:
    """Returns an error as OpenAI's clients read it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
