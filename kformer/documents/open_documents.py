"""OpenDocument text, odt: paragraphs and headings, with the spans inside them as codes.

Comments, fields such as the number of a page, and deleted text are not translated.
"""

from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, Role, SegmentBuilder
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


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a member."""
    builder = SegmentBuilder(text, xml_unescape, xml_writer, collapse=True)
    translated, never = [False], 0  # Whether the text of each open element is translated.
    for token in xml_tokens(text, options.name):
        never += (token.name in _NEVER) * {"start": 1, "end": -1}.get(token.kind, 0)
        is_translated = translated[-1]
        if token.kind == "start":
            is_span = token.name in _SPANS and is_translated
            translated.append(not never and (token.name in _PARAGRAPHS or is_span))
        elif token.kind == "end":
            translated.pop()
        if token.name in _PARAGRAPHS or token.name in _BREAKS:
            builder.end_segment()
            yield from builder.take()
        elif token.kind == "text" and is_translated:
            builder.text(token.start, token.end)
        elif token.name in _SPANS and (translated[-1] if token.kind == "end" else is_translated):
            role = Role.OPEN if token.kind == "start" else Role.CLOSE
            builder.code(token.start, token.end, role, token.name)
        else:
            builder.hidden(token.start, token.end)
    yield from builder.finish()
