"""Translations in the style of OpenAI's API: /v1/translations and /v1/models.

OpenAI has no endpoint for the translation of text. This one has the form of its endpoints for
embeddings: a model, an input or a list of them, and an answer with `object`, `data` and `usage`.
"""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from kformer.kinds import TRANSLATOR
from kformer.server.hosted_models import HostedModel, for_languages
from kformer.server.refusals import Refusal


class TranslationsRequest(TypedDict):
    """The fields of a request."""

    input: str | list[str]
    model: NotRequired[str]
    source_language: NotRequired[str | None]
    target_language: NotRequired[str | None]


def model_named(models: Sequence[HostedModel], name: str) -> HostedModel:
    """Returns the model of a name; "translator" is the first translator, too.

    Raises:
        Refusal: There is none; the message names the models.
    """
    for model in models:
        if model.name == name:
            return model
    for model in models:
        if model.kind.name == name:
            return model
    names = ", ".join(model.name for model in models)
    raise Refusal(404, f"This server has the models {names}. Received: {name!r:.80}.")


async def translations(models: Sequence[HostedModel], fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer of /v1/translations, with the sentences and flags of each text.

    Args:
        models: The models of the server.
        fields: Checked by `TranslationsRequest`. Without a model, the languages choose it.

    Raises:
        Refusal: There is no such model or language.
    """
    source, target = fields.get("source_language"), fields.get("target_language")
    if "model" in fields:
        model = model_named(models, fields["model"])
        if model.kind is not TRANSLATOR:
            raise Refusal(
                400,
                f"The model must be a translator. Received: {model.name!r}, a {model.kind.words}.",
            )
    elif target:
        model = for_languages(models, source or "auto", target)
    else:
        raise Refusal(400, "A request names a model or a target language. Received: neither.")
    texts = fields["input"]
    texts = [texts] if isinstance(texts, str) else texts
    answers = await model.paragraphs(texts, source, target)
    data = [
        {
            "object": "translation",
            "index": index,
            "text": answer.text,
            "flags": [*answer.flags],
            "sentences": [
                {"source": sentence.source, "text": sentence.text, "flags": [*sentence.flags]}
                for sentence in answer.sentences
            ],
        }
        for index, answer in enumerate(answers)
    ]
    characters = sum(map(len, texts))
    return {
        "object": "list",
        "model": model.name,
        "data": data,
        "usage": {
            "characters": characters,
            "sentences": sum(len(each["sentences"]) for each in data),
        },
    }


def models_listed(models: Sequence[HostedModel]) -> dict[str, Any]:
    """Returns the answer of /v1/models."""
    data = [
        {
            "id": model.name,
            "object": "model",
            "created": int(model.path.stat().st_mtime),
            "owned_by": "kformer",
            "kind": model.kind.name,
            "source_language": model.source_language,
            "target_languages": [*model.target_languages],
            "licence": model.about.get("licence"),
            "citation": model.about.get("citation"),
        }
        for model in models
    ]
    return {"object": "list", "data": data}


def error(message: str, status: int) -> dict[str, Any]:
    """Returns an error as OpenAI's clients read it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
