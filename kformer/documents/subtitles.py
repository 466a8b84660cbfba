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
    """Yields the cues of a document that have text."""
    cue, place, is_text = None, 0, False
    for line in text.splitlines(True):
        bare = line.rstrip("\r\n")
        times = None if is_text and cue is None else _TIMES.match(bare)
        if times:
            if cue and cue.lines:
                yield cue
            cue, is_text = Cue([], _seconds(times.groups()[:4]), _seconds(times.groups()[4:])), True
        elif not bare.strip():
            if cue and cue.lines:
                yield cue
            cue, is_text = None, False
        elif cue:
            cue.lines.append(Line(place, place + len(bare)))
        elif _BLOCK.match(bare):
            is_text = True  # Up to the next blank line, whatever is in it.
        place += len(line)
    if cue and cue.lines:
        yield cue


def _seconds(groups):
    hours, minutes, seconds, fraction = groups
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + int(fraction) / 10 ** len(fraction)


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the sentences of subtitles, each with the breaks of its lines and cues as codes."""
    found_cues = [*cues(text)]
    bare = text.strip("\ufeff \t\r\n")
    has_times = found_cues or any(map(_TIMES.match, text.splitlines()))
    if bare and not has_times and not bare.startswith("WEBVTT"):
        raise ValueError(
            "Subtitles must have cues, with times such as 00:00:01,000 --> 00:00:02,500. "
            f"Received: {options.name}."
        )
    builder = SegmentBuilder(text, unescape, _writer, ordered=True)
    for group in _groups(text, found_cues):
        _add(builder, text, group)
        yield from builder.take()
    yield from builder.finish()


def _groups(text: str, cue_list: Sequence[Cue]) -> Iterator[list[Cue]]:
    """Yields cues that share a sentence together."""
    ended = sum(_is_ended(text, cue) for cue in cue_list)
    is_punctuated = 2 * ended >= len(cue_list)
    group: list[Cue] = []
    for cue in cue_list:
        if group and not (_goes_on(text, group, cue, is_punctuated)):
            yield group
            group = []
        group.append(cue)
    if group:
        yield group


def _is_ended(text, cue):
    bare = _plain(text, cue.lines[-1])
    before = bare.rstrip(_CLOSING)
    closing = bare[len(before) :]
    return before.endswith(_ENDS) or any(mark in closing for mark in _CLOSING_ENDS)


def _plain(text, line):
    return _CODE.sub("", text[line.start : line.end]).strip()


def _goes_on(text, group, cue, is_punctuated):
    """Returns whether the sentence at the end of a group goes on in the next cue."""
    last, following = _plain(text, group[-1].lines[-1]), _plain(text, cue.lines[0])
    characters = sum(line.end - line.start for member in group for line in member.lines)
    if len(group) >= _MOST_CUES or characters > _MOST_CHARACTERS or _is_ended(text, group[-1]):
        return False
    if not -_LONGEST_PAUSE <= cue.begin - group[-1].finish <= _LONGEST_PAUSE:
        return False
    if not last or not following or _UNSPACED.search(last):
        return False
    before = (line for member in reversed(group) for line in reversed(member.lines))
    voice = next(filter(None, (_voice(text, line) for line in before)), "")
    if _starts_anew(text, cue.lines[0], voice):
        return False
    return is_punctuated or following[0].islower() or last[-1] in ",;-–—"


def _voice(text, line):
    """Returns the name of the speaker in the tag of a line; "" if it has none."""
    match = _VOICE.match(text, line.start, line.end)
    return match[1] if match else ""


def _starts_anew(text, line, voice):
    """Returns whether a line is another speaker's than the lines before it."""
    if _SPEAKER.match(text, line.start, line.end):
        return True
    return (_voice(text, line) or voice) != voice


def _add(builder, text, group):
    """Adds the cues of a segment; a line of another speaker begins a segment of its own."""
    lines = [(line, number) for number, cue in enumerate(group) for line in cue.lines]
    for part in _by_speaker(text, lines):
        lengths = [len(_plain(text, line)) for line, _ in part]
        before = [*itertools.accumulate(lengths, initial=0)]
        for place, (line, number) in enumerate(part):
            if place:
                share = before[place] / (before[-1] or 1)
                if number != part[place - 1][1]:
                    share = (share + _time_share(group, part, number)) / 2
                start = part[place - 1][0].end
                builder.code(start, line.start, shown=" ", share=share)
            _add_line(builder, text, line)
        builder.end_segment()


def _by_speaker(text, lines):
    part, voice = [], ""
    for line, number in lines:
        if part and _starts_anew(text, line, voice):
            yield part
            part, voice = [], ""
        part.append((line, number))
        voice = _voice(text, line) or voice
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
