"""Plurals and choices in ICU's syntax, such as `{n, plural, one {# file} other {# files}}`.

They are placeholders of a sentence. Each of their forms is a text of its own, which is translated.
"""

import functools
import re
from collections.abc import Sequence

from kformer.documents.segments import Chunk, Code, Piece, Segment

_HEAD = re.compile(r"\{\s*([\w.]+)\s*,\s*(plural|selectordinal|select)\s*,")
_SELECTOR = re.compile(r"\s*+(?:offset:\d++\s*+)?(?:=\d++|[\w-]++)\s*+")
_NUMBER = re.compile("(#)")
_QUOTED = re.compile(r"''|'([{}#|])")


def icu_code(text: str, line: int) -> Code | None:
    """Returns the code of a plural or choice, or None if a placeholder is something else."""
    head = _HEAD.match(text)
    if head is None:
        return None
    pieces: list[Piece] = [head[0]]
    place, end = head.end(), len(text) - 1
    while (selector := _SELECTOR.match(text, place, end)) and text[selector.end()] == "{":
        start = selector.end() + 1
        stop = _closing(text, start)
        if stop is None or stop >= end:
            return None
        pieces += [text[place:start], *_form(text, start, stop, line, head[2] != "select")]
        place = stop
        pieces.append(text[place : place + 1])
        place += 1
    if len(pieces) == 1 or text[place:end].strip():
        return None
    pieces.append(text[place:])
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


def _form(text, start, stop, line, is_plural):
    """Returns the pieces of a form: the white space at its ends is no part of the segment."""
    raw = text[start:stop]
    bare = raw.strip()
    if not bare:
        return [raw]
    quoted = next((match[0] for match in _QUOTED.finditer(bare) if match[1]), None)
    is_doubled = "''" in bare
    parts: Sequence[str | Code] = [bare.replace("''", "'") if is_doubled else bare]
    if is_plural:
        split = _NUMBER.split(parts[0])
        parts = [Code((part,), shown="#", is_text=True) if part == "#" else part for part in split]
    first = raw.index(bare)
    segment = Segment(
        start + first,
        line,
        bare,
        tuple(filter(None, parts)),
        functools.partial(_write, is_doubled),
        reason=f"it has a quotation of ICU, {quoted}" if quoted else "",
    )
    return [raw[:first], segment, raw[first + len(bare) :]]


def _write(is_doubled: bool, chunks: list[Chunk]) -> str:
    """Joins the chunks of a form; a single apostrophe before a brace would begin a quotation."""
    written = ""
    for chunk in chunks:
        content = chunk.content
        if is_doubled and not chunk.is_code:
            content = content.replace("'", "''")
        elif content[:1] in ("{", "#") and written.endswith("'"):
            written += "'"
        written += content
    return written
