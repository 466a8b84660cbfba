"""Plurals and choices in ICU's syntax, such as `{n, plural, one {# file} other {# files}}`.

They are placeholders of a sentence. Each of their forms is a text of its own, which is translated.
"""

import functools
import re
from collections.abc import Sequence

from kformer.documents.joined_text import JoinedText
from kformer.documents.segments import Chunk, Code, InnerSegment, Segment, raw_of

_HEAD = re.compile(r"\{\s*([\w.]+)\s*,\s*(plural|selectordinal|select)\s*,")
_SELECTOR = re.compile(r"\s*+(?:offset:\d++\s*+)?(?:=\d++|[\w-]++)\s*+")
_WHITE_SPACE = " \t\r\n"
_NUMBER = re.compile("(#)")
_QUOTED = re.compile(r"''|'([{}#|])")


def icu_code(parts: Sequence[str | Code], line: int) -> Code | None:
    """Returns the code of a plural or choice, or None if a placeholder is something else.

    Args:
        parts: Its text, and the codes inside it.
        line: Number of its line.
    """
    joined = JoinedText(parts)
    text = joined.text
    head = _HEAD.match(text)
    if head is None:
        return None
    pieces: list[str | Code | Segment] = [*joined.cut(0, head.end())]
    place, end = head.end(), len(text) - 1
    while (selector := _SELECTOR.match(text, place, end)) and text[selector.end()] == "{":
        start = selector.end() + 1
        stop = _closing(text, start)
        if stop is None or stop >= end:
            return None
        pieces += joined.cut(place, start)
        pieces += _form(joined, start, stop, line, head[2] != "select")
        pieces += joined.cut(stop, stop + 1)
        place = stop + 1
    if place == head.end() or text[place:end].strip():
        return None
    pieces += joined.cut(place, len(text), first=True)
    return Code(tuple(pieces), shown=f"{{{head[1]}}}", is_text=True)


def _closing(text, place):
    """Returns the place of the brace that closes the one before `place`, or None."""
    depth = 0
    while place < len(text):
        if quoted := _QUOTED.match(text, place):
            closing = text.find("'", quoted.end()) if quoted[1] else quoted.end() - 1
            place = len(text) if closing < 0 else closing + 1
            continue
        if text[place] == "}" and not depth:
            return place
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    return None


def _form(joined, start, stop, line, is_plural):
    """Returns the pieces of a form: the white space at its ends is no part of the segment."""
    raw = joined.text[start:stop]
    bare = raw.strip(_WHITE_SPACE)
    if not bare:
        return joined.cut(start, stop, first=True, last=True)
    first = start + raw.index(bare)
    last = first + len(bare)
    quoted = next((match[0] for match in _QUOTED.finditer(bare) if match[1]), None)
    is_doubled = "''" in bare
    original = joined.cut(first, last, first=True, last=True)
    rewrite = functools.partial(_rewritten, is_doubled)
    segment = InnerSegment(
        first,
        line,
        "".join(raw_of(original)),
        tuple(_parts_of(original, is_doubled, is_plural)),
        lambda chunks: "".join(chunk.content for chunk in rewrite(chunks)),
        reason=f"it has a quotation of ICU, {quoted}" if quoted else "",
        original=tuple(original),
        rewrite=rewrite,
    )
    before = joined.cut(start, first, first=start < first)
    behind = joined.cut(last, stop, last=last < stop)
    return [*before, segment, *behind]


def _parts_of(original, is_doubled, is_plural):
    """Yields the parts of a form: its number is a code, and two apostrophes mean one."""
    for part in original:
        if isinstance(part, Code):
            yield part
            continue
        text = part.replace("''", "'") if is_doubled else part
        for piece in filter(None, _NUMBER.split(text) if is_plural else [text]):
            yield Code((piece,), shown="#", is_text=True) if is_plural and piece == "#" else piece


def _rewritten(is_doubled: bool, chunks: list[Chunk]) -> list[Chunk]:
    """Returns the chunks of a form; one apostrophe before a brace would begin a quotation."""
    rewritten, last = [], ""
    for chunk in chunks:
        content = chunk.content
        if not chunk.is_code:
            if is_doubled:
                content = content.replace("'", "''")
            elif content[:1] in ("{", "#") and last.endswith("'"):
                content = f"'{content}"
            last = content or last
        rewritten.append(chunk._replace(content=content))
    return rewritten
