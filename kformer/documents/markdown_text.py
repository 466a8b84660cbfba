"""Markdown: paragraphs, headings, the items of lists, the cells of tables, and blocks of HTML.

Code, math and the targets of links stay as they are, and so do the marks of GitHub's footnotes and
alerts, of blocks such as `:::note`, and of lists of definitions. Of the front matter, the title and
the description are translated. A link to a definition, `[text]`, gets the label of the definition,
`[Text][text]`.
"""

import bisect
import dataclasses
import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents import html_text
from kformer.documents.document_kinds import ReadOptions
from kformer.documents.inline_markdown import BLOCK, inline_codes, markdown_parser
from kformer.documents.segments import (
    PROSE,
    Chunk,
    Piece,
    Role,
    Segment,
    SegmentBuilder,
    collapsed,
    escaping,
)
from kformer.documents.yaml_strings import segments_of_keys

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n.*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_OF_FRONT_MATTER = ("title", "subtitle", "description", "summary")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ALT = re.compile(r"!\[([^\[\]\\*_`<]*)\]")
_MOST_BETWEEN = 10_000  # Characters between two cells of a table that are placed.
_TASK = re.compile(r"\[[ xX]\](?=\s)")
_MARK = re.compile(  # A footnote, an alert, attributes such as {#id}, and :emoji:.
    r"\[\^[^\[\]\s]+\]:?|\A\[![A-Za-z]+\](?=\s)|\{[#.:][^{}\n]{0,200}\}"
    r"|(?<![\w:]):[a-z][a-z0-9_+-]{0,40}:(?![\w:])"
)
_DEFINITION = re.compile(r"[ \t]*:[ \t]+")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)")
_VOID = {"br", "img", "wbr", "hr", "input"}
_EMPHASIS = {"strong", "em", "s"}
_TITLE = re.compile(r"\s*[\w-]+(?:\[(?P<bracket>[^\[\]]+)\]|\s+(?P<words>[^\s{\[].*))\s*\Z")
_MODULE = re.compile(  # Of MDX.
    r"(?:(?:import\s+(?:[^\n'\"]{1,500}\sfrom\s+)?['\"][^\n'\"]+['\"]"
    r"|export\s+(?:const|let|var|function|class|default)\s+[\w$]+\s*[=({][^\n]*);?\s*)+"
)
# What would be markup in a translation although it was none in the text.
_MARKUP = re.compile(r"([*_`\[\]\\|~])|<(?=[A-Za-z/!?])|&(?=#?\w{1,40};)")
_BARE = re.compile(r"(?<!\\)([_|~])")
_BEGINS_BLOCK = re.compile(r"(?:[-+>]|#{1,6}|:{3,}|!!!|\?\?\?\+?)(?=\s|\Z)|:::")
_BEGINS_ITEM = re.compile(r"(\d{1,9})([.)](?=\s|\Z))")
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
    builder = SegmentBuilder(text, _unescape, _writer, collapse=True, syntax=PROSE)
    used: dict[int, int] = {}  # Characters of a line that earlier cells have.
    builder.emit(_front_matter(text))
    yield from builder.take()
    definitions: dict = {}
    block, before = "", ""  # What the last block with a title says, and the type of the last token.
    for token in markdown_parser().parse(blank, definitions):
        is_default = before == "admonition_title_open" and '"' not in block  # It is not there.
        before = token.type
        if token.type == "html_block":
            builder.end_segment()
            builder.emit(_html_segments(builder, token, lines, text, options))
            yield from builder.take()
        elif token.type == f"container_{BLOCK}_open":
            builder.end_segment()
            builder.emit(_titles(builder, token, lines))
        elif token.type == "admonition_open":
            block = token.info
        elif token.type == "inline" and token.map and token.content.strip() and not is_default:
            builder.end_segment()
            _add_block(builder, token, lines, used, definitions)
            builder.end_segment()
            yield from builder.take()
    yield from builder.finish()


def _front_matter(text):
    """Yields the segments of the front matter."""
    front = _FRONT_MATTER.match(text)
    if front is None:
        return
    inner = front[0].splitlines(True)[1:-1]
    start = len(front[0].splitlines(True)[0])
    for segment in segments_of_keys("".join(inner), _OF_FRONT_MATTER):
        yield dataclasses.replace(segment, place=start + segment.place, line=1 + segment.line)


def _titles(builder, token, lines):
    """Yields the segment of the title behind the name of a block, if there is one."""
    title = _TITLE.match(token.info)
    if title is None:
        return
    words = (title["bracket"] or title["words"]).strip()
    line = lines[token.map[0]]
    place = line.start + line.text.rindex(words)
    yield Segment(place, builder.line(place), words, (_unescape(words),), _writer(words))


def _add_block(builder, token, lines, used, definitions):
    """Adds the text of a block, or reports it."""
    if _MODULE.fullmatch(token.content):
        return
    if "|" in token.content and lines[token.map[0]].text.find("\\|") >= 0:  # In a cell.
        [cell] = markdown_parser().parseInline(token.content.replace("|", "\\|"), definitions)
        cell.map = token.map
        if places := _places(cell, lines, used):
            _add(builder, cell, places)
            return
    places = _places(token, lines, used)
    if places is None:
        number = token.map[0]
        place = lines[number].start + used.get(number, 0)
        builder.emit([_unplaced(place, builder.line(place), token)])
    else:
        _add(builder, token, places)


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
    labels = []  # Where the labels of open links begin.
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
        raw = token.content[code.start : code.end]
        written = None
        if code.kind == "link_open":
            labels.append(code.end)
        elif code.kind == "link_close" and labels:
            label = token.content[labels.pop() : code.start]
            written = f"][{collapsed(label)}]" if raw in ("]", "][]") else None
        _add_code(builder, code, start, end, raw, written)
        done = code.end
    _add_text(builder, token, paragraph, done, length)


def _add_text(builder, token, paragraph, first, last):
    """Adds text, in which the marks of footnotes and alerts are codes."""
    for mark in _MARK.finditer(token.content, first, last):
        paragraph.text(first, mark.start())
        builder.hidden(paragraph.place(mark.start()), paragraph.place(mark.end()))
        first = mark.end()
    paragraph.text(first, last)


def _add_code(builder, code, start, end, raw, written):
    if code.kind == "hardbreak":
        builder.end_segment()
    elif code.kind == "image":
        builder.code(start, end, segments=_alternative(builder, start, raw))
    elif code.kind == "html_inline":
        tag = _TAG.match(raw)
        if tag and tag[2].lower() == "br":
            builder.end_segment()
        elif tag and not raw.endswith("/>") and tag[2].lower() not in _VOID:
            role = Role.CLOSE if tag[1] else Role.OPEN
            builder.code(start, end, role, f"<{tag[2].lower()}")
        else:
            builder.code(start, end)
    elif code.kind.endswith("_open") and not raw.startswith("<"):
        builder.code(start, end, Role.OPEN, code.kind.removesuffix("_open"))
    elif code.kind.endswith("_close"):
        name = code.kind.removesuffix("_close")
        builder.code(start, end, Role.CLOSE, name, written=written)
    elif code.kind in ("code_inline", "math_inline") or raw.startswith("<"):
        builder.hidden(start, end, code.content)
    elif code.kind == "text_special":
        builder.text(start, end)
    else:
        builder.hidden(start, end)


def _alternative(builder, start, raw):
    """Returns the segment of an image's text; that of a label gets the label behind it."""
    alt = _ALT.match(raw)
    if alt is None or not alt[1].strip() or "\n" in alt[1]:
        return []
    place, line = start + alt.start(1), builder.line(start)
    write, behind = _writer(alt[1]), raw[alt.end() :]
    if behind not in ("", "[]"):
        return [Segment(place, line, alt[1], (alt[1],), write)]
    inner = raw[alt.start(1) :]
    return [Segment(place, line, inner, (alt[1],), lambda chunks: f"{write(chunks)}][{alt[1]}]")]


def _readable(chunks):
    """Returns chunks without empty emphasis, and with a space between two pieces of code.

    A reader of Markdown would take `****` for text, and `` `a``b` `` for a single piece of code.
    """
    kept: list[Chunk] = []
    for chunk in chunks:
        code = chunk.code
        before = kept[-1].code if kept else None
        is_end = code is not None and code.role is Role.CLOSE and code.name in _EMPHASIS
        if is_end and before and before.role is Role.OPEN and before.name == code.name:
            kept.pop()
            continue
        last = kept[-1].content[-1:] if before else ""
        if code and last and last in "`$" and chunk.content.startswith(last):
            kept.append(Chunk(" "))
        kept.append(chunk)
    return kept


def _unescape(raw):
    return html_text.unescape(_ESCAPED.sub(r"\1", raw))


def _writer(raw):
    """Returns the `Write` of a segment, which escapes what would be markup."""
    bare = {match[1] for match in _BARE.finditer(raw)}
    less = "&lt;" if "&lt;" in raw else "\\<"

    def escaped(match):
        if match[0] == "&":
            return "&amp;"
        if match[0] == "<":
            return less
        return match[0] if match[0] in bare else f"\\{match[0]}"

    write = escaping(lambda text: _MARKUP.sub(escaped, " ".join(text.splitlines())))

    def writing(chunks):
        chunks = _readable(chunks)
        first = chunks[0].content if chunks and not chunks[0].is_code else ""
        written = write(chunks)
        if _BEGINS_BLOCK.match(first):
            return f"\\{written}"
        return (
            _BEGINS_ITEM.sub(r"\1\\\2", written, count=1) if _BEGINS_ITEM.match(first) else written
        )

    return writing
