"""The translation with its codes, from its beginning to its end, with the spaces around them."""

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from kformer.documents.segments import Code, Role
from kformer.documents.word_places import at_space, divisions, gaps_in

CLOSING = tuple(".,;:!?…)]}»”")
"""Marks before which a text has no space."""


class _Assembly:
    """The translation with its codes, which are added from its beginning to its end.

    Attributes:
        parts: Texts and codes.
    """

    def __init__(self, text: str):
        self.parts: list[str | Code] = []
        self._text, self._done = text, 0
        self._needs_space = False  # Before the next text.
        self._has_space = True  # At the end of what a reader sees, or nothing is there yet.
        self._spans = 0  # Place in `parts` of the spans that begin at the end of it.
        self._takes_space = False  # Whether the next text loses a space, for a break before it.

    def add(self, place: int, code: Code, spaced: tuple[bool, bool] = (False, False)):
        """Adds a code at a place of the text, with the spaces that it had around it."""
        self._add_text(place)
        if code.is_break and not spaced[0]:
            self._takes_space = self._takes_space or not spaced[1]
            self._drop_space()
        if spaced[0] or (self._needs_space and code.role is Role.ALONE):
            self._add_space()
        elif self._needs_space and code.role is Role.OPEN and _begins_word(self._text, place):
            self._append(" ")  # Emphasis of Markdown does not begin with a space.
            self._needs_space = False
        self._append(code)
        self._needs_space = self._needs_space or spaced[1]

    def finish(self) -> list[str | Code]:
        """Adds the rest of the text; returns all parts."""
        self._add_text(len(self._text))
        return self.parts

    def _add_text(self, place):
        if self._done >= place:
            return
        text, self._done = self._text[self._done : place], place
        if self._takes_space:
            self._takes_space = False
            text = text[text[0].isspace() :]
            if not text:
                return
        if self._needs_space and _begins_word(text, 0):
            self._append(" ")
        self._needs_space = False
        self._append(text)

    def _append(self, part):
        self.parts.append(part)
        if not _is_markup(part):
            shown = part if isinstance(part, str) else part.shown
            self._has_space = shown[-1].isspace() and (isinstance(part, str) or part.is_break)
        if not _is_markup(part) or part.role is Role.CLOSE:
            self._spans = len(self.parts)

    def _drop_space(self):
        """Takes away a space at the end of the text, which a break stands for."""
        place = len(self.parts) - 1
        while place >= 0 and _is_markup(self.parts[place]):
            place -= 1
        text = self.parts[place] if place >= 0 else None
        if isinstance(text, str) and text != " " and text[-1].isspace():
            self.parts[place] = text[:-1]

    def _add_space(self):
        """Adds a space, unless there is one, before the spans that begin here."""
        self._needs_space = False
        if not self._has_space:
            self.parts.insert(self._spans, " ")
            self._has_space = True
            self._spans += 1


def _begins_word(text, place):
    """Returns whether a text goes on at a place with something that needs a space before it."""
    following = text[place : place + 1]
    return bool(following) and following not in CLOSING and not following.isspace()


def _is_markup(part):
    """Returns whether a part is markup, which a reader does not see."""
    return isinstance(part, Code) and not part.shown


def text_with_spans(roots, text):
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


def text_in_order(codes, copies, places, left):
    """Returns the translation with the codes in the order of the source, at rising places."""
    gaps = gaps_in(left.text)
    divided = _divided(codes, left.text, gaps)
    assembly, done = _Assembly(left.text), 0
    ranges = _ranges(codes, divided, len(left.text))
    for number, (taken, within) in enumerate(zip(codes, ranges, strict=True)):
        spaced = (False, False)
        if number in divided:
            place = divided[number]
        else:
            start = copies[number][0] if number in copies else places.point(taken.start)
            place = within.fitted(left.place(start), taken.start, gaps)
            if taken.code.is_break and taken.end > taken.start:
                place = at_space(left.text, place)
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

    def fitted(self, place: int, source_place: int, gaps: Sequence[int]) -> int:
        """Returns a place of the translation, moved to one of the gaps if it is outside."""
        if self.start <= place <= self.end:
            return place
        length = self.source_end - self.source_start
        share = (source_place - self.source_start) / length if length else 0
        wanted = self.start + share * (self.end - self.start)
        first, last = bisect.bisect_right(gaps, self.start), bisect.bisect_left(gaps, self.end)
        near = bisect.bisect_left(gaps, wanted, first, max(first, last))
        among = [self.start, *gaps[max(first, near - 1) : min(near + 1, last)], self.end]
        return min(among, key=lambda gap: abs(gap - wanted))


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


def _divided(codes, text, gaps):
    """Returns the places of the codes that divide a translation, and of those beside them."""
    dividing = [number for number, taken in enumerate(codes) if taken.code.share is not None]
    places = divisions(text, gaps, [codes[number].code.share for number in dividing])
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
