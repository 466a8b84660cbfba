"""Places in a translation for places in its source, by the alignment of their words.

The texts are compared sentence by sentence, so that a place in one sentence is never in another.
"""

import bisect
import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kformer.documents.pair_alignment import WordPair, align_pairs

_HAN_AND_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_HAN_AND_KANA}]|[^\W_{_HAN_AND_KANA}]+(?:['’.\-][^\W_{_HAN_AND_KANA}]+)*")
_PIECE = re.compile(r"[^\W_]+")  # Of a word such as "e-mail".
_BETWEEN_SPACES = re.compile(r"\S+")


class SentencePair(NamedTuple):
    """A sentence and its translation.

    Attributes:
        source, target: Texts.
        weights: float array (words of the target, words of the source), how strongly they belong
            together; None if the pair was not aligned with others.
    """

    source: str
    target: str
    weights: np.ndarray | None = None


class _Words(NamedTuple):
    """The words of a sentence and of its translation, as pairs of their start and end."""

    source: list[tuple[int, int]]
    target: list[tuple[int, int]]
    weights: np.ndarray | None


class WordPlaces:
    """Finds places in a translation.

    Args:
        source: The source text.
        target: Its translation.
        sentences: The sentences of `source` in their order, as `SentencePair`.
        asked: The places that will be asked for, which save the words of other sentences; None for
            any place.
    """

    def __init__(
        self,
        source: str,
        target: str,
        sentences: Sequence[SentencePair],
        asked: Iterable[int] | None = None,
    ):
        self._source, self._target = source, target
        self._sentences = _located(source, target, sentences, asked) or [
            _words(SentencePair(source, target), 0, 0)
        ]
        self._words = [
            (start, end, number, index)
            for number, words in enumerate(self._sentences)
            for index, (start, end) in enumerate(words.source)
        ]
        self._starts = [word[0] for word in self._words]
        self._ends = [word[1] for word in self._words]
        # Places of the first words of sentences among all words, and of the end of all.
        lengths = itertools.accumulate((len(words.source) for words in self._sentences), initial=0)
        self._firsts = [*lengths]
        self._copies: dict[tuple[int, str], tuple[int, int] | None] = {}
        self._by_text: dict[str, tuple[list[int], list[int]]] | None = None
        self._targets = functools.cache(self._target_of)
        bare = source.strip()
        self._first = source.index(bare) if bare else len(source)
        self._behind = self._first + len(bare)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the place in the translation of the source's characters from start to end."""
        first = bisect.bisect_right(self._ends, start)
        last = bisect.bisect_left(self._starts, end)
        if (copied := self._copied(start, end)) is not None:
            return copied
        if first >= last:
            point = self.point(start)
            return point, point
        if last - first == 1 and (within := self._in_word(first, start, end)):
            return within
        begin, stop = len(self._target), 0
        for number in range(self._words[first][2], self._words[last - 1][2] + 1):
            base, behind = self._firsts[number : number + 2]
            indices = max(first, base) - base, min(last, behind) - 1 - base
            target_begin, target_stop = self._targets(number, *indices)
            begin, stop = min(begin, target_begin), max(stop, target_stop)
        return self._with_marks(start, end, first, last, begin, stop)

    def _with_marks(self, start, end, first, last, begin, stop):
        """Returns a place of words with the marks, such as brackets, that the source has there."""
        before = self._source[max(start, self._starts[first] - _MOST_MARKS) : self._starts[first]]
        if (marks := before.lstrip()) and self._target.endswith(marks, 0, begin):
            begin -= len(marks)
        elif marks:
            begin = max(begin - _number_of(marks), _before_marks(self._target, begin))
        behind = self._source[self._ends[last - 1] : min(end, self._ends[last - 1] + _MOST_MARKS)]
        if (marks := behind.rstrip()) and self._target.startswith(marks, stop):
            stop += len(marks)
        elif marks:
            stop = min(stop + _number_of(marks), _behind_marks(self._target, stop))
        return begin, stop

    def has_text(self, start: int, end: int) -> bool:
        """Returns whether the source has more than white space between two places."""
        return not self._source[start:end].isspace() and start < end

    def point(self, place: int) -> int:
        """Returns the place in the translation of a place between two characters of the source."""
        if place <= self._first:
            return min(place, len(self._target) - len(self._target.lstrip()))
        if place >= self._behind:
            behind = len(self._source) - place
            return max(len(self._target) - behind, len(self._target.rstrip()))
        behind = bisect.bisect_right(self._ends, place) - 1  # The last word that ends before it.
        ahead = bisect.bisect_left(self._starts, place)  # The first word that begins after it.
        if behind + 1 < ahead:  # It is within a word.
            if same := self._in_word(behind + 1, place, place):
                return same[0]
            start, end = self._span_of(behind + 1)
            middle = sum(self._words[behind + 1][:2]) / 2
            return start if place < middle else end
        before = self._ends[behind] if behind >= 0 else 0
        gap = self._source[max(before, place - _MOST_MARKS) : place]
        if behind >= 0 and (ahead == len(self._words) or not gap.strip(_MARKS)):
            end = self._span_of(behind)[1]
            if self._target.startswith(gap, end):
                return end + len(gap)
            return _behind_marks(self._target, end) if gap else end
        if ahead == len(self._words):
            return 0
        start = self._span_of(ahead)[0]
        gap = self._source[place : min(self._starts[ahead], place + _MOST_MARKS)]
        if self._target.endswith(gap, 0, start):
            return start - len(gap)
        return _before_dashes(self._target, start) if gap.strip() else start

    def _in_word(self, word, start, end):
        """Returns the place of a part of a word in its translation, if that has the same part.

        So the 2 of "CO2" is in "CO2" again, whatever else has a 2.
        """
        first, behind = self._words[word][:2]
        if start <= first and end >= behind:
            return None
        text, target = self._source[first:behind], self._target
        target_first, target_behind = self._span_of(word)
        if target[target_first:target_behind] != text:
            sources, targets = self._same_words(text)
            if len(sources) != len(targets):
                return self._share_of(start, end, (first, behind), (target_first, target_behind))
            target_first = targets[sources.index(first)]
        return target_first + max(start - first, 0), target_first + min(end, behind) - first

    def _share_of(self, start, end, word, target):
        """Returns the same part of a translated word, or else as much of it.

        A part that ends at a mark within the word, such as a hyphen, ends at such a mark again.
        """
        part = self._source[start:end]
        at = self._target.find(part, *target) if part.strip() else -1
        if at >= 0:
            return at, at + len(part)
        cuts = _cuts(self._source, (start, end))
        pieces, target_pieces = (
            [match.span() for match in _PIECE.finditer(text, *span)]
            for text, span in ((self._source, word), (self._target, target))
        )
        if not any(cuts):
            if len(pieces) != len(target_pieces):
                return None
            inside = [number for number, piece in enumerate(pieces) if start < piece[1] <= end]
            return (target_pieces[inside[0]][0], target_pieces[inside[-1]][1]) if inside else None
        scale = (target[1] - target[0]) / (word[1] - word[0])
        shares = (target[0] + round(scale * (place - word[0])) for place in (start, end))
        begin, stop = (min(max(share, target[0]), target[1]) for share in shares)
        return begin, stop

    def _same_words(self, text):
        """Returns where the words of the source, and of the target, are this text."""
        if self._by_text is None:
            self._by_text = {}
            sides = (
                (0, self._source, [word[:2] for word in self._words]),
                (1, self._target, [span for words in self._sentences for span in words.target]),
            )
            for side, whole, spans in sides:
                for start, end in spans:
                    self._by_text.setdefault(whole[start:end], ([], []))[side].append(start)
        return self._by_text.get(text, ([], []))

    def _span_of(self, word):
        _, _, number, index = self._words[word]
        return self._targets(number, index, index)

    def _target_of(self, number, first, last):
        """Returns the start and end of the target words for words of a sentence."""
        words = self._sentences[number]
        if not words.target:
            return 0, 0
        if words.weights is None:
            targets, sources = len(words.target), len(words.source)
            begin = first * targets // sources
            stop = max(begin, ((last + 1) * targets - 1) // sources)
            return words.target[begin][0], words.target[stop][1]
        begin, stop = _heaviest(words.weights[:, first : last + 1].sum(axis=1) - _SHARE)
        return words.target[begin][0], words.target[stop][1]

    def _copied(self, start, end):
        """Returns the place of characters that source and translation both have once."""
        if max(len(self._source), len(self._target)) > _MOST_SEARCHED:
            return None
        text = self._source[start:end]
        start += len(text) - len(text.lstrip())
        key = start, text.strip()
        if key not in self._copies:
            self._copies[key] = _only_place(*key, self._source, self._target)
        return self._copies[key]


def _only_place(start, text, source, target):
    """Returns the place in the target of characters that both texts have once.

    A copy of whole words is no part of a longer word; a copy of a part of a word may be.
    """
    place = start, start + len(text)
    cuts = _cuts(source, place)
    [*own] = itertools.islice(_places(text, source, cuts), 2)
    [*places] = itertools.islice(_places(text, target, cuts), 2)
    return places[0] if len(places) == 1 and own == [place] else None


def _places(text, within, cuts):
    """Yields where a text is that is cut off from longer words at most at the same sides."""
    start = within.find(text)
    while start >= 0:
        place = start, start + len(text)
        if all(cut <= may for cut, may in zip(_cuts(within, place), cuts, strict=True)):
            yield place
        start = within.find(text, start + 1)


def _cuts(text, place):
    """Returns whether both ends of a place are within words."""
    return [0 < end < len(text) and text[end - 1 : end + 1].isalnum() for end in place]


# Words of a sentence that is aligned; of longer ones, they are counted in proportion.
LONGEST = 200
_MOST_SEARCHED = 20_000  # Characters of a text that is searched for what each span has.
_MOST_MISSING = 100  # Sentences that are searched in vain; the text then has none behind them.
_SHARE = 0.5  # A word is in a span if more of its weight is at the words of the span.


def _heaviest(gains):
    """Returns the first and last place of the neighbouring words with the greatest sum."""
    best, begin, stop = -np.inf, 0, 0
    total, start = 0.0, 0
    for place, gain in enumerate(gains):  # Kadane's algorithm.
        if total <= 0:
            total, start = 0.0, place
        total += gain
        if total > best:
            best, begin, stop = total, start, place
    return begin, stop


_MARKS = ".,;:!?…)]}»”’\"'%"


_MOST_LETTERS = 40  # Behind a place within a word, that are looked at for a space.
_MOST_MARKS = 100  # Beside a word, that are looked at.


def _number_of(marks):
    """Returns how many marks, such as brackets, a translation may have for those of a text."""
    return sum(not character.isspace() for character in marks.replace("…", "..."))


def _before_marks(text, place):
    least = max(0, place - _MOST_MARKS)
    while place > least and not text[place - 1].isspace() and not text[place - 1].isalnum():
        place -= 1
    return place


def _before_dashes(text, place):
    """Returns the place of the marks before a word that are not those behind the last word."""
    start, least = place, max(0, place - _MOST_MARKS)
    while start > least and not text[start - 1].isalnum():
        start -= 1
    while start < place and (text[start].isspace() or text[start] in _MARKS):
        start += 1
    return start


def _behind_marks(text, place):
    most = min(len(text), place + _MOST_MARKS)
    while place < most and not text[place].isspace() and not text[place].isalnum():
        place += 1
    return place


def _located(source, target, sentences, asked):
    """Returns the words of each sentence that is in both texts, behind the one before it.

    If the places are known that will be asked for, only of sentences that are at or beside them.
    """
    located, source_end, target_end, missing = [], 0, 0, 0
    for pair in sentences:
        source_start = source.find(pair.source, source_end)
        target_start = target.find(pair.target, target_end)
        if source_start < 0 or target_start < 0:
            missing += 1
            if missing > _MOST_MISSING:
                break
            continue
        located.append((pair, source_start, target_start))
        source_end = source_start + len(pair.source)
        target_end = target_start + len(pair.target)
    located = [each for each in located if _WORD.search(each[0].source)]
    if asked is not None:
        starts = [start for _, start, _ in located]
        numbers = [bisect.bisect_right(starts, place) for place in asked]
        near = {number + step for number in numbers for step in (-2, -1, 0)}
        located = [each for number, each in enumerate(located) if number in near]
    return [_words(*each) for each in located]


def _words(pair, source_start, target_start):
    source, target = (word_spans(text) for text in pair[:2])
    weights = pair.weights
    if weights is None and 0 < len(source) <= LONGEST and 0 < len(target) <= LONGEST:
        weights = align_pairs([word_pair(pair.source, pair.target)])[0]
    return _Words(_moved(source, source_start), _moved(target, target_start), weights)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Returns the start and end of each word of a text, without punctuation."""
    return [match.span() for match in _WORD.finditer(text)]


def word_pair(source: str, target: str, attention: np.ndarray | None = None) -> WordPair:
    """Returns the words of a sentence and of its translation.

    Args:
        attention: float array (words of the target, words of the source), where words are between
            spaces, as of `kformer.WordAlignment`; None if it is not known.
    """
    spans = word_spans(source), word_spans(target)
    source_words, target_words = (
        [text[slice(*span)] for span in text_spans]
        for text, text_spans in zip((source, target), spans, strict=True)
    )
    if attention is not None:
        numbers = (
            _numbers_between_spaces(source, spans[0]),
            _numbers_between_spaces(target, spans[1]),
        )
        sizes = len(source.split()), len(target.split())
        attention = attention[numbers[1]][:, numbers[0]] if attention.shape == sizes[::-1] else None
    return WordPair(source_words, target_words, attention)


def _numbers_between_spaces(text, spans):
    """Returns for each word the number of the word between spaces that it is a part of."""
    starts = [match.start() for match in _BETWEEN_SPACES.finditer(text)]
    return [bisect.bisect_right(starts, start) - 1 for start, _ in spans]


def _moved(spans, by):
    return [(start + by, end + by) for start, end in spans]


def at_space(text: str, place: int) -> int:
    """Returns a place of a text, or that of the space nearest behind it, or else before it."""
    if text[:place] and text[place - 1].isspace():
        return place
    behind = range(place, min(len(text), place + _MOST_LETTERS))
    before = range(min(place, len(text)) - 1, max(0, place - _MOST_LETTERS), -1)
    return next((gap for gap in (*behind, *before) if text[gap].isspace()), place)


def gaps_in(text: str) -> list[int]:
    """Returns the places of the white space in a text, but for its first character."""
    return [place for place in range(1, len(text)) if text[place].isspace()]


def divisions(text: str, gaps: Sequence[int], shares: Sequence[float]) -> list[int]:
    """Returns rising places that divide a text at its gaps, near to the given shares of it."""
    ends = gaps or range(1, len(text))
    places, first = [], 0
    for number, share in enumerate(shares):
        last = max(len(ends) - (len(shares) - number - 1), first + 1)  # Others are for the rest.
        last = min(last, len(ends))
        if first >= last:
            places.append(len(text))
            continue
        wanted = share * len(text)
        near = bisect.bisect_left(ends, wanted, first, last)
        index = min(
            range(max(near - 1, first), min(near + 1, last)),
            key=lambda index: abs(ends[index] - wanted),
        )
        places.append(ends[index])
        first = index + 1
    return places
