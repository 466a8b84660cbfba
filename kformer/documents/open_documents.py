"""OpenDocument text, odt: paragraphs and headings, with the spans inside them as codes.

A note or a frame inside a paragraph is a code of it, with paragraphs of its own. Comments, fields
such as the number of a page, and deleted text are not translated.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, Role, Segment, SegmentBuilder
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    declared_encoding,
    xml_tokens,
    xml_unescape,
    xml_writer,
)

__all__ = ["ENCODING_ERRORS", "declared_encoding", "has_text", "read"]
_PARAGRAPHS = {"text:p", "text:h"}
_SPANS = {"text:span", "text:a", "text:ruby", "text:ruby-base", "text:meta"}
_BREAKS = {"text:tab", "text:line-break"}
_NEVER = {"office:annotation", "text:tracked-changes"}


def has_text(name: str) -> bool:
    """Returns whether a member of the archive has text."""
    return name in ("content.xml", "styles.xml")


class _Element(NamedTuple):
    """An open element.

    Attributes:
        is_translated: Whether its own text is translated.
        start: Its place, if it is a code of the paragraph around it, such as a note; else None.
    """

    is_translated: bool
    start: int | None = None


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a member."""
    builders = [SegmentBuilder(text, xml_unescape, xml_writer, collapse=True)]
    opened, never = [_Element(False)], 0
    for token in xml_tokens(text, options.name):
        never += (token.name in _NEVER) * {"start": 1, "end": -1}.get(token.kind, 0)
        around = opened[-1].is_translated
        is_span, is_break = token.name in _SPANS, token.name in _BREAKS
        if token.kind == "start":
            is_code = around and not (is_span or is_break)
            if is_code:
                builders.append(builders[-1].within(token.start))
            is_text = not never and (token.name in _PARAGRAPHS or (is_span and around))
            opened.append(_Element(is_text, token.start if is_code else None))
        elif token.kind == "end":
            element = opened.pop()
            if element.start is not None:
                _add_code(builders, element.start, token.end)
                continue
            around = element.is_translated
        builder = builders[-1]
        if token.name in _PARAGRAPHS or is_break:
            builder.end_segment()
            if len(builders) == 1:
                yield from builder.take()
        elif token.kind == "text" and around:
            builder.text(token.start, token.end)
        elif is_span and around:
            role = Role.OPEN if token.kind == "start" else Role.CLOSE
            builder.code(token.start, token.end, role, token.name)
        else:
            builder.hidden(token.start, token.end)
    yield from builders[0].finish()


def _add_code(builders, start, end):
    """Adds an element that has ended to its paragraph, with the segments inside it."""
    inner = builders.pop()
    inner.end_segment()
    segments = [piece for piece in inner.take() if isinstance(piece, Segment)]
    if segments:
        builders[-1].code(start, end, segments=segments)
    else:
        builders[-1].hidden(start, end)
