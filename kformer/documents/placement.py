"""Takes the codes out of a segment, and puts them back into its translation.

Each code is in the result exactly once, and spans are well nested, whatever the translation is.
Only their places depend on it: a placeholder that the translation has stays there, and other codes
are where `WordPlaces` finds the words around them.
"""

import dataclasses
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from kformer.documents.segments import Code, Role, partners
from kformer.documents.word_places import SentencePair, WordPlaces, divisions

_CLOSING = tuple(".,;:!?…)]}»”")


class _Taken(NamedTuple):
    """A code, and its place in the text that was taken out of the segment.

    Attributes:
        code: `Code`.
        start, end: The place of its shown text.
        spaced: Whether there is white space, or nothing, before it and behind it.
    """

    code: Code
    start: int
    end: int
    spaced: tuple[bool, bool]

    @property
    def is_copy(self) -> bool:
        """Whether the translation should have the shown text as it is."""
        return self.end > self.start and self.code.share is None


@dataclasses.dataclass(slots=True)
class _Span:
    """A code, or two ends of a span with what is between them, and its place in a translation.

    Attributes:
        opening, closing: The codes; `closing` is None for a code that stands alone.
        start, end: Its place in the translation without the shown texts.
        children: The spans within it.
        spaced: The `_Taken.spaced` of a code that the translation does not have.
    """

    opening: Code
    closing: Code | None
    start: int
    end: int
    children: list["_Span"]
    spaced: tuple[bool, bool] = (False, False)


class TakenText:
    """The text of a segment without its codes.

    Args:
        parts: Texts and codes of the segment.
        with_shown: Whether the text has the shown texts of the codes, which a translator may copy.
    """

    def __init__(self, parts: Sequence[str | Code], with_shown: bool = True):
        self.parts = parts
        self._shown = with_shown
        self.codes: list[_Taken] = []
        self.text = self._take_out()

    @property
    def has_shown(self) -> bool:
        """Whether the text has the shown text of a code."""
        return any(taken.is_copy for taken in self.codes)

    @property
    def has_symbols(self) -> bool:
        """Whether one of them is a placeholder whose characters mean nothing to a translator."""
        return any(taken.is_copy and taken.code.copies is None for taken in self.codes)

    def without_shown(self) -> "TakenText":
        """Returns the text without the shown texts of codes."""
        return TakenText(self.parts, with_shown=False)

    def without_placeholders(self, translation: str) -> str:
        """Returns a translation without placeholders that would be there twice with the codes."""
        if self._shown:
            return translation
        for taken in self.codes:
            if taken.code.is_text and taken.code.shown:
                while copies := _occurrences(translation, taken.code):
                    start, end = copies[0]
                    translation = translation[:start] + translation[end:]
        return translation

    def _take_out(self):
        text, is_gap = "", False
        for place, part in enumerate(self.parts):
            if isinstance(part, str):
                if is_gap and (not text or text[-1].isspace()) and part[0].isspace():
                    part = part[1:]
                if is_gap and part.startswith(_CLOSING) and text.endswith(" "):
                    text = text[:-1]
                    self._end_codes_at(len(text))
                text, is_gap = text + part, is_gap and not part
                continue
            shown = part.shown if self._shown or part.share is not None else ""
            spaced = self._is_spaced(place, -1), self._is_spaced(place, 1)
            self.codes.append(_Taken(part, len(text), len(text) + len(shown), spaced))
            text += shown
            is_gap = is_gap or (part.role is Role.ALONE and not shown)
        if is_gap and text.endswith(" "):
            text = text[:-1]
            self._end_codes_at(len(text))
        return text

    def _end_codes_at(self, most):
        self.codes = [
            taken._replace(start=min(taken.start, most), end=min(taken.end, most))
            for taken in self.codes
        ]

    def _is_spaced(self, place, step):
        """Returns whether white space or an end of the segment is beside a code."""
        place += step
        while 0 <= place < len(self.parts):
            part = self.parts[place]
            text = part if isinstance(part, str) else part.shown
            if text:
                return text[-1 if step < 0 else 0].isspace()
            place += step
        return False

    def copies(self, translation: str) -> dict[int, tuple[int, int]] | None:
        """Returns where the translation has the shown text of each code, by the code's place.

        None if it has one of them more or less often than the text, or two overlap.
        """
        places: dict[int, tuple[int, int]] = {}
        for code in {
            taken.code.shown: taken.code for taken in self.codes if taken.is_copy
        }.values():
            sources, targets = _occurrences(self.text, code), _occurrences(translation, code)
            if len(sources) != len(targets):
                return None
            starts = [start for start, _ in sources]
            for number, taken in enumerate(self.codes):
                if taken.code.shown == code.shown and taken.is_copy:
                    if taken.start not in starts:
                        return None
                    places[number] = targets[starts.index(taken.start)]
        ends = sorted(places.values())
        overlap = any(after[0] < before[1] for before, after in itertools.pairwise(ends))
        return None if overlap else places

    def put_back(
        self,
        translation: str,
        sentences: Sequence[SentencePair] = (),
        ordered: bool = False,
    ) -> list[str | Code]:
        """Returns the translation with all codes.

        Args:
            translation: Any text.
            sentences: The sentences of the text with their translations.
            ordered: Whether the codes must keep their order.
        """
        copies = self.copies(translation) or {}
        places = WordPlaces(self.text, translation, sentences)
        left = _Left(translation, copies.values())
        codes = [
            taken._replace(code=_copied(taken.code, translation[slice(*copies[number])]))
            if number in copies
            else taken
            for number, taken in enumerate(self.codes)
        ]
        pairs, is_nested = partners([taken.code for taken in codes])
        if ordered or not is_nested:
            return _in_order(codes, copies, places, left)
        spans = _spans(codes, pairs, copies, places, left)
        _resolve(spans, len(left.text))
        return _written(spans, left.text)


class _Left:
    """The characters of a translation that are no copies of shown texts.

    Attributes:
        text: These characters.
    """

    def __init__(self, translation: str, copies):
        self._copies = sorted(copies)
        pieces, done = [], 0
        for start, end in self._copies:
            pieces.append(translation[done:start])
            done = end
        self.text = "".join([*pieces, translation[done:]])

    def place(self, place: int) -> int:
        """Returns the place in `text` for a place in the translation."""
        return place - sum(min(end, place) - start for start, end in self._copies if start < place)


def _occurrences(text, code):
    """Returns the start and end of each copy of a code in a text."""
    pattern = code.copies or re.compile(re.escape(code.shown))
    return [match.span() for match in pattern.finditer(text)]


def _copied(code, text):
    """Returns a code as a translation has it: with its own marks in a number."""
    return dataclasses.replace(code, pieces=(text,)) if code.copies else code


def _spans(codes, pairs, copies, places, left):
    """Returns the spans of codes, nested as in the source, where each should be by itself."""
    roots: list[_Span] = []
    above = [roots]
    for number, taken in enumerate(codes):
        if taken.code.role is Role.CLOSE:
            above.pop()
            continue
        closing, spaced = None, (False, False)
        if taken.code.role is Role.OPEN:
            closing = codes[pairs[number]].code
            start, end = places.span(taken.start, codes[pairs[number]].start)
        elif number in copies:
            start = end = copies[number][0]
        else:
            start = end = places.point(taken.start)
            spaced = taken.spaced
        span = _Span(taken.code, closing, left.place(start), left.place(end), [], spaced)
        above[-1].append(span)
        if closing:
            above.append(span.children)
    return roots


def _resolve(roots: list[_Span], length: int):
    """Moves spans so that none overlaps a neighbour or an end of the span around it."""
    waiting = [(roots, 0, length)]
    while waiting:
        spans, first, last = waiting.pop()
        for span in spans:
            span.start = min(max(span.start, first), last)
            span.end = min(max(span.end, span.start), last)
        spans.sort(key=lambda span: span.start)
        done = first
        for span, following in itertools.zip_longest(spans, spans[1:]):
            span.start = max(span.start, done)
            span.end = max(span.end, span.start)
            if following and following.start > span.start:
                span.end = min(span.end, following.start)
            done = span.end
            waiting.append((span.children, span.start, span.end))


class _Assembly:
    """The translation with its codes, which are added from its beginning to its end.

    Attributes:
        parts: Texts and codes.
    """

    def __init__(self, text: str):
        self.parts: list[str | Code] = []
        self._text, self._done = text, 0
        self._needs_space = False  # Before the next text.

    def add(self, place: int, code: Code, spaced: tuple[bool, bool] = (False, False)):
        """Adds a code at a place of the text, with the spaces that it had around it."""
        self._add_text(place)
        if spaced[0] or (self._needs_space and code.role is Role.ALONE):
            self._add_space()
        self.parts.append(code)
        self._needs_space = self._needs_space or spaced[1]

    def finish(self) -> list[str | Code]:
        """Adds the rest of the text; returns all parts."""
        self._add_text(len(self._text))
        return self.parts

    def _add_text(self, place):
        if self._done >= place:
            return
        text, self._done = self._text[self._done : place], place
        if self._needs_space and text[0] not in _CLOSING and not text[0].isspace():
            self.parts.append(" ")
        self._needs_space = False
        self.parts.append(text)

    def _add_space(self):
        """Adds a space, unless there is one, before the spans that begin here."""
        self._needs_space = False
        last = next((part for part in reversed(self.parts) if not _is_markup(part)), None)
        if last is None or (isinstance(last, str) and last[-1].isspace()):
            return
        place = len(self.parts)
        while _is_markup(part := self.parts[place - 1]) and part.role is not Role.CLOSE:
            place -= 1
        self.parts.insert(place, " ")


def _is_markup(part):
    """Returns whether a part is a code that is no text for a reader."""
    return isinstance(part, Code) and not part.shown


def _written(roots, text):
    """Returns the text with the codes of resolved spans."""
    assembly = _Assembly(text)
    waiting: list = [*reversed(roots)]
    while waiting:
        span = waiting.pop()
        if isinstance(span, tuple):  # The end of a span.
            assembly.add(*span)
            continue
        assembly.add(span.start, span.opening, span.spaced)
        if span.closing:
            waiting.append((span.end, span.closing))
        waiting += reversed(span.children)
    return assembly.finish()


def _in_order(codes, copies, places, left):
    """Returns the translation with the codes in the order of the source, at rising places."""
    divided = _divided(codes, left.text)
    assembly, done = _Assembly(left.text), 0
    ranges = _ranges(codes, divided, len(left.text))
    for number, (taken, within) in enumerate(zip(codes, ranges, strict=True)):
        spaced = (False, False)
        if number in divided:
            place = divided[number]
        else:
            start = copies[number][0] if number in copies else places.point(taken.start)
            place = within.fitted(left.place(start), taken.start, left.text)
            if number not in copies and taken.code.is_text:
                spaced = taken.spaced
        done = max(place, done)
        assembly.add(done, taken.code, spaced)
    return assembly.finish()


class _Range(NamedTuple):
    """The part of a text between two divisions, and the same part of its translation."""

    source_start: int
    source_end: int
    start: int
    end: int

    def fitted(self, place: int, source_place: int, text: str) -> int:
        """Returns a place of the translation, moved between two words if it is outside."""
        if self.start <= place <= self.end:
            return place
        length = self.source_end - self.source_start
        share = (source_place - self.source_start) / length if length else 0
        wanted = self.start + share * (self.end - self.start)
        gaps = (i for i in range(self.start + 1, self.end) if text[i].isspace())
        return min([self.start, *gaps, self.end], key=lambda gap: abs(gap - wanted))


def _ranges(codes, divided, length):
    """Yields the `_Range` of each code."""
    bounds = [(0, 0)]
    bounds += [
        (taken.end, divided[number])
        for number, taken in enumerate(codes)
        if taken.code.share is not None
    ]
    bounds.append((max((taken.end for taken in codes), default=0), length))
    division = 0
    for taken in codes:
        division += taken.code.share is not None
        (source_start, start), (source_end, end) = bounds[division : division + 2]
        yield _Range(source_start, source_end, start, max(start, end))


def _divided(codes, text):
    """Returns the places of the codes that divide a translation, and of those beside them."""
    dividing = [number for number, taken in enumerate(codes) if taken.code.share is not None]
    places = divisions(text, [codes[number].code.share for number in dividing])
    divided = dict(zip(dividing, places, strict=True))
    for number, place in [*divided.items()]:
        behind = place + (text[place : place + 1].isspace())
        for step, beside in ((-1, place), (1, behind)):
            neighbour = number + step
            while 0 <= neighbour < len(codes) and neighbour not in divided:
                first, last = sorted((neighbour, neighbour - step))
                if codes[first].end != codes[last].start or codes[neighbour].is_copy:
                    break
                divided[neighbour] = beside
                neighbour += step
    return divided
