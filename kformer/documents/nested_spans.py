"""Spans in a translation: those of the source, nested as there, and none without its text.

A span's place is where the words of it are. Places may overlap, and a span of a few words may have
none in the translation, so neighbours are moved apart, and a span without text gets a word.
"""

import bisect
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from kformer.documents.segments import Code, Role
from kformer.documents.word_places import at_space, word_spans

_MOST_STEPS = 20  # Words on each side of a place that a span without text may get.


@dataclasses.dataclass(slots=True)
class Span:
    """A code, or two ends of a span with what is between them, and its place in a translation.

    Attributes:
        opening, closing: The codes; `closing` is None for a code that stands alone.
        start, end: Its place in the translation without the shown texts.
        children: The spans within it.
        spaced: The `_Taken.spaced` of a code that the translation does not have.
        has_text: Whether the source has text in it.
    """

    opening: Code
    closing: Code | None
    start: int
    end: int
    children: list["Span"]
    spaced: tuple[bool, bool] = (False, False)
    has_text: bool = False


def spans_of_codes(codes, pairs, copies, places, left):
    """Returns the spans of codes, nested as in the source, where each should be by itself."""
    roots: list[Span] = []
    above, opened = [roots], []
    for number, taken in enumerate(codes):
        if taken.code.role is Role.CLOSE:
            above.pop()
            _reach(opened.pop())
            continue
        closing, spaced, has_text = None, (False, False), False
        if taken.code.role is Role.OPEN:
            behind = codes[pairs[number]]
            closing, has_text = behind.code, places.has_text(taken.end, behind.start)
            if pairs[number] == number + 1 and taken.end == behind.start:  # Like one code.
                spaced = taken.spaced[0], behind.spaced[1]
            start, end = places.span(taken.start, behind.start)
        elif number in copies:
            start = end = copies[number][0]
        else:
            start = end = places.point(taken.start)
            spaced = taken.spaced
        place, stop = left.place(start), left.place(end)
        if taken.code.is_break and taken.end > taken.start:
            place = stop = at_space(left.text, place)
        span = Span(taken.code, closing, place, stop, [], spaced, has_text)
        above[-1].append(span)
        if closing:
            above.append(span.children)
            opened.append(span)
    return roots


def _reach(span):
    """Has a span reach the spans in it that would have no text within it."""
    for child in span.children:
        is_apart = child.end <= span.start or child.start >= span.end
        if child.has_text and child.start < child.end and is_apart:
            span.start, span.end = min(span.start, child.start), max(span.end, child.end)


def resolve(roots: list[Span], text: str):
    """Moves spans so that none overlaps a neighbour or an end of the span around it.

    White space at the ends of a span is moved out of it, up to what is in the span. A span that
    would lose its text, such as that of a link, gets a word beside its place.
    """
    words = word_spans(text)
    waiting = [(roots, 0, len(text))]
    while waiting:
        spans, first, last = waiting.pop()
        for span in spans:
            span.start = min(max(span.start, first), last)
            span.end = min(max(span.end, span.start), last)
        _sort(spans)
        done = first
        for span, following in itertools.zip_longest(spans, spans[1:]):
            span.start = max(span.start, done)
            span.end = max(span.end, span.start)
            if following and following.start > span.start:
                span.end = min(span.end, following.start)
            done = span.end
            if span.closing:
                _strip(span, text)
        if any(map(_is_bare, spans)):
            _give_words(spans, _Words(words, first, last))
        waiting += [(span.children, span.start, span.end) for span in spans if span.children]


def _sort(spans):
    """Sorts spans by their starts, those that begin together by their ends.

    A span with another one inside of it begins behind that one if it keeps more text so.
    """
    spans.sort(key=lambda span: span.start)
    for start, group in itertools.groupby([*enumerate(spans)], lambda item: item[1].start):
        places = [place for place, span in group if span.closing and span.end > start]
        together = sorted((spans[place] for place in places), key=lambda span: span.end)
        for place, span in zip(places, together, strict=True):
            spans[place] = span
    for place in range(len(spans) - 1):
        for number in range(place, min(place + _MOST_STEPS, len(spans) - 1)):
            span, following = spans[number : number + 2]
            if span.end - following.end <= following.start - span.start:
                break
            spans[number : number + 2] = following, span
            span.start = max(span.start, following.end)


def _strip(span, text):
    """Moves white space at the ends of a span out of it, up to codes in the span."""
    alone = [child.start for child in span.children if child.closing is None]
    first, last = min(alone, default=span.end), max(alone, default=span.start)
    while span.start < min(first, span.end) and text[span.start].isspace():
        span.start += 1
    while max(last, span.start) < span.end and text[span.end - 1].isspace():
        span.end -= 1


def _is_bare(span):
    """Returns whether the translation has no text for a span that had some."""
    return (
        span.has_text
        and span.start == span.end
        and not any(child.opening.shown.strip() or child.has_text for child in span.children)
    )


class _Words:
    """The words of a text between two places, which are given to spans."""

    def __init__(self, words: Sequence[tuple[int, int]], first: int, last: int):
        begin = bisect.bisect_left(words, (first, first))
        stop = bisect.bisect_right(words, (last, last))
        self.spans = [word for word in words[begin:stop] if word[1] <= last]

    def near(self, place: int) -> Iterator[tuple[int, int]]:
        """Yields some words, those nearest to a place first."""
        ahead = bisect.bisect_left(self.spans, (place, place))
        for step in range(_MOST_STEPS):
            for number in (ahead + step, ahead - 1 - step):
                if 0 <= number < len(self.spans):
                    yield self.spans[number]


def _give_words(spans, words):
    """Gives each bare span a word that no other has, or the last one of its neighbour."""
    held = sorted((s for s in spans if s.closing and s.end > s.start), key=lambda s: s.start)
    starts = [span.start for span in held]

    def holder(start, end):
        number = bisect.bisect_left(starts, end) - 1
        return held[number] if number >= 0 and held[number].end > start else None

    for span in filter(_is_bare, spans):
        near = [*words.near(span.start)]
        word = next((word for word in near if not holder(*word)), None) or _taken_from_neighbour(
            near, holder
        )
        if word:
            span.start, span.end = word
            starts = [each.start for each in held]
            number = bisect.bisect_left(starts, span.start)
            starts.insert(number, span.start)
            held.insert(number, span)
    spans.sort(key=lambda span: (span.start, span.end))


def _taken_from_neighbour(near, holder):
    """Returns a word that a span with several gives away, its last or first one, or None."""
    for start, end in near:
        neighbour = holder(start, end)
        if neighbour.start < start and neighbour.end <= end:
            neighbour.end = start
            return start, end
        if start <= neighbour.start and end < neighbour.end:
            neighbour.start = end
            return start, end
    return None
