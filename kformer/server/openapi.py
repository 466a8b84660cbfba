"""The OpenAPI document of a server, at /openapi.json."""

from typing import Any

import kformer
from kformer.documents.placeholders import KINDS as PLACEHOLDERS
from kformer.server.libre_translate import FORMATS

_TEXTS = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_LANGUAGE = {"type": "string", "example": "de"}
_OBJECT = {"type": "object"}


def openapi_document(names: list[str], needs_key: bool, takes_suggestions: bool) -> dict[str, Any]:
    """Returns the document.

    Args:
        needs_key: Whether requests need a key.
        takes_suggestions: Whether clients may suggest translations.
    """
    model = {"type": "string", "enum": names}
    form = {"enum": [*FORMATS], "default": FORMATS[0]}
    languages = {"source": _LANGUAGE, "target": _LANGUAGE}
    protected = {"type": "array", "items": {"type": "string", "enum": [*PLACEHOLDERS]}}
    terms = {"type": "object", "additionalProperties": {"type": "string"}}
    glossary = {"oneOf": [terms, {"type": "string"}]}
    libre = {"q": _TEXTS, **languages, "format": form, "protected": protected}
    libre |= {"glossary": glossary, "alternatives": {"type": "integer", "default": 0}}
    file = {"file": {"type": "string", "format": "binary"}, **languages}
    file_fields = {**file, "glossary": {"type": "string"}}
    openai = {
        "model": model,
        "input": _TEXTS,
        "source_language": _LANGUAGE,
        "target_language": _LANGUAGE,
        "format": form,
        "glossary": glossary,
    }
    predict = {
        "signature_name": {"type": "string", "default": "serving_default"},
        "instances": {"type": "array"},
        "inputs": _OBJECT,
    }
    name = {"name": "model", "in": "path", "required": True, "schema": model}
    downloaded = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    models = "/v1/models/{model}"
    paths = {
        "/translate": _post("Translate texts, as LibreTranslate", libre, ["q", "source", "target"]),
        "/translate_file": _post(
            "Translate a file, as LibreTranslate",
            file_fields,
            [*file],
            media_type="multipart/form-data",
        ),
        "/download_file/{name}": _get("Fetch a translated file", downloaded),
        "/languages": _get("List languages, as LibreTranslate"),
        "/detect": _post("Detect a language, as LibreTranslate", {"q": _TEXTS}, ["q"]),
        "/frontend/settings": _get("Show limits, as LibreTranslate"),
        "/health": _get("Check that the server answers"),
        "/v1/translations": _post("Translate texts, with sentences and flags", openai, ["input"]),
        "/v1/models": _get("List the models"),
        models: _get("Show the versions of a model, as TensorFlow Serving", name),
        f"{models}/metadata": _get("Show the signatures of a model, as TensorFlow Serving", name),
        f"{models}:predict": _post("Answer texts, as TensorFlow Serving", predict, [], name),
        "/metrics": _get("Show metrics for Prometheus"),
    }
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "kformer serve", "version": kformer.__version__},
        "paths": paths,
    }
    if takes_suggestions:
        fields = {"q": {"type": "string"}, "s": {"type": "string"}, **languages}
        paths["/suggest"] = _post("Suggest a translation, as LibreTranslate", fields, [*fields])
    if needs_key:
        document["components"] = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
        document["security"] = [{"key": []}]
    return document


_RESPONSES = {
    "200": {"description": "The answer"},
    "400": {"description": "The request is malformed, or nothing here can answer it"},
    "401": {"description": "A key is needed; 400 as LibreTranslate"},
    "403": {"description": "The key is not valid"},
    "404": {"description": "There is no such model or file"},
    "405": {"description": "The address takes another method, which `Allow` names"},
    "408": {"description": "The request came too slowly"},
    "413": {"description": "The request is too large; 400 as LibreTranslate"},
    "429": {"description": "Too many texts wait; `Retry-After` has the seconds to wait"},
    "503": {"description": "The server ends, or has too many connections"},
}


def _get(summary, *parameters):
    operation = {"summary": summary, "parameters": [*parameters], "responses": _RESPONSES}
    return {"get": operation}


def _post(summary, properties, required, *parameters, media_type="application/json"):
    schema = {"type": "object", "properties": properties, "required": required}
    operation = {
        "summary": summary,
        "parameters": [*parameters],
        "requestBody": {"required": True, "content": {media_type: {"schema": schema}}},
        "responses": _RESPONSES,
    }
    return {"post": operation}
