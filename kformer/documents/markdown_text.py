"""Markdown: paragraphs, headings, the items of lists, the cells of tables, and blocks of HTML.

Code, the targets of links and the front matter stay as they are, and so do the marks of GitHub's
footnotes and alerts and of lists of definitions.
"""

import bisect
import dataclasses
import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents import html_text
from kformer.documents.document_kinds import ReadOptions
from kformer.documents.inline_markdown import inline_codes, markdown_parser
from kformer.documents.segments import Piece, Role, Segment, SegmentBuilder, escaping

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n.*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ALT = re.compile(r"!\[([^\[\]\\*_`<]*)\]")
_MOST_BETWEEN = 10_000  # Characters between two cells of a table that are placed.
_TASK = re.compile(r"\[[ xX]\](?=\s)")
_MARK = re.compile(r"\[\^[^\[\]\s]+\]:?|\A\[![A-Za-z]+\](?=\s)")  # Footnote, alert.
_DEFINITION = re.compile(r"[ \t]*:[ \t]+")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)")
_VOID = {"br", "img", "wbr", "hr", "input"}
# What would be markup in a translation although it was none in the text.
_MARKUP = re.compile(r"([*_`\[\]<\\|~])")
_BARE = re.compile(r"(?<!\\)([*_`\[\]<|~])")
_IN_LINE = re.compile(r"[^\r\n]")


class _Line(NamedTuple):
    """A line of the document without its line end, and its place."""

    start: int
    text: str


def declared_encoding(_content: bytes) -> None:
    """Returns None: Markdown declares nothing."""


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a document."""
    lines, blank = _lines(text)
    builder = SegmentBuilder(text, _unescape, _writer, collapse=True)
    used: dict[int, int] = {}  # Characters of a line that earlier cells have.
    for token in markdown_parser().parse(blank):
        if token.type == "html_block":
            builder.end_segment()
            builder.emit(_html_segments(builder, token, lines, text, options))
            yield from builder.take()
        elif token.type == "inline" and token.map and token.content.strip():
            places = _places(token, lines, used)
            builder.end_segment()
            if places is None:
                number = token.map[0]
                place = lines[number].start + used.get(number, 0)
                builder.emit([_unplaced(place, builder.line(place), token)])
            else:
                _add(builder, token, places)
            builder.end_segment()
            yield from builder.take()
    yield from builder.finish()


def _html_segments(builder, token, lines, text, options):
    """Yields the segments of a block of HTML."""
    first, behind = token.map
    start = lines[first].start
    end = lines[behind].start if behind < len(lines) else len(text)
    line = builder.line(start)
    for piece in html_text.read(text[start:end], options):
        if isinstance(piece, Segment):
            yield dataclasses.replace(piece, place=piece.place + start, line=piece.line + line - 1)


def _lines(text):
    """Returns the lines of a document, and the document with a blank front matter."""
    lines = [
        _Line(match.start(), match[0].rstrip("\r\n"))
        for match in _LINES.finditer(text)
        if match[0] or match.start() == len(text)
    ]
    front = _FRONT_MATTER.match(text)
    blank = text
    if front:
        blank = _IN_LINE.sub("", front[0]) + text[front.end() :]
    return lines, blank.removeprefix("\ufeff")


def _places(token, lines, used):
    """Returns the place in the document of each line of a block's content, or None."""
    places = []
    numbers = range(*token.map)
    for number, content in zip(numbers, token.content.split("\n"), strict=False):
        if number >= len(lines):
            return None
        line = lines[number]
        first = used.get(number, 0)
        stripped = content.strip()
        place = -1
        if first == 0:
            bare = line.text.rstrip()
            place = len(bare) - len(stripped) if bare.endswith(stripped) else -1
        if place < 0:
            most = first + len(stripped) + _MOST_BETWEEN
            place = line.text.find(stripped, first, most)
        if place < 0:
            return None
        used[number] = place + len(stripped)
        leading = len(content) - len(content.lstrip())
        places.append((line.start + place, leading, len(content)))
    if len(places) < token.content.count("\n") + 1:
        return None
    return places


def _unplaced(place, line, token):
    """Returns a segment that only reports a text, such as a cell with an escaped bar."""
    reason = "its characters were not found in the line"
    return Segment(place, line, "", (token.content,), escaping(str), reason=reason)


class _Paragraph:
    """Adds the text between places of a block's content, line by line."""

    def __init__(self, builder: SegmentBuilder, places):
        self._builder = builder
        self._starts, start = [], 0
        for place, leading, length in places:
            self._starts.append((start + leading, start + length, place))
            start += length + 1
        self._ends = [end for _, end, _ in self._starts]

    def place(self, offset: int) -> int:
        """Returns the place in the document for a place in the content."""
        start, end, place = self._starts[self._line(offset)]
        return place + max(0, min(offset, end) - start)

    def _line(self, offset):
        """Returns the number of the line that has a place of the content."""
        return min(bisect.bisect_left(self._ends, offset), len(self._ends) - 1)

    def text(self, first: int, last: int):
        """Adds the text between two places of the content."""
        behind = None
        for start, end, place in self._starts[self._line(first) : self._line(last) + 1]:
            begin, stop = max(first, start), min(last, end)
            if begin <= stop:
                if behind is not None:
                    self._builder.gap(behind, place + begin - start)
                if begin < stop:
                    self._builder.text(place + begin - start, place + stop - start)
                behind = place + stop - start


def _add(builder, token, places):
    """Adds the text and the markup of a block."""
    paragraph, done, length = _Paragraph(builder, places), 0, len(token.content)
    if task := _TASK.match(token.content):
        done = task.end()
        builder.hidden(paragraph.place(0), paragraph.place(done))
    for code in inline_codes(token):
        if code.start < done:
            continue
        if code.kind == "softbreak":
            definition = _DEFINITION.match(token.content, code.end)
            if definition:
                _add_text(builder, token, paragraph, done, code.start)
                builder.end_segment()
                done = definition.end()
            continue
        _add_text(builder, token, paragraph, done, code.start)
        start, end = paragraph.place(code.start), paragraph.place(code.end)
        _add_code(builder, code, start, end, token.content[code.start : code.end])
        done = code.end
    _add_text(builder, token, paragraph, done, length)


def _add_text(builder, token, paragraph, first, last):
    """Adds text, in which the marks of footnotes and alerts are codes."""
    for mark in _MARK.finditer(token.content, first, last):
        paragraph.text(first, mark.start())
        builder.hidden(paragraph.place(mark.start()), paragraph.place(mark.end()))
        first = mark.end()
    paragraph.text(first, last)


def _add_code(builder, code, start, end, raw):
    if code.kind == "hardbreak":
        builder.end_segment()
    elif code.kind == "image":
        alt = _ALT.match(raw)
        segments = []
        if alt and alt[1].strip() and "\n" not in alt[1]:
            place = start + alt.start(1)
            segments = [Segment(place, builder.line(start), alt[1], (alt[1],), _writer(alt[1]))]
        builder.code(start, end, segments=segments)
    elif code.kind == "html_inline":
        tag = _TAG.match(raw)
        if tag and not raw.endswith("/>") and tag[2].lower() not in _VOID:
            role = Role.CLOSE if tag[1] else Role.OPEN
            builder.code(start, end, role, f"<{tag[2].lower()}")
        else:
            builder.code(start, end)
    elif code.kind.endswith("_open") and not raw.startswith("<"):
        builder.code(start, end, Role.OPEN, code.kind.removesuffix("_open"))
    elif code.kind.endswith("_close"):
        builder.code(start, end, Role.CLOSE, code.kind.removesuffix("_close"))
    elif code.kind == "code_inline" or raw.startswith("<"):
        builder.hidden(start, end, code.content)
    elif code.kind == "text_special":
        builder.text(start, end)
    else:
        builder.hidden(start, end)


def _unescape(raw):
    return html_text.unescape(_ESCAPED.sub(r"\1", raw))


def _writer(raw):
    """Returns the `Write` of a segment, which escapes what would be markup."""
    bare = {match[1] for match in _BARE.finditer(raw)}

    def escape(text: str):
        text = " ".join(text.splitlines()) if "\n" not in raw else text
        return _MARKUP.sub(
            lambda match: match[0] if match[0] in bare - {"*", "`", "["} else f"\\{match[0]}", text
        )

    return escaping(escape)
