"""Paragraphs of Office Open XML, docx and pptx: from runs to a segment, and back to runs.

The text of a paragraph is in runs, each with a format. Most runs of a real document divide the text
for no reason that a reader sees, so neighbouring runs of one format are one text here. The format
that most of a paragraph has is its base; text of another format is in a span, as in HTML, and so is
a link, or text that was inserted. A translation is written in new runs.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator

from kformer.documents.segments import (
    PROSE,
    Chunk,
    Code,
    Role,
    Segment,
    bounds,
    check_number_of_parts,
    crossing_marks,
    merged,
    pieces_with_segments,
)
from kformer.documents.xml_tokens import xml_escape
from kformer.text.paragraphs.marks import has_letter

_INVISIBLE = re.compile(  # What differs between runs that look the same.
    r"<(?:\w+:)?(?:lang|noProof|webHidden)(?:\s[^<>]*+)?/?>"
    r"|\s(?:(?:\w+:)?hint|lang|altLang|dirty|err|smtClean|noProof|(?:\w+:)?rsid\w*)=(?:\"[^\"]*+\"|'[^']*+')"
    r"|(?<!\s)\s++(?=<)"
)
_EMPTY = re.compile(r"<((?:\w+:)?rPr)\s*+(?:/>|></\1>)")
_SUPERSCRIPT = re.compile(r'vertAlign\s[^<>]{0,99}?val=["\']superscript|\sbaseline=["\'][1-9]')
_PREFIX = re.compile(r"<((?:[\w.-]+:)?)")
SUPERSCRIPT = "sup"
_MOST_FORMAT = 4000  # Characters of a format that are compared without what is invisible.


def format_key(properties: str) -> str:
    """Returns the properties of a run as far as a reader sees them."""
    if len(properties) > _MOST_FORMAT:
        return properties
    return _EMPTY.sub("", _INVISIBLE.sub("", properties))


@dataclasses.dataclass(slots=True)
class Run:
    """A run of a paragraph.

    Attributes:
        start: Its place in the document.
        opening: Its characters before its content: its tag and its properties.
        key: Its `format_key`.
        end: Its place behind its end, None while it is open.
        first, last: Its nodes at its two ends.
    """

    start: int
    opening: str
    key: str = ""
    end: int | None = None
    first: "Node | None" = None
    last: "Node | None" = None


@dataclasses.dataclass(eq=False, slots=True)
class Node:
    """A text, or a code, of a paragraph and its place.

    Attributes:
        start, end: Its place in the document.
        part: The text, unescaped, or the code.
        run: The run that it is in; None between runs.
        segments: The segments in a code.
    """

    start: int
    end: int
    part: "str | RunCode"
    run: Run | None = None
    segments: tuple[Segment, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RunCode(Code):
    """A code between or within runs.

    Attributes:
        opening: The characters that begin a run for it, if it stands in one; of an opening code,
            those that begin a run for the text inside, or "" for the run around it.
    """

    opening: str = ""


class Paragraph:
    """Collects the nodes of a paragraph.

    Args:
        document: The characters of the document.
        number: Number of the paragraph.
        keeps_spaces: Whether a text needs an attribute that keeps the spaces at its ends.
    """

    def __init__(self, document: str, number: int, keeps_spaces: bool):
        self._document, self._number, self._keeps_spaces = document, number, keeps_spaces
        self.nodes: list[Node] = []
        self.is_ordered = False  # Whether codes must keep their order.

    def add(self, node: Node):
        """Adds a node at the end."""
        check_number_of_parts(self.nodes, f"paragraph {self._number:,}")
        self.nodes.append(node)
        if run := node.run:
            run.first = run.first or node
            run.last = node

    def code(
        self,
        start: int,
        end: int,
        role: Role = Role.ALONE,
        name: str = "",
        shown: str = "",
        segments: Iterable[Segment] = (),
        run: Run | None = None,
    ):
        """Adds a code of the document's characters."""
        segments = tuple(segments)
        pieces = pieces_with_segments(self._document, start, end, segments)
        opening = run.opening if run else ""
        code = RunCode(pieces, role, name, shown, opening=opening)
        self.add(Node(start, end, code, run, segments))

    def end_run(self, run: Run, end: int):
        """Ends a run; a code that has it alone is a code between runs, with the run's tags."""
        run.end = end
        node = run.first
        if node is None or node is not run.last or isinstance(node.part, str):
            return
        pieces = (
            self._document[run.start : node.start],
            *node.part.pieces,
            self._document[node.end : end],
        )
        node.part = dataclasses.replace(node.part, pieces=pieces, opening="")
        node.start, node.end, node.run = run.start, end, None

    def join(
        self,
        first: int,
        last: int,
        start: int,
        end: int,
        role: Role = Role.ALONE,
        name: str = "",
        shown: str = "",
        run: Run | None = None,
    ):
        """Makes the nodes from the first to the last one a code of characters of the document."""
        nodes = self.nodes
        behind = nodes[last + 1 :]
        segments = [segment for node in nodes[first : last + 1] for segment in node.segments]
        del nodes[first:]
        self.code(start, end, role, name, shown, segments, run)
        nodes += behind

    def take(self) -> Iterator[Segment]:
        """Yields the segment of the nodes, or those in their codes alone, and drops them."""
        nodes, self.nodes = self.nodes, []
        for place in crossing_marks([node.part for node in nodes]):
            mark = nodes[place]
            assert isinstance(mark.part, RunCode)
            mark.part = mark.part.alone
        first, last = bounds([node.part for node in nodes])
        inside = nodes[first:last]
        if not any(isinstance(node.part, str) and has_letter(node.part) for node in inside):
            first = last = len(nodes)
        for node in nodes[:first]:
            yield from node.segments
        if first < last:
            yield self._segment(inside)
        for node in nodes[last:]:
            yield from node.segments

    def _segment(self, nodes):
        first, last = nodes[0], nodes[-1]
        start, end = first.start, last.end
        opened, closed = first.run, last.run
        if first.run and first.run.first is first:
            start, opened = first.run.start, None
        if last.run and last.run.last is last and last.run.end is not None:
            end, closed = last.run.end, None
        before, behind = _stripped(first, str.lstrip), _stripped(last, str.rstrip)
        raw, escape = self._document[start:end], xml_escape(self._document[start:end])
        parts, opening = _with_formats(nodes)
        write = _RunWriter(
            opening,
            (opened.opening if opened else "", closed.opening if closed else ""),
            (escape(before), escape(behind)),
            escape,
            self._keeps_spaces,
        )
        is_ordered, self.is_ordered = self.is_ordered, False
        return Segment(start, self._number, raw, parts, write, is_ordered, syntax=PROSE)


def _stripped(node, strip):
    """Takes the white space off an end of a node's text, and returns it."""
    if not isinstance(node.part, str):
        return ""
    text, node.part = node.part, strip(node.part)
    return text[: len(text) - len(node.part)] if strip is str.lstrip else text[len(node.part) :]


def _with_formats(nodes):
    """Returns the parts of nodes with a span for each format but the base, and the base's run."""
    bases = _bases(nodes)
    parts: list[str | Code] = []
    levels, place, level = [0], 0, 0
    while place < len(nodes):
        node = nodes[place]
        part = node.part
        if isinstance(part, str):
            base = bases[levels[-1]]
            if not part.strip() or node.run is None or base is None or node.run.key == base.key:
                parts.append(part)
            else:
                stop = _end_of_format(nodes, place)
                parts += _format_span([each.part for each in nodes[place:stop]], node.run)
                place = stop
                continue
        elif part.role is Role.OPEN:
            level += 1
            levels.append(level)
            run = bases[level]
            parts.append(dataclasses.replace(part, opening=run.opening if run else ""))
        else:
            if part.role is Role.CLOSE and len(levels) > 1:
                levels.pop()
            parts.append(part)
        place += 1
    base = bases[0] or next(node.run for node in nodes if node.run)
    return tuple(merged(parts)), base.opening


def _bases(nodes):
    """Returns a run with the most frequent format, for the paragraph and for each span in it."""
    counts: list[dict[str, int]] = [{}]
    runs: list[dict[str, Run]] = [{}]
    levels = [0]
    for node in nodes:
        part = node.part
        if isinstance(part, str):
            if node.run and part.strip():
                key, level = node.run.key, levels[-1]
                counts[level][key] = counts[level].get(key, 0) + len(part)
                runs[level].setdefault(key, node.run)
        elif part.role is Role.OPEN:
            levels.append(len(counts))
            counts.append({})
            runs.append({})
        elif part.role is Role.CLOSE and len(levels) > 1:
            levels.pop()
    return [
        runs[level][max(count, key=count.__getitem__)] if count else None
        for level, count in enumerate(counts)
    ]


def _end_of_format(nodes, place):
    """Returns the place behind the last text of the format of the one at a place."""
    key, end = nodes[place].run.key, place + 1
    for following in range(place + 1, len(nodes)):
        node = nodes[following]
        if isinstance(node.part, str):
            if node.part.strip():
                if node.run is None or node.run.key != key:
                    break
                end = following + 1
        elif node.part.role is not Role.ALONE:
            break
    return end


def _format_span(parts, run):
    """Returns the parts of one format between two codes, without the white space at their ends."""
    name = SUPERSCRIPT if _SUPERSCRIPT.search(run.key) else "format"
    opening = RunCode((), Role.OPEN, name, opening=run.opening)
    first, last = parts[0].lstrip(), parts[-1].rstrip()
    before, behind = parts[0][: len(parts[0]) - len(first)], parts[-1][len(last) :]
    inside = [first.rstrip()] if len(parts) == 1 else [first, *parts[1:-1], last]
    return [before, opening, *inside, RunCode((), Role.CLOSE, name), behind]


@dataclasses.dataclass(frozen=True, slots=True)
class _RunWriter:
    """The `Write` of a segment.

    Attributes:
        base: The characters that begin a run of the base.
        around: Those of the runs that are open where the segment begins and ends; "" for none.
        spaces: The escaped white space at the ends of the segment.
        escape: Escapes text.
        keeps_spaces: As for `Paragraph`.
    """

    base: str
    around: tuple[str, str]
    spaces: tuple[str, str]
    escape: Callable[[str], str]
    keeps_spaces: bool

    def __call__(self, chunks: list[Chunk]) -> str:
        runs = _Runs(self.base, self.around[0], self.keeps_spaces)
        first, last = self.spaces
        if first:
            runs.text(first, self.around[0])
        for content, is_code, code in chunks:
            if is_code and code:
                runs.code(content, code)
            else:
                runs.text(self.escape(content))
        if last:
            runs.text(last, self.around[1] or runs.opened)
        return runs.finish(self.around[1])


class _Runs:
    """Writes runs, one after the other.

    Attributes:
        opened: The characters that began the open run; "" without one.
    """

    def __init__(self, base: str, opened: str, keeps_spaces: bool):
        self._formats = [base]
        self.opened, self._text = opened, ""
        self._keeps_spaces = keeps_spaces
        prefix = _PREFIX.match(base)
        self._prefix = prefix[1] if prefix else ""
        self._written: list[str] = []

    def text(self, text: str, opening: str = ""):
        """Adds escaped text in the format of the place."""
        if text:
            self._open(opening or self._formats[-1])
            self._text += text

    def code(self, content: str, code: Code):
        """Adds a code."""
        opening = code.opening if isinstance(code, RunCode) else ""
        if code.role is Role.ALONE and opening:
            self._open(opening)
            self._end_text()
            self._written.append(content)
            return
        if content:
            self._open("")
            self._written.append(content)
        if code.role is Role.OPEN:
            self._formats.append(opening or self._formats[-1])
        elif code.role is Role.CLOSE and len(self._formats) > 1:
            self._formats.pop()

    def finish(self, closing: str) -> str:
        """Returns all characters; a run that goes on behind them is open at their end."""
        self._open(closing)
        self._end_text()
        return "".join(self._written)

    def _open(self, opening):
        """Has a run open that begins so; "" for none."""
        if self.opened == opening:
            return
        self._end_text()
        if self.opened:
            self._written.append(f"</{self._prefix}r>")
        self._written.append(opening)
        self.opened = opening

    def _end_text(self):
        text, self._text = self._text, ""
        if text:
            keeps = self._keeps_spaces and text != text.strip()
            kept = ' xml:space="preserve"' if keeps else ""
            self._written.append(f"<{self._prefix}t{kept}>{text}</{self._prefix}t>")
