"""Word's docx: the text of paragraphs, in the body, headers, footers, footnotes, charts and boxes.

Links, insertions and ranges with a comment are spans, as in HTML. A field is a placeholder with the
text that it shows. Deleted and moved-away text, formulas, comments and the readings of ruby are not
translated.
"""

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kformer.documents.declared_languages import with_languages
from kformer.documents.document_kinds import ReadOptions
from kformer.documents.runs_of_text import Node, Paragraph, Run, format_key
from kformer.documents.segments import MARK, Piece, Role, Segment
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    XmlToken,
    declared_encoding,
    xml_attribute_segments,
    xml_tokens,
    xml_unescape,
    xml_writer,
)
from kformer.text.paragraphs.marks import has_letter

__all__ = ["ENCODING_ERRORS", "declared_encoding", "has_text", "read"]
_TEXTS = re.compile(
    r"word/(?:document\d*|header\d*|footer\d*|footnotes\d*|endnotes\d*|charts/chart\d*"
    r"|diagrams/(?:data|drawing)\d*|styles\d*|settings\d*)\.xml|docProps/core\.xml"
)
_HAS_TEXT = re.compile(r"<(?:[\w.-]+:)?(?:p|title|subject|description)[\s/>]")
_LANGUAGE = re.compile(
    r"<(?:[\w.-]+:)?(?:(?:lang|themeFontLang)\s(?:[^<>]*?\s)?(?:[\w.-]+:)?val"
    r"|(?:rPr|endParaRPr|defRPr)\s(?:[^<>]*?\s)?lang)=[\"'](?P<tag>[\w-]+)"
)
_PARAGRAPHS = {"w:p", "a:p"}
_RUNS = {"w:r", "a:r"}
_BREAKS = {"w:br", "w:cr", "w:tab", "w:ptab", "a:br"}
_SPANS = {"w:hyperlink", "w:ins", "w:moveTo", "w:smartTag", "w:customXml", "w:dir", "w:bdo"}
_RANGES = {
    f"w:{name}{end}": (Role.OPEN if end == "Start" else Role.CLOSE, name)
    for name in ("bookmark", "commentRange", "perm", "moveToRange", "moveFromRange")
    for end in ("Start", "End")
}
_DROPPED = {"w:proofErr", "w:lastRenderedPageBreak", "w:softHyphen"}  # From a translation.
_NEVER = {"w:del", "w:moveFrom"}
_SHOWN = {"w:fldSimple", "a:fld", "oMath", "oMathPara"}  # Placeholders with the text in them.
_IN_FIELDS = {"w:fldChar", "w:instrText", "w:fldData"}
_TITLES = {"dc:title", "dc:subject", "dc:description"}
_TEXT = {"w:t", "a:t", "t", *_TITLES}
_READ = {*_TEXT, "w:instrText"}
_SPAN_FIELDS = ("HYPERLINK", "QUOTE", "TOC")  # What they show is text, and translated.
_ALTERNATIVES = {"docPr": ("descr", "title"), "cNvPr": ("descr", "title")}
_HEXADECIMAL = re.compile("[0-9A-Fa-f]{1,5}")
_UNKNOWN_SYMBOL = "\u25aa"
_PRIVATE = range(0xE000, 0xF900)  # Characters of symbol fonts.


def has_text(name: str) -> bool:
    """Returns whether a member of the archive has text."""
    return bool(_TEXTS.fullmatch(name))


class _Element(NamedTuple):
    """An open element: its name, its place, and what to do at its end."""

    name: str
    start: int
    finish: Callable[["_Element", XmlToken], object] | None


@dataclasses.dataclass(slots=True)
class _Field:
    """A field in a paragraph.

    Attributes:
        first, last: The nodes at its ends.
        spans: Number of spans that are open around it.
        instruction: Its text.
        result: The node behind which is what it shows, None without one.
        depth: Number of open fields, with those in it.
    """

    first: Node
    spans: int
    instruction: str = ""
    result: Node | None = None
    last: Node | None = None
    depth: int = 1


class _Around:
    """A paragraph, and what is open in it."""

    def __init__(self, paragraph: Paragraph):
        self.paragraph = paragraph
        self.run: Run | None = None
        self.spans = 0
        self.field: _Field | None = None
        self.ended: list[_Field] = []  # In the open run.


class _Reader:
    """Turns the tokens of a member into segments."""

    def __init__(self, text: str, options: ReadOptions):
        self._text, self._options = text, options
        self._open: list[_Element] = []
        self._arounds: list[_Around | None] = [None]  # None outside of paragraphs, also in a frame.
        self._segments: list[list[Segment]] = [[]]  # Segments of the document, and of open frames.
        self._number = self._done = 0
        self._reads = True  # Whether the elements in the open one are read each,
        self._words: list[str] | None = None  # or only their texts together.

    def pieces(self) -> Iterator[Piece]:
        for token in xml_tokens(self._text, self._options.name):
            if token.kind == "start":
                self._open.append(self._begin(token))
            elif token.kind == "end":
                element = self._open.pop()
                if element.finish:
                    element.finish(element, token)
                if len(self._segments) == 1:
                    yield from self._take()
            elif token.kind in ("text", "cdata"):
                self._read(token)
        yield self._text[self._done :]

    def _read(self, token):
        """Takes the characters of a token if texts are collected."""
        if self._words is not None and self._open[-1].name in _READ:
            raw = self._text[token.start : token.end]
            self._words.append(raw if token.kind == "cdata" else xml_unescape(raw))

    def _take(self):
        for segment in self._segments[0]:
            yield self._text[self._done : segment.place]
            yield segment
            self._done = segment.place + len(segment.raw)
        self._segments[0].clear()

    def _begin(self, token):
        """Returns the element that begins."""
        around = self._arounds[-1]
        finish = None
        if not self._reads:
            if token.name == "w:rt" and self._words is not None:
                finish = self._without_reading(self._words)
        elif around is None:
            finish = self._begin_outside(token)
        elif token.name in _BREAKS:
            self._break(around)
        elif token.name in _DROPPED:
            finish = self._text_of("")
        elif token.name in _NEVER:
            finish = self._ignored(self._add_code)
        elif around.run is None:
            finish = self._begin_in_paragraph(around, token)
        else:
            finish = self._begin_in_run(token)
        return _Element(token.name, token.start, finish)

    def _begin_outside(self, token):
        if token.name in _PARAGRAPHS:
            self._number += 1
            paragraph = Paragraph(self._text, self._number, token.name.startswith("w:"))
            self._arounds.append(_Around(paragraph))
            return self._end_paragraph
        self._add_alternatives(token)
        return self._collected(self._add_title) if token.name in _TITLES else None

    def _begin_in_paragraph(self, around, token):
        name, paragraph = token.name, around.paragraph
        if name in _RUNS:
            around.run = Run(token.start, self._text[token.start : token.end])
            return self._end_run
        if name in _SPANS or name == "w:sdtContent":
            start = self._open[-1].start if name == "w:sdtContent" else token.start
            what = "w:sdt" if name == "w:sdtContent" else name
            paragraph.code(start, token.end, Role.OPEN, what)
            around.spans += 1
            return None if name == "w:sdtContent" else self._end_span
        if name in _RANGES:
            role, what = _RANGES[name]
            mark = f"{MARK}{what} {token.attributes.get('w:id', '')}"
            paragraph.code(token.start, token.end, role, mark)
            return None
        if name == "w:sdt":
            return self._end_span
        if name.endswith("Pr"):
            return self._ignored(self._extend_span)
        if name in _SHOWN:
            return self._collected(self._add_code)
        return self._begin_frame(token)

    def _begin_in_run(self, token):
        name = token.name
        if name.endswith("rPr"):
            return self._ignored(self._end_properties)
        if name in _TEXT or name == "w:ruby":
            return self._collected(self._add_text)
        if name == "w:noBreakHyphen":
            return self._text_of("-")
        if name == "w:sym":
            return self._text_of(_symbol(token.attributes.get("w:char", "")), self._add_code)
        if name in _IN_FIELDS:
            kind = token.attributes.get("w:fldCharType", "")
            return self._collected(functools.partial(self._add_to_field, kind))
        return self._begin_frame(token)

    def _begin_frame(self, token):
        self._segments.append([])
        self._arounds.append(None)
        self._add_alternatives(token)
        return self._end_frame

    def _add_alternatives(self, token):
        if names := _ALTERNATIVES.get(token.name):
            self._segments[-1] += xml_attribute_segments(self._text, token, names, self._number)

    def _ignored(self, finish):
        """Has nothing in an element read; returns the end of the element, then with `finish`."""
        return self._text_of("", finish)

    def _text_of(self, text, finish=None):
        """Has an element stand for a text."""

        def end(element, token):
            self._reads, self._words = True, [text]
            (finish or self._add_text)(element, token)
            self._words = None

        self._reads, self._words = False, None
        return end

    def _collected(self, finish):
        """Has the texts in an element collected; returns its end, then with `finish`."""

        def end(element, token):
            self._reads = True
            finish(element, token)
            self._words = None

        self._reads, self._words = False, []
        return end

    def _without_reading(self, words):
        """Has the text of an element left out of those that are collected."""

        def end(_element, _token):
            self._words = words

        self._words = None
        return end

    def _add_text(self, element, token):
        around = self._arounds[-1]
        around.paragraph.add(Node(element.start, token.end, "".join(self._words), around.run))

    def _add_code(self, element, token):
        around = self._arounds[-1]
        shown = "".join(self._words).strip()
        around.paragraph.code(element.start, token.end, shown=shown, run=around.run)

    def _add_title(self, element, token):
        raw = self._text[element.start : token.end]
        opening, closing = raw.index(">") + 1, raw.rfind("</")
        text = "".join(self._words)
        if has_letter(text):
            inner = raw[opening:closing]
            place = element.start + opening
            self._segments[-1].append(
                Segment(place, self._number, inner, (text,), xml_writer(inner))
            )

    def _extend_span(self, element, token):
        """Adds the properties of a span to the code that begins it."""
        nodes = self._arounds[-1].paragraph.nodes
        if nodes and nodes[-1].end == element.start and element.name != "w:sdtPr":
            nodes[-1].end = token.end
            pieces = (*nodes[-1].part.pieces, self._text[element.start : token.end])
            nodes[-1].part = dataclasses.replace(nodes[-1].part, pieces=pieces)

    def _end_properties(self, element, token):
        run = self._arounds[-1].run
        run.opening = self._text[run.start : token.end]
        run.key = format_key(self._text[element.start : token.end])

    def _end_span(self, element, token):
        around = self._arounds[-1]
        start = token.start
        if element.name == "w:sdt":
            before = self._text.rfind("<", 0, token.start)
            start = before if self._text.startswith("</", before) else token.start
        around.paragraph.code(start, token.end, Role.CLOSE, element.name)
        around.spans -= 1

    def _end_frame(self, element, token):
        self._arounds.pop()
        segments, around = self._segments.pop(), self._arounds[-1]
        around.paragraph.code(element.start, token.end, segments=segments, run=around.run)

    def _break(self, around):
        """Ends a segment at a break of the line."""
        self._segments[-1].extend(around.paragraph.take())
        around.paragraph.is_ordered = bool(around.field)
        around.field = None
        if run := around.run:
            run.first = run.last = Node(run.start, run.start, "", run)

    def _end_paragraph(self, _element, _token):
        around = self._arounds.pop()
        around.paragraph.is_ordered |= bool(around.field)
        self._segments[-1].extend(around.paragraph.take())

    def _add_to_field(self, kind, element, token):
        """Adds the beginning, the instruction or the end of a field."""
        around = self._arounds[-1]
        paragraph, field = around.paragraph, around.field
        instruction = "".join(self._words)
        self._words = []
        self._add_code(element, token)
        node = paragraph.nodes[-1]
        if field is None:
            if kind == "begin":
                around.field = _Field(node, around.spans)
            else:  # It began in another paragraph, or before a break.
                paragraph.is_ordered = True
            return
        field.depth += {"begin": 1, "end": -1}.get(kind, 0)
        if field.depth == 1 and field.result is None:
            field.instruction += instruction
            field.result = node if kind == "separate" else None
        if field.depth == 0:
            field.last, around.field = node, None
            around.ended.append(field)

    def _end_run(self, _element, token):
        around = self._arounds[-1]
        run, around.run = around.run, None
        around.paragraph.end_run(run, token.end)
        for field in around.ended:
            _fold(around.paragraph, field, around.spans)
        around.ended.clear()


def _fold(paragraph, field, spans):
    """Makes a field that has ended one placeholder, or its two ends those of a span."""
    nodes = paragraph.nodes
    last = _index(nodes, field.last)
    first = _index(nodes, field.first)
    is_whole = _begins_run(field.first) and _ends_run(field.last)
    run = None if is_whole else field.first.run
    if spans != field.spans or (not is_whole and (run is None or run is not field.last.run)):
        paragraph.is_ordered = True
        return
    start = field.first.run.start if is_whole and field.first.run else field.first.start
    end = field.last.run.end if is_whole and field.last.run else field.last.end
    behind = _index(nodes, field.result) if field.result else last
    is_span = field.instruction.split()[:1] and field.instruction.split()[0] in _SPAN_FIELDS
    if is_span and is_whole and _ends_run(nodes[behind]) and _begins_run(field.last):
        begin = field.last.run.start if field.last.run else field.last.start
        stop = nodes[behind].run.end if nodes[behind].run else nodes[behind].end
        paragraph.join(last, last, begin, end, Role.CLOSE, "field")
        paragraph.join(first, behind, start, stop, Role.OPEN, "field")
        return
    shown = "".join(
        node.part if isinstance(node.part, str) else node.part.shown
        for node in nodes[behind + 1 : last]
    )
    paragraph.join(first, last, start, end, shown=shown.strip(), run=run)


def _index(nodes, node):
    """Returns the place of a node, which is near the end."""
    place = len(nodes) - 1
    while nodes[place] is not node:
        place -= 1
    return place


def _begins_run(node):
    return node.run is None or node.run.first is node


def _ends_run(node):
    return node.run is None or (node.run.last is node and node.run.end is not None)


def _symbol(code):
    """Returns a character for one of a font of symbols."""
    number = int(code, 16) if _HEXADECIMAL.fullmatch(code) else 0
    is_known = number > ord(" ") and number not in _PRIVATE
    return chr(number) if is_known else _UNKNOWN_SYMBOL


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a member."""
    text = with_languages(text, _LANGUAGE, options)
    if _HAS_TEXT.search(text):
        yield from _Reader(text, options).pieces()
    else:  # Such as the styles, which have a language.
        yield text
