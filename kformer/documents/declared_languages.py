"""The language that a document declares: in a translation it is the target language.

Programs spell and hyphenate by it, and browsers and screen readers speak by it.
"""

import re

from kformer.documents.document_kinds import ReadOptions

_TAG = re.compile(r"(?P<language>[A-Za-z]{2,3})(?:[-_](?P<region>[A-Z]{2})|[-_]\w{2,8}){0,4}")


def language_in_translation(declared: str, options: ReadOptions) -> str:
    """Returns the language that a translation declares where the document declares one.

    Text in a language that is not the source's keeps it.

    Args:
        declared: A tag of [BCP 47](https://www.rfc-editor.org/info/bcp47), such as "de-DE".
        options: With the languages of the translation.
    """
    target, source = options.target_language, options.source_language
    if not target or not _TAG.fullmatch(target) or not _TAG.fullmatch(declared):
        return declared
    is_source = source is None or _language(source) == _language(declared)
    return target.replace("_", "-") if is_source else declared


def _language(tag):
    match = _TAG.match(tag)
    return match["language"].lower() if match else tag.lower()


def language_and_region(tag: str) -> tuple[str, str]:
    """Returns the language and the region of a tag, such as "pt" and "BR"; "" for no region."""
    match = _TAG.fullmatch(tag)
    return (match["language"], match["region"] or "") if match else (tag, "")


def with_languages(text: str, pattern: re.Pattern, options: ReadOptions) -> str:
    """Returns a text with other languages where a pattern finds tags, in its group "tag"."""
    if not options.target_language:
        return text
    pieces, done = [], 0
    for match in pattern.finditer(text):
        start, end = match.span("tag")
        pieces += [text[done:start], language_in_translation(match["tag"], options)]
        done = end
    return "".join([*pieces, text[done:]])
