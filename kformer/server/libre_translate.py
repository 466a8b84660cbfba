"""The protocol of LibreTranslate: /translate, /languages, /detect, /health, /frontend/settings.

Field names and answers are those of https://docs.libretranslate.com/api. Texts are paragraphs: they
are split into sentences, and lines stay lines.
"""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from kformer.server.hosted_models import HostedModel, for_languages
from kformer.server.refusals import Refusal


class TranslateRequest(TypedDict):
    """The fields of a request; those of a form are strings."""

    q: str | list[str]
    source: str
    target: str
    format: NotRequired[str]
    alternatives: NotRequired[int | str]
    api_key: NotRequired[str | None]


class DetectRequest(TypedDict):
    """The fields of a request of /detect."""

    q: str
    api_key: NotRequired[str | None]


async def translate(
    models: Sequence[HostedModel], fields: dict[str, Any]
) -> tuple[HostedModel, dict[str, Any]]:
    """Returns the model that answers a request of /translate, and its answer.

    Args:
        models: The models of the server.
        fields: Checked by `TranslateRequest`.

    Raises:
        Refusal: No model has these languages, or a field is not supported.
    """
    if fields.get("format", "text") != "text":
        raise Refusal(400, f"The format must be 'text'. Received: format={fields['format']!r:.40}.")
    if str(fields.get("alternatives", 0)) != "0":
        raise Refusal(400, "This server has no alternatives. Received: alternatives other than 0.")
    source, target, texts = fields["source"], fields["target"], fields["q"]
    model = for_languages(models, source, target)
    several = [texts] if isinstance(texts, str) else texts
    language = None if source == "auto" else source
    translations = await model.paragraphs(several, language, target)
    answers = [translation.text for translation in translations]
    return model, {"translatedText": answers[0] if isinstance(texts, str) else answers}


def languages(models: Sequence[HostedModel]) -> list[dict[str, Any]]:
    """Returns the answer of /languages: the source languages, with the targets of each."""
    targets: dict[str, dict[str, None]] = {}
    for model in models:
        if model.source_language and model.target_languages:
            known = targets.setdefault(model.source_language, {})
            known.update(dict.fromkeys(model.target_languages))
    return [{"code": code, "name": code, "targets": [*known]} for code, known in targets.items()]


def detect(models: Sequence[HostedModel]) -> list[dict[str, Any]]:
    """Returns the answer of /detect, which knows nothing of a text but who could have sent it.

    Raises:
        Refusal: The models have several source languages, which nothing here tells apart.
    """
    codes = {model.source_language for model in models}
    code = codes.pop()
    if codes or not code:
        raise Refusal(501, "This server detects no languages: send `source`.")
    return [{"language": code, "confidence": 0.0}]


def settings(characters: int, needs_key: bool) -> dict[str, Any]:
    """Returns the answer of /frontend/settings, by which clients know the limits."""
    return {
        "apiKeys": needs_key,
        "charLimit": characters,
        "filesTranslation": False,
        "frontendTimeout": 500,
        "keyRequired": needs_key,
        "language": {
            "source": {"code": "auto", "name": "auto"},
            "target": {"code": "", "name": ""},
        },
        "suggestions": False,
        "supportedFilesFormat": [],
    }
