"""Takes the codes out of a segment, and puts them back into its translation.

Each code is in the result exactly once, and spans are well nested, whatever the translation is.
Only their places depend on it: a placeholder that the translation has stays there, and other codes
are where `WordPlaces` finds the words around them.
"""

import bisect
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kformer.documents.code_assembly import CLOSING, text_in_order, text_with_spans
from kformer.documents.nested_spans import resolve, spans_of_codes
from kformer.documents.segments import Code, Role, partners
from kformer.documents.word_places import (
    SentencePair,
    WordPlaces,
)

_SPACELESS = "\u0e00"  # The first character of scripts without spaces, from Thai on.
_MOST_SHOWN = 100  # Different placeholders that are looked for in a translation.
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
                is_closing = part.startswith(CLOSING) and not part[1:2].isalnum()  # Not ".csv".
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
        """Returns copies where each of several equal codes is in its own span, as in the source."""
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
            return text_in_order(self.codes, copies, places, left)
        spans = spans_of_codes(self.codes, pairs, copies, places, left)
        resolve(spans, left.text)
        return text_with_spans(spans, left.text)


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
