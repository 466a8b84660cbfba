"""XLIFF 1.2 and 2: the source of each unit is translated into its target, if that is empty.

A target that is missing is written behind the source. The elements of the source that stand for
markup are in the target, too.
"""

import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, Role, Segment, SegmentBuilder
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    XmlToken,
    declared_encoding,
    xml_escape,
    xml_tokens,
    xml_unescape,
    xml_writer,
)

__all__ = ["ENCODING_ERRORS", "declared_encoding", "read"]
_UNITS = {"trans-unit", "segment"}
_MOST_INDENT = 1000  # Characters before a source that its target may have, too.
_SPANS = {"g", "pc", "mrk"}
_PREFIX = re.compile(r"<((?:[\w.-]+:)?)")  # Of the namespace.


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a document."""
    reader = _XliffReader(text)
    for token in xml_tokens(text, options.name):
        if not reader.names and token.kind == "start" and token.name != "xliff":
            raise ValueError(
                "A document of XLIFF must have the root <xliff>. "
                f"Received: {options.name}, with the root <{token.name:.60}>."
            )
        reader.take(token)
        yield from reader.builder.take()
    yield from reader.builder.finish()


class _XliffReader:
    """Collects the source and the target of each unit.

    Attributes:
        names: Names of the open elements.
        builder: Of the document.
    """

    def __init__(self, text: str):
        self._text = text
        self.builder = SegmentBuilder(text, xml_unescape, xml_writer)
        self.names: list[str] = []
        self._sources: list[bool] = []  # For each open source, whether it belongs to a unit.
        self._translated = [True]
        self._begin_unit()

    def _begin_unit(self):
        self._source_tag: XmlToken | None = None
        self._source_raw, self._insertion = "", 0
        self._parts: tuple = ()
        self._target: XmlToken | None = None
        self._target_end = 0

    def take(self, token: XmlToken):
        if token.kind == "start":
            self._start(token)
        elif token.kind == "end":
            self._end(token)
        elif self._is_in_source:
            if token.kind in ("text", "cdata") and self._translated[-1]:
                self.builder.text(token.start, token.end, str if token.kind == "cdata" else None)
            elif token.kind in ("open-cdata", "close-cdata"):
                return  # The target has its text with references.
            elif token.kind in ("text", "cdata"):
                shown = xml_unescape(self._text[token.start : token.end])
                self.builder.hidden(token.start, token.end, shown if self._is_shown() else "")
            else:
                self.builder.hidden(token.start, token.end)

    @property
    def _is_in_source(self):
        """Whether the innermost source belongs to a unit."""
        return bool(self._sources and self._sources[-1])

    def _is_shown(self):
        return self.names[-1] in _SPANS

    def _start(self, token):
        attributes = token.attributes or {}
        inside = self._is_in_source
        parent = self.names[-1] if self.names else ""
        self.names.append(token.name)
        if token.name == "source":
            self._sources.append(parent in _UNITS)
        if token.name in _UNITS:
            self._begin_unit()
        is_translated = self._translated[-1] and attributes.get("translate") != "no"
        is_translated = is_translated and attributes.get("mtype") != "protected"
        if inside:
            is_translated = is_translated and token.name in _SPANS
            self._add_code(token, is_translated)
        elif token.name == "source" and parent in _UNITS:
            self._source_tag = token
        elif token.name == "target" and parent in _UNITS:
            self._target = token
        self._translated.append(is_translated)

    def _add_code(self, token, is_translated):
        if is_translated:
            role = Role.OPEN if token.kind == "start" else Role.CLOSE
            self.builder.code(token.start, token.end, role, token.name)
        else:
            self.builder.hidden(token.start, token.end)

    def _end(self, token):
        self.names.pop()
        is_translated = self._translated.pop()
        parent = self.names[-1] if self.names else ""
        if token.name == "source":
            self._sources.pop()
        if self._is_in_source:
            self._add_code(token, is_translated)
        elif token.name == "source" and parent in _UNITS:
            self._source_raw = self._text[self._source_tag.end : token.start]
            self._insertion, self._parts = token.end, self.builder.collect()
        elif token.name == "seg-source" and parent in _UNITS:
            self._insertion = token.end
        elif token.name == "target" and parent in _UNITS:
            self._target_end = token.end
        elif token.name in _UNITS and is_translated and self._source_tag and self._parts:
            self._emit()

    def _emit(self):
        tag = self._source_tag
        prefix = _PREFIX.match(self._text, tag.start, tag.end)[1]
        if self._target:
            place, raw = self._target.start, self._text[self._target.start : self._target_end]
            opening = self._text[self._target.start : self._target.end]
            if self._text[self._target.end : self._target_end].partition("</")[0].strip():
                return  # It is translated.
            if opening.endswith("/>"):
                opening = f"{opening.removesuffix('/>').rstrip()}>"
        else:
            place, raw, opening = self._insertion, "", f"<{prefix}target>"
            before = self._text[max(0, tag.start - _MOST_INDENT) : tag.start]
            indent = before[len(before.rstrip(" \t")) :]
            if before[: len(before) - len(indent)].endswith("\n"):
                opening = f"{self._line_end(tag.start - len(indent))}{indent}{opening}"
        escape = xml_escape(self._source_raw)

        def write(chunks):
            content = "".join(
                chunk.content if chunk.is_code else escape(chunk.content) for chunk in chunks
            )
            return f"{opening}{content}</{prefix}target>"

        line_number = self.builder.line(place)
        self.builder.emit([Segment(place, line_number, raw, self._parts, write, inserted=True)])

    def _line_end(self, place):
        """Returns the line end before a place."""
        return "\r\n" if self._text.endswith("\r\n", 0, place) else "\n"
