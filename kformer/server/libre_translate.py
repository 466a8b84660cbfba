"""The protocol of LibreTranslate: /translate, /translate_file, /languages, /detect and others.

Field names and answers are those of https://docs.libretranslate.com/api. Texts are paragraphs: they
are split into sentences, and lines stay lines. Of HTML and of files, only the words are translated.
"""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, NotRequired, TypedDict

from kformer.documents.document_kinds import KINDS, document_kind
from kformer.documents.document_report import DocumentTranslation
from kformer.documents.placeholders import KINDS as PLACEHOLDERS
from kformer.inference.glossary import Glossary
from kformer.server.hosted_documents import HostedDocuments, Languages
from kformer.server.hosted_models import HostedModel, without_regions
from kformer.server.hosted_routes import for_languages, routes
from kformer.server.refusals import Refusal
from kformer.server.request_bodies import NamedFile
from kformer.server.source_detection import AUTO, MOST_CHARACTERS, source_for
from kformer.text.language_names import language_name, shown_code

ADDRESSES = ("/translate", "/translate_file", "/detect", "/suggest")
STATUSES = {401: 400, 413: 400}  # LibreTranslate's, for those of the other protocols.
FORMATS = ("text", "html")
_MOST_ALTERNATIVES = 20
_NAME_CHARACTERS = 80  # Of a translated file, before its suffix.


class TranslateRequest(TypedDict):
    """The fields of a request; those of a form are strings."""

    q: str | list[str]
    source: str
    target: str
    format: NotRequired[str | None]
    protected: NotRequired[list[str] | str | None]
    glossary: NotRequired[dict[str, str] | str | None]
    alternatives: NotRequired[int | float | str]
    api_key: NotRequired[str | None]


class TranslateFileRequest(TypedDict):
    """The fields of a request of /translate_file, beside the file."""

    source: str
    target: str
    glossary: NotRequired[str | None]
    api_key: NotRequired[str | None]


class DetectRequest(TypedDict):
    """The fields of a request of /detect."""

    q: str | list[str]
    api_key: NotRequired[str | None]


class SuggestRequest(TypedDict):
    """The fields of a request of /suggest."""

    q: str
    s: str
    source: str
    target: str
    api_key: NotRequired[str | None]


def check_filled(fields: dict[str, Any], *names: str):
    """Raises a `Refusal` if one of some fields is blank, which LibreTranslate takes for missing."""
    for name in names:
        if not fields[name]:
            raise Refusal(
                400, f"The field {name} must not be blank. Received: {name}={fields[name]!r}."
            )


async def translate(
    models: Sequence[HostedModel], documents: HostedDocuments, fields: dict[str, Any]
) -> tuple[HostedModel, dict[str, Any]]:
    """Returns the model that answers a request of /translate, and its answer."""
    check_filled(fields, "q", "source", "target")
    form, keep = check_format(fields), _protected(fields.get("protected"))
    number = _alternatives(fields)
    texts, glossary = fields["q"], check_terms(fields)
    several = [texts] if isinstance(texts, str) else texts
    fields, detected = await _with_source(models, fields, several)
    model, languages = _chosen(models, fields)
    if form == "html" or keep is not None:
        translations = await documents.markup(
            model, several, languages, kind=form, keep=keep, glossary=glossary
        )
        answers = [text for text, _ in translations]
    else:
        answers = [each.text for each in await model.paragraphs(several, *languages, glossary)]
    answer: dict[str, Any] = {"translatedText": answers}
    if number:
        by_text: list[list[str]] = [[] for _ in several]
        if form == "text" and keep is None and not glossary:
            by_text = await model.alternatives(several, *languages, number)
        answer["alternatives"] = [
            [text for text in ranked if text != best][:number]
            for ranked, best in zip(by_text, answers, strict=True)
        ]
    if detected:
        answer["detectedLanguage"] = [detected] * len(several)
    if isinstance(texts, str):
        answer = {name: values[0] for name, values in answer.items()}
    return model, answer


def _alternatives(fields):
    """Returns the field `alternatives`: a number, 0 by default and for a negative one."""
    value = fields.get("alternatives", 0)
    try:
        number = max(0, int(value))
    except (ValueError, OverflowError):
        number = _MOST_ALTERNATIVES + 1
    if number > _MOST_ALTERNATIVES:
        raise Refusal(
            400,
            f"The field alternatives must be a number up to {_MOST_ALTERNATIVES}. "
            f"Received: alternatives={value!r:.40}.",
        )
    return number


async def _with_source(models, fields, texts):
    """Returns the fields with the language of texts as the source, and how it was detected.

    The second is None if the request names the language.
    """
    if fields["source"] != AUTO:
        return fields, None
    _, target = without_regions(models, None, fields["target"])
    source, detected = await source_for(models, texts, target)
    return {**fields, "source": source}, detected


def check_format(fields: dict[str, Any]) -> str:
    """Returns the field `format`, "text" by default."""
    form = fields.get("format") or FORMATS[0]
    if form not in FORMATS:
        known = " or ".join(map(repr, FORMATS))
        raise Refusal(400, f"The format must be {known}. Received: format={form!r:.40}.")
    return form


def check_terms(fields: dict[str, Any]) -> Glossary | None:
    """Returns the `kformer.Glossary` of the field `glossary`; None if there is none, or no term.

    It is an object of terms with their translations, or the text of a TSV file.
    """
    terms = fields.get("glossary")
    if not terms or (isinstance(terms, str) and not terms.strip()):
        return None
    try:
        return Glossary.from_text(terms) if isinstance(terms, str) else Glossary(terms)
    except ValueError as error:
        raise Refusal(400, str(error)) from error


def terms_in(fields: dict[str, Any]) -> list[str]:
    """Returns the texts of the field `glossary`, which count as characters of the request."""
    terms = fields.get("glossary") or ()
    return [terms] if isinstance(terms, str) else [*terms, *dict(terms).values()]


def _protected(names):
    """Returns the kinds of placeholders of the field `protected`, None if there is no such field.

    A regular expression is refused: Python's may take exponential time, during which the whole
    server stands still.
    """
    if isinstance(names, str):  # Of a form.
        names = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in names or () if name not in PLACEHOLDERS]
    if unknown:
        raise Refusal(
            400,
            f"'protected' must name kinds of placeholders: {', '.join(PLACEHOLDERS)}. In HTML, "
            f'translate="no" protects any text. Received: {unknown[0]!r:.40}.',
        )
    return names


def _chosen(models, fields):
    """Returns the model for the languages of a request, and the languages."""
    source, target = without_regions(models, fields["source"], fields["target"])
    model = for_languages(models, source, target)
    return model, Languages(None if source == AUTO else source, target)


async def translate_file(
    models: Sequence[HostedModel],
    documents: HostedDocuments,
    fields: dict[str, Any],
    file: NamedFile,
) -> tuple[HostedModel, NamedFile, DocumentTranslation]:
    """Returns the model that answers a request of /translate_file, the new file and its report."""
    check_filled(fields, "source", "target")
    path = PurePosixPath(file.name.replace("\\", "/"))
    document_kind(path.name)
    if fields["source"] == AUTO:
        texts = await documents.texts(file.content, path.name, MOST_CHARACTERS)
        fields, _ = await _with_source(models, fields, texts)
    model, languages = _chosen(models, fields)
    content, report = await documents.document(
        model, file.content, path.name, languages, check_terms(fields)
    )
    stem = re.sub(r"[^\w. -]", "_", path.stem)[:_NAME_CHARACTERS]
    return model, NamedFile(f"{stem}.{languages.target}{path.suffix}", content), report


def file_answer(url: str, report: DocumentTranslation) -> dict[str, Any]:
    """Returns the answer of /translate_file: LibreTranslate's field, and the report."""
    return {
        "translatedFileUrl": url,
        "segments": report.segments,
        "unplaced": [text._asdict() for text in report.unplaced],
        "flags": [{"line": line, "flags": [*flags]} for line, flags in report.flags],
    }


def languages(models: Sequence[HostedModel]) -> list[dict[str, Any]]:
    """Returns the answer of /languages: all languages, with the targets of each.

    Each is a target of its own, as with LibreTranslate, and each target is a language of the list.
    """
    targets: dict[str, set[str]] = {}
    for model in (*models, *routes(models)):
        for source, target in model.directions:
            targets.setdefault(source, {source}).add(target)
            targets.setdefault(target, {target})
    return [
        {
            "code": shown_code(code),
            "name": language_name(code),
            "targets": sorted(map(shown_code, known)),
        }
        for code, known in targets.items()
    ]


def settings(
    models: Sequence[HostedModel], characters: int, needs_key: bool, takes_suggestions: bool
) -> dict[str, Any]:
    """Returns the answer of /frontend/settings, by which clients know the limits."""
    target = next((each for model in models for each in model.target_languages), "")
    return {
        "apiKeys": needs_key,
        "charLimit": characters,
        "filesTranslation": True,
        "frontendTimeout": 500,
        "keyRequired": needs_key,
        "language": {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {"code": shown_code(target), "name": language_name(target)},
        },
        "suggestions": takes_suggestions,
        "supportedFilesFormat": file_suffixes(),
    }


def file_suffixes() -> list[str]:
    """Returns the suffixes of the files that can be translated with the installed libraries."""
    has_markdown = importlib.util.find_spec("markdown_it")
    known = (kind for kind in KINDS.values() if not kind.is_table)  # Which need a column.
    kinds = [kind for kind in known if kind.name != "markdown" or has_markdown]
    return [suffix for kind in kinds for suffix in kind.suffixes]
