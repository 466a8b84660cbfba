"""XLIFF 1.2 and 2: the source of each unit is translated into its target, if that is empty.

A target that is missing is written behind the source, with the state that XLIFF has for the text of
a machine: "needs-review-translation" in 1.2, and "translated", which is not "reviewed" yet, in 2.
The elements of the source that stand for markup are in the target, too.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import quoteattr

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Code, Piece, Role, Segment, SegmentBuilder
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
_OUTER = {"file", "group", "unit", "trans-unit", "segment"}  # Of these, the inner one counts.
_MOST_INDENT = 1000  # Characters before a source that its target may have, too.
_SPANS = {"g", "pc", "mrk"}
_ENDS = {  # Elements that are an end of a span, with the attributes that name the other one.
    "bpt": (Role.OPEN, ("rid", "id")),
    "ept": (Role.CLOSE, ("rid", "id")),
    "bx": (Role.OPEN, ("rid", "id")),
    "ex": (Role.CLOSE, ("rid", "id")),
    "sc": (Role.OPEN, ("id",)),
    "ec": (Role.CLOSE, ("startRef",)),
    "sm": (Role.OPEN, ("id",)),
    "em": (Role.CLOSE, ("startRef",)),
}
_FAMILIES = {"ept": "bpt", "ex": "bx", "ec": "sc", "em": "sm"}
_OF_ANGULAR = re.compile(r"(START|CLOSE)_(\w+?)(?:_\d+)?")
_VALUE = re.compile(r"(?:INTERPOLATION|ICU|PH)(?:_\d+)?")  # Ids of Angular.
_SHOWN = ("equiv-text", "disp", "equiv")  # Attributes with what an element stands for.
_PLACEHOLDER = re.compile(r"[^<\n,]{0,60}[{%$][^<\n,]{0,60}")
_BREAK = re.compile(r"\s+|<(?:\w{1,9}:)?(?:br|cr|tab|line-break|s)[ /]*>", re.IGNORECASE)
_BREAK_TYPES = {"lb", "x-br", "x-html-br", "xlf:lb"}
_UNTRANSLATED = {"new", "needs-translation"}  # States of a target that is a copy of its source.
_PREFIX = re.compile(r"<((?:[\w.-]+:)?)")  # Of the namespace.
_STATE = re.compile(r"(\sstate\s*=\s*)(\"[^\"]*\"|'[^']*')")


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a document."""
    reader = _XliffReader(text, options)
    for token in xml_tokens(text, options.name):
        if not reader.names and token.kind == "start" and token.name != "xliff":
            raise ValueError(
                "A document of XLIFF must have the root <xliff>. "
                f"Received: {options.name}, with the root <{token.name:.60}>."
            )
        reader.take(token)
        yield from reader.builder.take()
    yield from reader.builder.finish()


@dataclasses.dataclass(slots=True)
class _Element:
    """An open element of a source that is a code, such as `<ph>`, with what is inside it.

    Attributes:
        token: Its start.
        depth: Number of the elements around it.
        shown: The text inside it.
    """

    token: XmlToken
    depth: int
    shown: list[str]


class _XliffReader:
    """Collects the source and the target of each unit.

    Attributes:
        names: Names of the open elements.
        builder: Of the document.
    """

    def __init__(self, text: str, options: ReadOptions):
        self._text, self._options = text, options
        self.builder = SegmentBuilder(text, xml_unescape, xml_writer)
        self.names: list[str] = []
        self._sources: list[bool] = []  # For each open source, whether it belongs to a unit.
        self._translated = [True]
        self._element: _Element | None = None
        self._begin_unit(None)

    def _begin_unit(self, token: XmlToken | None):
        self._unit_tag = token
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
        elif self._element:
            self._element.shown.append(self._characters(token))
        elif self._is_in_source:
            if token.kind in ("text", "cdata") and self._translated[-1]:
                self.builder.text(token.start, token.end, str if token.kind == "cdata" else None)
            elif token.kind in ("open-cdata", "close-cdata"):
                return  # The target has its text with references.
            else:
                shown = self._characters(token) if self.names[-1] in _SPANS else ""
                self.builder.hidden(token.start, token.end, shown)

    def _characters(self, token):
        raw = self._text[token.start : token.end]
        return xml_unescape(raw) if token.kind == "text" else raw if token.kind == "cdata" else ""

    @property
    def _is_in_source(self):
        """Whether the innermost source belongs to a unit."""
        return bool(self._sources and self._sources[-1])

    def _start(self, token):
        attributes = token.attributes or {}
        inside = self._is_in_source
        parent = self.names[-1] if self.names else ""
        if token.name == "xliff" or (token.name == "file" and parent == "xliff"):
            self._declare_target(token, attributes)
        self.names.append(token.name)
        if token.name == "source":
            self._sources.append(parent in _UNITS)
        if token.name in _UNITS:
            self._begin_unit(token)
        is_translated = self._translated[-1] and attributes.get("translate") != "no"
        if token.name in _OUTER:
            is_translated = is_translated or attributes.get("translate") == "yes"
        is_translated = is_translated and attributes.get("mtype") != "protected"
        if inside:
            is_span = token.name in _SPANS
            if self._element is None and self._translated[-1] and not is_span:
                self._element = _Element(token, len(self.names), [])
            is_translated = is_translated and is_span
            if self._element is None:
                self._add_span(token, is_translated, Role.OPEN)
        elif token.name == "source" and parent in _UNITS:
            self._source_tag = token
        elif token.name == "target" and parent in _UNITS:
            self._target = token
        self._translated.append(is_translated)

    def _declare_target(self, token, attributes):
        """Adds the target language, which XLIFF 2 must have where it has targets."""
        language = self._options.target_language
        is_second = str(attributes.get("version", "")).startswith("2")
        name = "trgLang" if token.name == "xliff" else "target-language"
        is_place = "source-language" in attributes if token.name == "file" else is_second
        if language is None or name in attributes or not is_place:
            return
        end = token.start + _attributes_end(self._text[token.start : token.end])
        added = f" {name}={quoteattr(language)}"
        line = self.builder.line(end)
        self.builder.emit([Segment(end, line, "", (), lambda _: added, inserted=True)])

    def _add_span(self, token, is_translated, role):
        if is_translated:
            self.builder.code(token.start, token.end, role, token.name)
        else:
            self.builder.hidden(token.start, token.end)

    def _end(self, token):
        depth = len(self.names)
        self.names.pop()
        is_translated = self._translated.pop()
        parent = self.names[-1] if self.names else ""
        if token.name == "source":
            self._sources.pop()
        if self._element:
            if self._element.depth == depth:
                element, self._element = self._element, None
                self._add_element(element, token.end)
        elif self._is_in_source:
            self._add_span(token, is_translated, Role.CLOSE)
        elif token.name == "source" and parent in _UNITS:
            self._source_raw = self._text[self._source_tag.end : token.start]
            self._insertion, self._parts = token.end, tuple(_paired(self.builder.collect()))
        elif token.name == "seg-source" and parent in _UNITS:
            self._insertion = token.end
        elif token.name == "target" and parent in _UNITS:
            self._target_end = token.end
        elif token.name in _UNITS and is_translated and self._source_tag and self._parts:
            self._emit()

    def _add_element(self, element, end):
        """Adds an element that stands for markup or for a placeholder."""
        name, attributes = element.token.name, element.token.attributes or {}
        content = "".join(element.shown)
        role, key = _end_of_span(name, attributes)
        if role:
            self.builder.code(element.token.start, end, role, key)
            return
        texts = [content, *(attributes.get(attribute, "") for attribute in _SHOWN)]
        types = {attributes.get(attribute) for attribute in ("ctype", "type", "subType")}
        if types & _BREAK_TYPES or any(map(_BREAK.fullmatch, texts)):
            self.builder.code(element.token.start, end, shown=" ")
            return
        if shown := _shown_text(texts, attributes.get("id", "")):
            self.builder.code(element.token.start, end, shown=shown)
        else:
            self.builder.hidden(element.token.start, end)

    def _emit(self):
        tag = self._source_tag
        prefix = _PREFIX.match(self._text, tag.start, tag.end)[1]
        is_second = self._unit_tag.name == "segment"
        if self._target:
            place, end = self._target.start, self._target_end
            opening = self._text[place : self._target.end]
            content = self._text[self._target.end : end].rpartition("</")[0]
            state = (self._target.attributes or {}).get("state")
            is_copy = state in _UNTRANSLATED and content == self._source_raw
            if content.strip() and not is_copy:
                return  # It is translated.
            if opening.endswith("/>"):
                opening = f"{opening.removesuffix('/>').rstrip()}>"
        else:
            place = end = self._insertion
            opening = f"<{prefix}target>"
            before = self._text[max(0, tag.start - _MOST_INDENT) : tag.start]
            indent = before[len(before.rstrip(" \t")) :]
            if before[: len(before) - len(indent)].endswith("\n"):
                opening = f"{self._line_end(tag.start - len(indent))}{indent}{opening}"
        if is_second:
            begin, unit = self._unit_tag.start, self._unit_tag
            unit_tag = self._text[begin : unit.end]
            opening = (
                f"{_with_state(unit_tag, 'translated')}{self._text[unit.end : place]}{opening}"
            )
            place = begin
        else:
            opening = _with_state(opening, "needs-review-translation")
        escape = xml_escape(self._source_raw)

        def write(chunks):
            content = "".join(
                chunk.content if chunk.is_code else escape(chunk.content) for chunk in chunks
            )
            return f"{opening}{content}</{prefix}target>"

        raw, line = self._text[place:end], self.builder.line(place)
        segment = Segment(place, line, raw, self._parts, write, inserted=True, syntax="strings")
        self.builder.emit([segment])

    def _line_end(self, place):
        """Returns the line end before a place."""
        return "\r\n" if self._text.endswith("\r\n", 0, place) else "\n"


def _shown_text(texts: Iterable[str], name: str) -> str:
    """Returns what a translator reads for an element that stands for a value, such as `{name}`."""
    for text in texts:
        if _PLACEHOLDER.fullmatch(text.strip()):
            return text.strip()
        if text.lstrip().startswith("{"):  # It has several lines, or is a plural.
            return f"{{{name}}}"
    return f"{{{name}}}" if _VALUE.fullmatch(name) else ""


def _end_of_span(name: str, attributes: Mapping[str, str]) -> tuple[Role | None, str]:
    """Returns the role of an element that is an end of a span, and the name of the span."""
    if name in _ENDS and attributes.get("isolated") != "yes":
        role, keys = _ENDS[name]
        key = next((attributes[key] for key in keys if key in attributes), "")
        return role, f"{_FAMILIES.get(name, name)} {key}"
    if match := _OF_ANGULAR.fullmatch(attributes.get("id", "") if name == "x" else ""):
        return Role.OPEN if match[1] == "START" else Role.CLOSE, f"x {match[2]}"
    return None, ""


def _paired(parts: Iterable[str | Code]) -> Iterator[str | Code]:
    """Yields parts; an end of a span whose other end is nowhere stands alone."""
    parts = [*parts]
    ends = Counter((part.name, part.role) for part in parts if isinstance(part, Code))
    for part in parts:
        if isinstance(part, Code) and part.role is not Role.ALONE:
            partner_role = Role.CLOSE if part.role is Role.OPEN else Role.OPEN
            if not ends[part.name, partner_role]:
                part = dataclasses.replace(part, role=Role.ALONE, name="")
        yield part


def _with_state(tag, state):
    """Returns a tag with a state in place of the one that it has, if any."""
    if _STATE.search(tag):
        return _STATE.sub(lambda match: f'{match[1]}"{state}"', tag, count=1)
    end = _attributes_end(tag)
    return f'{tag[:end]} state="{state}"{tag[end:]}'


def _attributes_end(tag):
    """Returns the place behind the last attribute of a tag."""
    return len(tag.removesuffix(">").removesuffix("/").rstrip())
