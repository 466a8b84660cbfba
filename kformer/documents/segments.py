"""Segments: the translatable texts of a document, with the markup that stands inside them.

A reader of a document yields strings and segments in the order of the document. With the `raw`
characters of each segment in its place, they are the document: whatever is not translated comes out
as it went in.
"""

import dataclasses
import enum
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import NamedTuple, Self

from kformer.text.paragraphs.marks import has_letter


class Role(enum.Enum):
    """The role of a code in the text: the two ends of a span, or a code that stands alone."""

    OPEN = enum.auto()
    CLOSE = enum.auto()
    ALONE = enum.auto()


class Chunk(NamedTuple):
    """A part of a translated segment: text that must still be escaped, or markup.

    Attributes:
        content: Its characters.
        is_code: Whether they are characters of the document.
        code: The code that they are; None for text.
    """

    content: str
    is_code: bool = False
    code: "Code | None" = None


Write = Callable[[list[Chunk]], str]
"""Returns the characters of the document for the chunks of a translated segment."""


@dataclasses.dataclass(frozen=True, slots=True)
class Code:
    """Markup, or a placeholder, inside a segment. It is in the translation exactly once.

    Attributes:
        pieces: Its characters in the document; segments among them are its attributes. Codes among
            them stand inside a placeholder, such as the end of a run of Word in `{{ na|me }}`.
        role: `Role`.
        name: Opening and closing codes of one name belong together.
        shown: The text that the translator reads in its place; a space for a break.
        share: For a code that divides a translation: the share of the text before it, from 0 to 1.
        is_text: Whether it is a placeholder in the text, which is escaped like text.
        is_amount: Whether it is text that the translator writes, and stands for itself only if a
            translation lacks its digits.
        is_changed: Whether a translation has other characters for it than the document.
    """

    pieces: tuple["str | Segment | Code", ...]
    role: Role = Role.ALONE
    name: str = ""
    shown: str = ""
    share: float | None = None
    is_text: bool = False
    is_amount: bool = False
    is_changed: bool = False

    @property
    def raw(self) -> str:
        """Its characters in the document."""
        return "".join(raw_of(self.pieces))

    @property
    def alone(self) -> Self:
        """The same code, but standing alone."""
        return dataclasses.replace(self, role=Role.ALONE)

    @property
    def is_break(self) -> bool:
        """Whether it is read as a space, such as a line break, and takes the place of a space."""
        return self.share is None and self.shown.isspace()

    @property
    def has_segments(self) -> bool:
        """Whether it has text of its own: an attribute, or a form of a plural."""
        return any(
            isinstance(piece, Segment) or (isinstance(piece, Code) and piece.has_segments)
            for piece in self.pieces
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """A text of a document that is translated as a whole.

    Attributes:
        place: The place in the document of its first character.
        line: Number of the line where it begins; of the paragraph, in a file without lines.
        raw: The characters of the document that the translation replaces.
        parts: Its text, unescaped, and the codes inside it.
        write: `Write`.
        ordered: Whether the codes must keep their order.
        inserted: Whether the translation is written even if it is equal to the text, because the
            text stands elsewhere in the document.
        reason: Why it must stay as it is, although it is text; usually empty.
        syntax: The syntax of its placeholders, as the document declares it; of
            `kformer.documents.placeholders.SYNTAXES`.
    """

    place: int
    line: int
    raw: str
    parts: tuple[str | Code, ...]
    write: Write
    ordered: bool = False
    inserted: bool = False
    reason: str = ""
    syntax: str = ""

    @property
    def text(self) -> str:
        """The text as a translator reads it."""
        return "".join(part if isinstance(part, str) else part.shown for part in self.parts)


@dataclasses.dataclass(frozen=True, slots=True)
class InnerSegment(Segment):
    """A text inside a placeholder, such as a form of a plural: the segment around it writes it.

    Attributes:
        original: Its characters in the text around it, with the codes among them.
        rewrite: Returns the chunks for the text around it, for those of the translation.
    """

    original: tuple[str | Code, ...] = ()
    rewrite: Callable[[list[Chunk]], list[Chunk]] = list


Piece = str | Segment
PROSE = "prose"
"""Syntax of text in documents, where a tag that is text is a word and no markup."""
MOST_PARTS = 50_000  # Of a segment, each of which takes a kilobyte while it is translated.
_SPACES = re.compile("[ \t\r\n\f]+")


def check_number_of_parts(parts: Sized, where: str):
    """Raises a ValueError if a paragraph has too many parts to get another one."""
    if len(parts) >= MOST_PARTS:
        raise ValueError(
            f"A paragraph must have at most {MOST_PARTS:,} texts and tags. "
            f"Received: one with more, {where}."
        )


def pieces_with_segments(
    document: str, start: int, end: int, segments: Iterable[Segment]
) -> tuple[Piece, ...]:
    """Returns the characters of a document between two places, with the segments among them."""
    pieces: list[Piece] = []
    for segment in segments:
        pieces += [document[start : segment.place], segment]
        start = segment.place + len(segment.raw)
    return (*pieces, document[start:end])


def raw_of(pieces: Iterable[Piece | Code]) -> Iterator[str]:
    """Yields the characters of the document for each piece."""
    return (piece if isinstance(piece, str) else piece.raw for piece in pieces)


def plain_text(parts: Iterable[str | Code]) -> str:
    """Returns the text of a segment for a translation memory, with its placeholders as they are."""
    text = "".join(part if isinstance(part, str) else _plain(part) for part in parts)
    return " ".join(filter(None, text.split(" ")))  # A hidden code may have two beside it.


def _plain(code):
    is_whole = code.is_text and all(isinstance(piece, str) for piece in code.pieces)
    return code.raw if is_whole else code.shown


def escaping(escape: Callable[[str], str]) -> Write:
    """Returns a `Write` that escapes the text and joins it with the codes."""

    def write(chunks):
        return "".join(
            chunk.content if chunk.is_code else escape(chunk.content) for chunk in chunks
        )

    return write


@dataclasses.dataclass(slots=True)
class _SegmentPart:
    """Text or a code between two places of the document.

    Attributes:
        start, end: The places.
        part: The text or the code.
        segments: The segments of the attributes of a code.
    """

    start: int
    end: int
    part: str | Code
    segments: tuple[Segment, ...] = ()


@dataclasses.dataclass(slots=True)
class _Hidden:
    """A code of neighbours that are not translated, before it is made of all of them."""

    start: int
    end: int
    shown: list[str]


class SegmentBuilder:
    """Collects the tokens of a document, in their order, into segments.

    Args:
        document: The characters of the document.
        unescape: Returns the text for characters of the document.
        writer: Returns the `Write` of a segment for its raw characters.
        collapse: Whether white space of any length is a space.
        ordered: Whether the codes of a segment must keep their order.
        number: Returns the number of the paragraph that is read; None for lines, which are counted.
        syntax: As for `Segment`.
    """

    def __init__(
        self,
        document: str,
        unescape: Callable[[str], str],
        writer: Callable[[str], Write],
        collapse: bool = False,
        ordered: bool = False,
        number: Callable[[], int] | None = None,
        syntax: str = "",
    ):
        self._document, self._unescape, self._writer = document, unescape, writer
        self._collapse, self._ordered, self._number = collapse, ordered, number
        self._syntax = syntax
        self._items: list[_SegmentPart] = []
        self._hidden: _Hidden | None = None  # Behind the items.
        self._output: list[Piece] = []
        self._done = 0  # Characters that are in the output, or were.
        self._line, self._counted = 1, 0

    def within(self, place: int) -> "SegmentBuilder":
        """Returns a builder for an element that begins at a place, inside a segment."""
        builder = SegmentBuilder(
            self._document,
            self._unescape,
            self._writer,
            self._collapse,
            self._ordered,
            self._number,
            self._syntax,
        )
        builder._line, builder._counted = self.line(place), place
        builder._done = place
        return builder

    def line(self, place: int) -> int:
        """Returns the number of the line of a place, or that of the paragraph."""
        if self._number:
            return self._number()
        if place < self._counted:
            return self._line - self._document.count("\n", place, self._counted)
        self._line += self._document.count("\n", self._counted, place)
        self._counted = place
        return self._line

    def text(self, start: int, end: int, unescape: Callable[[str], str] | None = None):
        """Adds text; white space at its ends is apart, so that it stays if a segment ends there."""
        self._add_hidden()
        unescape = unescape or self._unescape
        raw = self._document[start:end]
        first = start + len(raw) - len(raw.lstrip())
        last = max(first, end - (len(raw) - len(raw.rstrip())))
        for begin, stop in ((start, first), (first, last), (last, end)):
            if begin < stop:
                text = unescape(self._document[begin:stop])
                text = collapsed(text) if self._collapse else text
                self._items.append(_SegmentPart(begin, stop, text))

    def switch(self, unescape: Callable[[str], str], writer: Callable[[str], Write]):
        """Ends the segment; those that follow are escaped in another way."""
        self.end_segment()
        self._unescape, self._writer = unescape, writer

    def gap(self, start: int, end: int):
        """Adds what is between two lines of a text, such as a line break, as a space."""
        self._add_hidden()
        self._items.append(_SegmentPart(start, end, " "))

    def code(
        self,
        start: int,
        end: int,
        role: Role = Role.ALONE,
        name: str = "",
        shown: str = "",
        segments: Iterable[Segment] = (),
        share: float | None = None,
        written: str | None = None,
    ):
        """Adds a code.

        Args:
            start, end: Its place.
            role, name, shown, share: As for `Code`.
            segments: Its attributes that are translated.
            written: Its characters in a translation, if they are others.
        """
        self._add_hidden()
        if len(self._items) >= MOST_PARTS:  # Lines are counted only then.
            check_number_of_parts(self._items, f"up to line {self.line(start):,}")
        segments = tuple(segments)
        pieces: tuple[Piece, ...] = (written or "",)
        if written is None:
            pieces = pieces_with_segments(self._document, start, end, segments)
        self._items.append(
            _SegmentPart(
                start,
                end,
                Code(pieces, role, name, shown, share, is_changed=written is not None),
                segments,
            )
        )

    def hidden(self, start: int, end: int, shown: str = ""):
        """Adds what is not translated; with a hidden neighbour, it is one code."""
        if self._hidden is None:
            self._hidden = _Hidden(start, end, [])
        self._hidden.end = end
        if shown:
            self._hidden.shown.append(shown)

    def _add_hidden(self):
        if hidden := self._hidden:
            self._hidden = None
            self.code(hidden.start, hidden.end, shown="".join(hidden.shown))

    def _take_items(self):
        self._add_hidden()
        items, self._items = self._items, []
        return items

    def end_segment(self):
        """Ends the segment: a tag of a block, or a line break, follows."""
        items = self._take_items()
        parts = [item.part for item in items]
        for place in crossing_marks(parts):
            items[place].part = parts[place] = parts[place].alone
        first, last = bounds(parts)
        inside = items[first:last]
        if not any(isinstance(item.part, str) and has_letter(item.part) for item in inside):
            first = last = len(items)
        for item in items[:first]:
            self._emit_all(item.segments)
        if first < last:
            start, end = inside[0].start, inside[-1].end
            raw = self._document[start:end]
            parts = tuple(merged(item.part for item in inside))
            line = self.line(start)
            write = self._writer(raw)
            segment = Segment(start, line, raw, parts, write, self._ordered, syntax=self._syntax)
            self._emit_all([segment])
        for item in items[last:]:
            self._emit_all(item.segments)

    def collect(self) -> tuple[str | Code, ...]:
        """Returns the parts that were added, for a segment elsewhere, instead of ending one."""
        items = self._take_items()
        return tuple(merged(item.part for item in items))

    def emit(self, segments: Iterable[Segment]):
        """Emits segments that were made elsewhere, such as the attributes of a block's tag."""
        self._emit_all(segments)

    def take(self) -> list[Piece]:
        """Returns the strings and segments that are complete, each once."""
        output, self._output = self._output, []
        return output

    def finish(self) -> list[Piece]:
        """Ends the last segment; returns the rest of the document."""
        self.end_segment()
        rest = self._document[self._done :]
        self._done = len(self._document)
        return [*self.take(), rest]

    def _emit_all(self, segments):
        for segment in segments:
            self._output += [self._document[self._done : segment.place], segment]
            self._done = segment.place + len(segment.raw)


def collapsed(text: str) -> str:
    """Returns the text with a space for each run of white space, but for no-break spaces."""
    return _SPACES.sub(" ", text)


def paired(text: str) -> str:
    """Returns the text with a character for each pair of surrogates, and U+FFFD for a lone one."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def merged(parts: Iterable[str | Code]) -> Iterator[str | Code]:
    """Yields parts, neighbouring texts as one."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        if texts:
            yield "".join(texts)
        texts = []
        yield part
    if texts:
        yield "".join(texts)


def partners(parts: Sequence[Code | str]) -> tuple[dict[int, int], bool]:
    """Pairs opening and closing codes of one name.

    Returns:
        pairs: A dict from the place of each opening code to that of its closing one, and back.
        is_nested: Whether each code has its partner, and all pairs are well nested.
    """
    pairs: dict[int, int] = {}
    opened: list[tuple[int, Code]] = []
    is_nested = True
    for place, part in enumerate(parts):
        if isinstance(part, str) or part.role is Role.ALONE:
            continue
        if part.role is Role.OPEN:
            opened.append((place, part))
        elif opened and opened[-1][1].name == part.name:
            start, _ = opened.pop()
            pairs |= {start: place, place: start}
        else:
            is_nested = False
    return pairs, is_nested and not opened


MARK = "mark "
"""The beginning of the name of codes that are the ends of a range, such as a bookmark.

Ranges need not nest with other spans. Those that do not are two codes that stand alone."""


def crossing_marks(parts: Sequence[str | Code]) -> set[int]:
    """Returns the places of the ends of ranges that are not nested with the other spans."""
    opened: list[tuple[int, int]] = []  # The place of an open code, and the spans up to it.
    where: dict[str, list[int]] = {}  # The numbers of the open codes by name.
    alone: set[int] = set()

    def end(first):
        for place, _ in opened[first:]:
            where[parts[place].name].pop()
            alone.update([place] * _is_mark(parts[place]))
        del opened[first:]

    for place, part in enumerate(parts):
        if isinstance(part, str) or part.role is Role.ALONE:
            continue
        spans = opened[-1][1] if opened else 0
        numbers = where.setdefault(part.name, [])
        if part.role is Role.OPEN:
            numbers.append(len(opened))
            opened.append((place, spans + (not _is_mark(part))))
        elif not numbers or (_is_mark(part) and opened[numbers[-1]][1] < spans):
            alone.update([place] * _is_mark(part))
        else:
            end(numbers[-1] + 1)
            numbers.pop()
            opened.pop()
    end(0)
    return alone


def _is_mark(code):
    return code.name.startswith(MARK)


def bounds(parts: Sequence[str | Code]) -> tuple[int, int]:
    """Returns the first part of a segment, and the place after its last one.

    White space and codes at its ends are no part of it, so that a translation cannot move them.
    """
    pairs, _ = partners(parts)
    inside = [*itertools.accumulate((not _is_outside(part) for part in parts), initial=0)]
    first, last = 0, len(parts)

    def is_empty(start, end):
        """Returns whether a span has nothing inside."""
        return inside[end] == inside[start + 1]

    while first < last:
        if _is_outside(parts[first]) or (_is_end(parts[first]) and first not in pairs):
            first += 1
        elif _is_outside(parts[last - 1]) or (_is_end(parts[last - 1]) and last - 1 not in pairs):
            last -= 1
        elif pairs.get(first) == last - 1 and not _is_changed(parts[last - 1]):
            first, last = first + 1, last - 1
        elif (end := pairs.get(first, first)) > first and is_empty(first, end):
            first = end + 1
        elif (start := pairs.get(last - 1, last)) < last - 1 and is_empty(start, last - 1):
            last = start
        else:
            break
    return first, last


def _is_outside(part):
    """Returns whether a part is white space, or a code without text, between the others."""
    if isinstance(part, str):
        return not part.strip()
    return part.role is Role.ALONE and not part.shown.strip() and part.share is None


def _is_changed(part):
    return isinstance(part, Code) and part.is_changed


def _is_end(part):
    return isinstance(part, Code) and part.role is not Role.ALONE
