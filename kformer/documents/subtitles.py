"""SubRip and WebVTT: sentences over several cues are translated whole and divided again.

A cue gets a share of the translation that is the mean of its share of the text and of its share of
the time. Numbers, timestamps, settings, notes and styles stay as they are.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.html_text import unescape
from kformer.documents.segments import Chunk, Piece, Role, SegmentBuilder

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t].*)?\Z")
_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?\Z")  # Of WebVTT.
_CODE = re.compile(r"</?[A-Za-z\d][^<>]*>|\{\\[^{}]*\}")
_TAG_NAME = re.compile(r"</?([A-Za-z]+)")
_SPEAKER = re.compile(r"\s*+(?:<[^<>]*>|\{[^{}]*\})*+\s*+[-–—♪♫#\[(>]")
_VOICE = re.compile(r"\s*+<v(?:\.[\w.-]++)?\s++([^<>\s][^<>]*+)>")
_ENDS, _CLOSING_ENDS, _CLOSING = tuple(".!?…:。！？♪♫"), "])", "\"'”’»)]"
_UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_MOST_CUES, _MOST_CHARACTERS = 6, 600  # Of one segment.
_LONGEST_PAUSE = 2.0  # Seconds between two cues of a sentence.
_TITLE_PAUSE = 0.1  # Seconds behind a title.
_PAUSE_AMONG_NOUNS = 0.3  # Seconds behind a title in a language whose nouns have capitals.
_CAPITAL_NOUNS = {"de", "deu", "ger", "lb", "ltz"}
_GOING_ON = tuple(",;-–—")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]++")
_SHORT_WORD = 3  # Letters of words that have no capital in a title.


class Line(NamedTuple):
    """A line of text in a cue, and its place without its line end."""

    start: int
    end: int


class Cue(NamedTuple):
    """The lines of a cue, and its time in seconds."""

    lines: list[Line]
    begin: float
    finish: float


def declared_encoding(_content: bytes) -> None:
    """Returns None: subtitles declare nothing but by a byte order mark."""


def cues(text: str) -> Iterator[Cue]:
    """Yields the cues of a document; some may have no lines."""
    cue, place, is_text = None, 0, False
    for line in text.splitlines(True):
        bare = line.rstrip("\r\n")
        times = None if is_text and cue is None else _TIMES.match(bare)
        if times:
            if cue:
                yield cue
            cue, is_text = Cue([], _seconds(times.groups()[:4]), _seconds(times.groups()[4:])), True
        elif not bare.strip():
            if cue:
                yield cue
            cue, is_text = None, False
        elif cue:
            cue.lines.append(Line(place, place + len(bare)))
        elif _BLOCK.match(bare):
            is_text = True  # Up to the next blank line, whatever is in it.
        place += len(line)
    if cue:
        yield cue


def _seconds(groups):
    hours, minutes, seconds, fraction = groups
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + int(fraction) / 10 ** len(fraction)


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the sentences of subtitles, each with the breaks of its lines and cues as codes."""
    cue_list = [*cues(text)]
    bare = text.strip("\ufeff \t\r\n")
    if bare and not cue_list and not bare.startswith("WEBVTT"):
        raise ValueError(
            "Subtitles must have cues, with times such as 00:00:01,000 --> 00:00:02,500. "
            f"Received: {options.name}."
        )
    builder = SegmentBuilder(text, unescape, _writer, ordered=True)
    film = _Film(text, cue_list, options.source_language)
    for group in film.groups(cue_list):
        _add(builder, film, group)
        yield from builder.take()
    yield from builder.finish()


class _Film:
    """How the cues of a document are written, and so which of them share a sentence.

    Args:
        text: The document.
        cue_list: Its cues.
        language: Its language, or None.

    Attributes:
        text: The document.
    """

    def __init__(self, text: str, cue_list: Sequence[Cue], language: str | None):
        self.text = text
        spoken = [cue for cue in cue_list if cue.lines]
        ended = sum(self._is_ended(cue.lines[-1]) for cue in spoken)
        self._is_punctuated = 2 * ended >= len(spoken)
        capitals = sum(_has_capitals_only(self.plain(cue.lines[-1])) for cue in spoken)
        self._has_cases = 2 * capitals < len(spoken)  # Else capitals mean nothing.
        nouns = (language or "").lower().partition("-")[0] in _CAPITAL_NOUNS
        self._title_pause = _PAUSE_AMONG_NOUNS if nouns else _TITLE_PAUSE

    def groups(self, cue_list: Sequence[Cue]) -> Iterator[list[Cue]]:
        """Yields cues that share a sentence together."""
        group: list[Cue] = []
        for cue in cue_list:
            if group and not (cue.lines and self._goes_on(group, cue)):
                yield group
                group = []
            if cue.lines:
                group.append(cue)
        if group:
            yield group

    def plain(self, line: Line) -> str:
        """Returns the text of a line."""
        return unescape(_CODE.sub("", self.text[line.start : line.end])).strip()

    def _is_ended(self, line):
        bare = self.plain(line)
        before = bare.rstrip(_CLOSING)
        closing = bare[len(before) :]
        return before.endswith(_ENDS) or any(mark in closing for mark in _CLOSING_ENDS)

    def _goes_on(self, group, cue):
        """Returns whether the sentence at the end of a group goes on in the next cue."""
        last_line = group[-1].lines[-1]
        last, following = self.plain(last_line), self.plain(cue.lines[0])
        characters = sum(line.end - line.start for member in group for line in member.lines)
        if len(group) >= _MOST_CUES or characters > _MOST_CHARACTERS or self._is_ended(last_line):
            return False
        pause = cue.begin - group[-1].finish
        if not -_LONGEST_PAUSE <= pause <= _LONGEST_PAUSE:
            return False
        if not last or not following or _UNSPACED.search(last):
            return False
        before = (line for member in reversed(group) for line in reversed(member.lines))
        voice = next(filter(None, (_voice(self.text, line) for line in before)), "")
        if self.starts_anew(last_line, cue.lines[0], voice):
            return False
        if following[0].islower() or last[-1] in _GOING_ON:
            return True
        return self._is_punctuated and not (len(group) == 1 and self._is_title(*group, pause))

    def starts_anew(self, last: Line, line: Line, voice: str) -> bool:
        """Returns whether a line is another speaker's than the lines before it, or beside a sign.

        Args:
            voice: The name of the speaker of the lines before.
        """
        if _SPEAKER.match(self.text, line.start, line.end):
            return True
        if (_voice(self.text, line) or voice) != voice:
            return True
        before, behind = self.plain(last), self.plain(line)
        if not self._has_cases or before.endswith(_GOING_ON) or behind[:1].islower():
            return False
        is_sign = _has_capitals_only(before), _has_capitals_only(behind)
        if is_sign == (False, True):
            return not self._is_ended(line)
        return is_sign == (True, False)

    def _is_title(self, cue, pause):
        """Returns whether a cue before a pause is a title: "Chapter Two", "Jane Doe, Teacher"."""
        if pause < self._title_pause or not self._has_cases:
            return False
        words = [word for line in cue.lines for word in _LETTERS.findall(self.plain(line))]
        starts = [word[0].isupper() for word in words if len(word) > _SHORT_WORD]
        return bool(starts) and all(starts) and words[0][0].isupper()


def _has_capitals_only(text):
    return text.isupper() and len(_LETTER.findall(text)) > 1


def _voice(text, line):
    """Returns the name of the speaker in the tag of a line; "" if it has none."""
    match = _VOICE.match(text, line.start, line.end)
    return match[1] if match else ""


def _add(builder, film, group):
    """Adds the cues of a segment; a line of another speaker begins a segment of its own."""
    lines = [(line, number) for number, cue in enumerate(group) for line in cue.lines]
    for part in _by_speaker(film, lines):
        lengths = [len(film.plain(line)) for line, _ in part]
        before = [*itertools.accumulate(lengths, initial=0)]
        for place, (line, number) in enumerate(part):
            if place:
                share = before[place] / (before[-1] or 1)
                if number != part[place - 1][1]:
                    share = (share + _time_share(group, part, number)) / 2
                start = part[place - 1][0].end
                builder.code(start, line.start, shown=" ", share=share)
            _add_line(builder, film.text, line)
        builder.end_segment()


def _by_speaker(film, lines):
    part, voice = [], ""
    for line, number in lines:
        if part and film.starts_anew(part[-1][0], line, voice):
            yield part
            part, voice = [], ""
        part.append((line, number))
        voice = _voice(film.text, line) or voice
    yield part


def _time_share(group, part, number):
    """Returns the share of the time of a part's cues that is before a cue."""
    numbers = dict.fromkeys(number for _, number in part)
    lengths = {n: max(0.0, group[n].finish - group[n].begin) for n in numbers}
    total = sum(lengths.values())
    return sum(length for n, length in lengths.items() if n < number) / total if total else 0.5


def _add_line(builder, text, line):
    done = line.start
    for match in _CODE.finditer(text, line.start, line.end):
        if done < match.start():
            builder.text(done, match.start())
        name = _TAG_NAME.match(match[0])
        role = Role.ALONE
        if name:
            role = Role.CLOSE if match[0].startswith("</") else Role.OPEN
        builder.code(*match.span(), role, name[1] if name else "")
        done = match.end()
    if done < line.end:
        builder.text(done, line.end)


_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;"}


def _writer(raw):
    """Returns the `Write` of a segment: no space beside a break, and no blank line in a cue."""
    escapes = {character: name for character, name in _REFERENCES.items() if name in raw}

    def write(chunks: list[Chunk]):
        lines, breaks = [""], []
        for chunk in chunks:
            content, is_code = chunk.content, chunk.is_code
            if is_code and content[:1] in ("\r", "\n"):
                breaks.append(content)
                lines.append("")
            elif is_code:
                lines[-1] += content
            else:
                content = " ".join(content.splitlines()).replace("-->", "->")
                lines[-1] += "".join(escapes.get(character, character) for character in content)
        result = lines[0].rstrip(" ")
        for content, line in zip(breaks, lines[1:], strict=True):
            line = line.strip(" ")
            is_in_cue = not content.strip()
            if not is_in_cue or (line and not result.endswith(("\r", "\n"))):
                result += content
            result += line
        return result

    return write
