"""OpenDocument text, odt: paragraphs and headings, with the spans inside them as codes.

A note or a frame inside a paragraph is a code of it, with paragraphs of its own. A field, such as
the number of a page, is a placeholder with the text that it shows. Comments, deleted text and the
readings of ruby are not translated.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.declared_languages import (
    language_and_region,
    language_in_translation,
    with_languages,
)
from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import MARK, PROSE, Piece, Role, Segment, SegmentBuilder, collapsed
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    declared_encoding,
    xml_tokens,
    xml_unescape,
    xml_writer,
)

__all__ = ["ENCODING_ERRORS", "declared_encoding", "has_text", "read"]
_PARAGRAPHS = {
    *("text:p", "text:h", "svg:title", "svg:desc"),
    *("dc:title", "dc:subject", "dc:description"),
}
_SPANS = {"text:span", "text:a", "text:ruby", "text:ruby-base", "text:meta", "text:meta-field"}
_BREAKS = {"text:tab", "text:line-break"}
_NEVER = {"office:annotation", "text:tracked-changes"}
_RANGES = {
    f"text:{name}-{end}": (role, name)
    for name in ("bookmark", "reference-mark", "toc-mark", "alphabetical-index-mark")
    for end, role in (("start", Role.OPEN), ("end", Role.CLOSE))
}
_NO_FIELDS = {"text:note", "text:note-citation", "text:ruby-text"}  # Nothing of them is shown.


_FORMAT = re.compile(r"<(?:[\w.-]+:)?text-properties\s[^<>]*>")
_LANGUAGE_OF_FORMAT = re.compile(r"(\sfo:(language|country)=[\"'])([\w-]+)")
_LANGUAGE = re.compile(r"<(?:[\w.-]+:)?language>(?P<tag>[\w-]+)<")


def has_text(name: str) -> bool:
    """Returns whether a member of the archive has text."""
    return name in ("content.xml", "styles.xml", "meta.xml")


class _Element(NamedTuple):
    """An open element.

    Attributes:
        is_translated: Whether its own text is translated.
        start: Its place, if it is a code of the paragraph around it, such as a note; else None.
        shown: The text in it, if it is a field.
    """

    is_translated: bool
    start: int | None = None
    shown: list[str] | None = None


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a member."""
    text = _with_languages(text, options)
    number = 0
    builders = [
        SegmentBuilder(text, xml_unescape, xml_writer, True, number=lambda: number, syntax=PROSE)
    ]
    opened, never = [_Element(False)], 0
    for token in xml_tokens(text, options.name):
        never += (token.name in _NEVER) * {"start": 1, "end": -1}.get(token.kind, 0)
        around = opened[-1].is_translated
        is_span, is_break = token.name in _SPANS, token.name in _BREAKS
        is_mark = token.name in _RANGES or token.name == "text:s"
        if token.kind == "start":
            is_code = around and not (is_span or is_break or is_mark)
            if is_code:
                builders.append(builders[-1].within(token.start))
            is_text = not never and (token.name in _PARAGRAPHS or (is_span and around))
            start = token.start if is_code else None
            opened.append(_Element(is_text, start, _shown(token.name, opened[-1], is_code)))
        elif token.kind == "end":
            element = opened.pop()
            if element.start is not None:
                _add_code(builders, element, token.end)
                continue
            around = element.is_translated or (is_mark and opened[-1].is_translated)
        builder = builders[-1]
        if token.name in _PARAGRAPHS or is_break:
            builder.end_segment()
            number += token.name in _PARAGRAPHS and token.kind == "start"
            if len(builders) == 1:
                yield from builder.take()
        elif token.kind == "text" and around:
            builder.text(token.start, token.end)
        elif is_span and around:
            role = Role.OPEN if token.kind == "start" else Role.CLOSE
            builder.code(token.start, token.end, role, token.name)
        elif is_mark and around:
            if token.kind == "start":
                _add_mark(builder, token)
        else:
            builder.hidden(token.start, token.end)
            if token.kind == "text" and opened[-1].shown is not None:
                opened[-1].shown.append(xml_unescape(text[token.start : token.end]))
    yield from builders[0].finish()


def _with_languages(text, options):
    """Returns a member whose formats, and whose description, have the target language."""
    if not options.target_language:
        return text

    def replaced(match):
        names = dict.fromkeys(("language", "country"))
        for each in _LANGUAGE_OF_FORMAT.finditer(match[0]):
            names[each[2]] = each[3]
        if not names["language"]:
            return match[0]
        tag = language_in_translation(names["language"], options)
        if tag == names["language"]:
            return match[0]
        language, region = language_and_region(tag)
        new = {"language": language, "country": region or "none"}
        return _LANGUAGE_OF_FORMAT.sub(lambda each: each[1] + new[each[2]], match[0])

    return with_languages(_FORMAT.sub(replaced, text), _LANGUAGE, options)


def _shown(name, around, is_code):
    """Returns a list for the text that a field shows, or None if an element is no field."""
    if is_code and name.startswith("text:") and name not in _NO_FIELDS:
        return []
    return None if is_code else around.shown


def _add_mark(builder, token):
    """Adds a space of its own, or one end of a range."""
    if token.name == "text:s":
        builder.gap(token.start, token.end)
        return
    role, what = _RANGES[token.name]
    name = token.attributes.get("text:name") or token.attributes.get("text:id", "")
    builder.code(token.start, token.end, role, f"{MARK}{what} {name}")


def _add_code(builders, element, end):
    """Adds an element that has ended to its paragraph, with the segments inside it."""
    inner = builders.pop()
    inner.end_segment()
    segments = [piece for piece in inner.take() if isinstance(piece, Segment)]
    if segments:
        builders[-1].code(element.start, end, segments=segments)
    else:
        builders[-1].hidden(element.start, end, collapsed("".join(element.shown or ())).strip())
