"""Takes the codes out of a segment, and puts them back into its translation.

Each code is in the result exactly once, and spans are well nested, whatever the translation is.
Only their places depend on it: a placeholder that the translation has stays there, and other codes
are where `WordPlaces` finds the words around them.
"""

import bisect
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kformer.documents.segments import Code, Role, partners
from kformer.documents.word_places import (
    SentencePair,
    WordPlaces,
    divisions,
    gaps_in,
    word_spans,
)

_CLOSING = tuple(".,;:!?…)]}»”")
_SPACELESS = "\u0e00"  # The first character of scripts without spaces, from Thai on.
_MOST_SHOWN = 100  # Different placeholders that are looked for in a translation.
_MOST_STEPS = 20  # Words on each side of a place that a span without text may get.
_MOST_LETTERS = 40  # Behind a place within a word, that are looked at for a space.
_MOST_PASSES = 8  # Over a translation in which removed placeholders leave others.


class _Taken(NamedTuple):
    """A code, and its place in the text that was taken out of the segment.

    Attributes:
        code: `Code`.
        number: Its number among the codes.
        start, end: The place of its shown text.
        shown: This text: its own, or a name that stands for it.
        spaced: Whether there is white space, or nothing, before it and behind it.
    """

    code: Code
    number: int
    start: int
    end: int
    shown: str
    spaced: tuple[bool, bool]

    @property
    def is_copy(self) -> bool:
        """Whether the translation should have the shown text as it is."""
        return self.end > self.start and self.code.share is None and not self.code.is_break


@dataclasses.dataclass(slots=True)
class _Span:
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
    children: list["_Span"]
    spaced: tuple[bool, bool] = (False, False)
    has_text: bool = False


class TakenText:
    """The text of a segment without its codes.

    Args:
        parts: Texts and codes of the segment.
        names: Names that stand for the codes with a shown text, in their order; None for the shown
            texts themselves. A code for which there is no name is not shown.
        bare: Numbers of the codes that are not shown; None for all.
        with_amounts: Whether amounts are text, and no codes.

    Attributes:
        text: The text, which a translator reads.
        codes: The codes, as `_Taken`.
        amounts: The amounts in the text.
        has_shown: Whether the text has the shown text, or the name, of a code.
    """

    def __init__(
        self,
        parts: Sequence[str | Code],
        names: Sequence[str] | None = None,
        bare: frozenset[int] | None = frozenset(),
        with_amounts: bool = True,
    ):
        self.parts = parts
        self._names, self._bare, self._amounts = names, bare, with_amounts
        self.amounts = [
            part.shown
            for part in parts
            if with_amounts and isinstance(part, Code) and part.is_amount
        ]
        self.codes: list[_Taken] = []
        self.text = self._take_out()
        self.has_shown = any(taken.is_copy for taken in self.codes)
        self._choices = names if names is None else tuple(names), bare, with_amounts
        self._variants: dict[tuple, TakenText] = {}
        self._copies: dict[str, list[tuple[int, int]]] | None = None  # Of shown texts, in `text`.

    def named(self, names: Sequence[str]) -> "TakenText":
        """Returns the text with names in place of the shown texts of codes."""
        return self._variant(tuple(names), self._bare, self._amounts)

    def without(self, numbers: Iterable[int] | None = None) -> "TakenText":
        """Returns the text without some of its shown codes; None for all of them."""
        bare = None if numbers is None or self._bare is None else self._bare.union(numbers)
        return self._variant(self._names, bare, self._amounts)

    def without_amounts(self) -> "TakenText":
        """Returns the text without its amounts, which are codes."""
        return self._variant(self._names, self._bare, False)

    def _variant(self, *choices):
        """Returns the text with other choices, each once."""
        if choices == self._choices:
            return self
        if choices not in self._variants:
            self._variants[choices] = TakenText(self.parts, *choices)
        return self._variants[choices]

    def written(self, translation: str) -> str:
        """Returns a translation of the text with the shown texts of codes for their names."""
        if self._names is None:
            return translation
        pieces, written = [], 0  # So many characters of the translation.
        for number, (start, end) in sorted(
            self.copies(translation).items(), key=lambda item: item[1]
        ):
            pieces += [translation[written:start], self.codes[number].code.shown]
            written = end
        return "".join([*pieces, translation[written:]])

    def without_placeholders(self, translation: str) -> str:
        """Returns a translation without placeholders that would be there twice with the codes."""
        if self._bare == frozenset():
            return translation
        shown = {
            taken.code.shown: taken.code
            for taken in self.codes
            if taken.code.is_text and not taken.is_copy and not taken.code.is_break
        }
        for text in itertools.islice(filter(None, shown), _MOST_SHOWN):
            for _ in range(_MOST_PASSES):
                spans = _occurrences(translation, text)
                if not spans:
                    break
                translation = _Left(translation, spans).text
        return translation

    def _take_out(self):
        pieces, length, last, is_gap = [], 0, "", False
        spaced, names = self._spaced(), None if self._names is None else iter(self._names)
        for part, beside in zip(self.parts, spaced, strict=True):
            if isinstance(part, str):
                if is_gap and (not last or last.isspace()) and part[0].isspace():
                    part = part[1:]
                is_closing = part.startswith(_CLOSING) and not part[1:2].isalnum()  # Not ".csv".
                if is_gap and is_closing and last == " ":
                    length = self._drop_last_space(pieces, length)
                is_gap = is_gap and not part
                text = part
            elif part.is_amount and self._amounts:
                text, is_gap = part.shown, False
            else:
                number, text = len(self.codes), self._shown_of(part, len(self.codes), names)
                if part.shown and part.is_break:
                    text = " " * (length > 0 and not last.isspace() and not any(beside))
                self.codes.append(_Taken(part, number, length, length + len(text), text, beside))
                is_gap = is_gap or (part.role is Role.ALONE and not text.strip())
            if text:
                pieces.append(text)
                length, last = length + len(text), text[-1]
        if is_gap and last == " ":
            self._drop_last_space(pieces, length)
        return "".join(pieces)

    def _shown_of(self, code, number, names):
        """Returns the text that stands for a code, and takes its name."""
        if code.share is not None or not code.shown or code.is_amount or code.is_break:
            return "" if code.is_amount else code.shown
        name = code.shown if names is None else next(names, "")
        return "" if self._bare is None or number in self._bare else name

    def _drop_last_space(self, pieces, length):
        """Takes the space at the end of the text away; returns the new length."""
        pieces[-1] = pieces[-1][:-1]
        for number in range(len(self.codes) - 1, -1, -1):
            taken = self.codes[number]
            if taken.end < length:
                break
            start, end = min(taken.start, length - 1), min(taken.end, length - 1)
            self.codes[number] = taken._replace(start=start, end=end)
        return length - 1

    def _spaced(self):
        """Returns for each part whether white space or an end of the segment is on its sides."""
        before = _ends_in_space(self.parts, -1)
        behind = _ends_in_space(reversed(self.parts), 0)
        return [*zip(before, reversed(behind), strict=True)]

    def copies(self, translation: str) -> dict[int, tuple[int, int]]:
        """Returns where the translation has the text of each code, by the code's number.

        Of a text that it has more or less often than the source, no place is known.
        """
        by_shown: dict[str, list[int]] = {}
        for taken in self.codes:
            if taken.is_copy:
                by_shown.setdefault(taken.shown, []).append(taken.number)
        if len(by_shown) > _MOST_SHOWN:
            return {}
        places: dict[int, tuple[int, int]] = {}
        sides = {shown: self._word_sides(shown, numbers) for shown, numbers in by_shown.items()}
        if self._copies is None:
            self._copies = _all_occurrences(self.text, sides)
        all_sources = self._copies
        all_targets = _all_occurrences(translation, sides)
        for shown, numbers in by_shown.items():
            sources, targets = all_sources[shown], all_targets[shown]
            if len(sources) != len(targets):
                continue
            starts = [start for start, _ in sources]
            for number in numbers:
                start = self.codes[number].start
                index = bisect.bisect_left(starts, start)
                if starts[index : index + 1] == [start]:
                    places[number] = targets[index]
        return places

    def _word_sides(self, shown, numbers):
        """Returns whether a shown text is a word of its own at its beginning and at its end."""
        if self._names is not None:
            return False, False
        taken = [self.codes[number] for number in numbers]
        begins = not any(_is_letter(self.text, each.start - 1) for each in taken)
        ends = not any(_is_letter(self.text, each.end) for each in taken)
        return begins and _is_letter(shown, 0), ends and _is_letter(shown, len(shown) - 1)

    def _within_spans(self, copies, places):
        """Returns copies in which those of equal codes are in the spans that the codes are in."""
        equal: dict[str, list[int]] = {}
        for number in copies:
            equal.setdefault(self.codes[number].shown, []).append(number)
        pairs, _ = partners([taken.code for taken in self.codes])
        around = _spans_around(self.codes, pairs)
        for numbers in equal.values():
            if len(numbers) > _MOST_SHOWN or len({around[number] for number in numbers}) < 2:
                continue
            free = sorted(copies[number] for number in numbers)
            for number in sorted(numbers, key=lambda number: around[number] is None):
                start, end = 0, 0
                if (opening := around[number]) is not None:
                    inside = self.codes[opening].start, self.codes[pairs[opening]].start
                    start, end = places.span(*inside)
                copy = next((copy for copy in free if start <= copy[0] < end), free[0])
                free.remove(copy)
                copies[number] = copy
        return copies

    def lost(self, translation: str) -> list[int]:
        """Returns the numbers of the codes whose text the translation does not have."""
        places = self.copies(translation)
        return [
            taken.number for taken in self.codes if taken.is_copy and taken.number not in places
        ]

    def put_back(
        self,
        translation: str,
        sentences: Sequence[SentencePair] = (),
        ordered: bool = False,
    ) -> list[str | Code]:
        """Returns the translation with all codes.

        Args:
            ordered: Whether the codes must keep their order.
        """
        asked = {place for taken in self.codes for place in (taken.start, taken.end)}
        places = WordPlaces(self.text, translation, sentences, asked)
        copies = self._within_spans(self.copies(translation), places)
        left = _Left(translation, copies.values())
        pairs, is_nested = partners([taken.code for taken in self.codes])
        if ordered or not is_nested:
            return _in_order(self.codes, copies, places, left)
        spans = _spans(self.codes, pairs, copies, places, left)
        _resolve(spans, left.text)
        return _written(spans, left.text)


def _ends_in_space(parts, end):
    """Returns for each part whether the last text before it, but for breaks, ends in a space."""
    is_spaced, result = False, []
    for part in parts:
        result.append(is_spaced)
        if isinstance(part, str):
            is_spaced = part[end].isspace() if part else is_spaced
        elif part.shown and not part.is_break:
            is_spaced = part.shown[end].isspace()
    return result


def _spans_around(codes, pairs):
    """Returns for each code the number of the code that opens the span around it, or None."""
    above: list[int] = []
    around = []
    for number, taken in enumerate(codes):
        if number in pairs and taken.code.role is Role.CLOSE:
            above.pop()
        around.append(above[-1] if above else None)
        if number in pairs and taken.code.role is Role.OPEN:
            above.append(number)
    return around


class _Left:
    """The characters of a translation that are no copies of shown texts.

    Attributes:
        text: These characters.
    """

    def __init__(self, translation: str, copies):
        copies = sorted(copies)
        self._starts = [start for start, _ in copies]
        self._ends = [end for _, end in copies]
        pieces, done = [], 0
        self._left: list[int] = []  # Characters before each copy that are none of one.
        for start, end in copies:
            pieces.append(translation[done:start])
            self._left.append(start - done + (self._left[-1] if self._left else 0))
            done = end
        self.text = "".join([*pieces, translation[done:]])

    def place(self, place: int) -> int:
        """Returns the place in `text` for a place in the translation."""
        copy = bisect.bisect_left(self._starts, place) - 1
        if copy < 0:
            return place
        return self._left[copy] + max(place - self._ends[copy], 0)


def _is_letter(text, place):
    """Returns whether a text has a letter or digit at a place, of a script with spaces."""
    return 0 <= place < len(text) and text[place].isalnum() and text[place] < _SPACELESS


def _occurrences(text, shown, sides=(False, False)):
    """Returns the start and end of each copy of a shown text, or of a name, in a text.

    At a side where it is a word, a copy is no part of a longer word: "n" is none of "continue".
    """
    spans, place, length = [], 0, len(shown)
    digits = shown[:1].isdigit(), shown[-1:].isdigit()
    while (place := text.find(shown, place)) >= 0:
        end = place + length
        beside = place - 1, end
        is_part = any(
            (is_word and _is_letter(text, at))  # "X1" is no part of "X12".
            or (is_digit and 0 <= at < len(text) and text[at].isdigit())
            for is_word, is_digit, at in zip(sides, digits, beside, strict=True)
        )
        if not is_part:
            spans.append((place, end))
        place = end
    return spans


def _all_occurrences(text, sides):
    """Returns the copies of each shown text; one that begins in that of another is none.

    Args:
        sides: Dict from each shown text to the sides where it is a word.
    """
    if len(sides) == 1:
        return {shown: _occurrences(text, shown, ends) for shown, ends in sides.items()}
    spans = sorted(
        (start, -end, shown)
        for shown, ends in sides.items()
        for start, end in _occurrences(text, shown, ends)
    )
    copies: dict[str, list[tuple[int, int]]] = {shown: [] for shown in sides}
    done = 0
    for start, end, shown in spans:
        if start >= done:
            copies[shown].append((start, -end))
            done = -end
    return copies


def _spans(codes, pairs, copies, places, left):
    """Returns the spans of codes, nested as in the source, where each should be by itself."""
    roots: list[_Span] = []
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
            place = stop = _at_space(left.text, place)
        span = _Span(taken.code, closing, place, stop, [], spaced, has_text)
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


def _at_space(text, place):
    """Returns a place of a text, or that of the space nearest behind it, or else before it."""
    if text[:place] and text[place - 1].isspace():
        return place
    behind = range(place, min(len(text), place + _MOST_LETTERS))
    before = range(min(place, len(text)) - 1, max(0, place - _MOST_LETTERS), -1)
    return next((gap for gap in (*behind, *before) if text[gap].isspace()), place)


def _resolve(roots: list[_Span], text: str):
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
    return bool(following) and following not in _CLOSING and not following.isspace()


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
                place = _at_space(left.text, place)
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
