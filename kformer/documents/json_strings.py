"""JSON: all strings but keys, and the values below keys that begin with "@", as in ARB files."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Chunk, Piece, Segment, Write
from kformer.json_files import parse_json

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)


def declared_encoding(_content: bytes) -> None:
    """Returns None: JSON is in UTF-8, or has a byte order mark."""


class JsonValue(NamedTuple):
    """A value, with its place and its members.

    Attributes:
        start, end: Its place.
        text: The text of a string, else None.
        members: The values of an object by key.
        elements: The values of an array.
    """

    start: int
    end: int
    text: str | None
    members: dict[str, "JsonValue"]
    elements: list["JsonValue"]


def json_value(text: str, name: str) -> JsonValue:
    """Returns the value of a document, with the places of all values in it.

    Python's `json` checks the document, and gives no places; the tokens of what it accepts do.
    """
    try:
        parse_json(text.removeprefix("\ufeff"), object)
    except ValueError as error:
        raise ValueError(f"A document must be JSON. Received: {name} ({error}).") from error
    root = JsonValue(0, len(text), None, {}, [])
    waiting: list[tuple[JsonValue, int]] = []
    above, key, is_key = root, None, False
    for match in _TOKEN.finditer(text, text.startswith("\ufeff")):
        token = match[0]
        if token in "{[":
            value = JsonValue(match.start(), match.start(), None, {}, [])
            waiting.append((above, _add(above, key, value)))
            above, key, is_key = value, None, token == "{"
        elif token in "}]":
            parent, place = waiting.pop()
            _replace(parent, place, above._replace(end=match.end()))
            above, key, is_key = parent, None, False
        elif token == ",":
            is_key = bool(above.members)
            key = None
        elif token == ":":
            is_key = False
        elif is_key:
            key = json.loads(token, strict=False)
        else:
            string = json.loads(token, strict=False) if token[0] == '"' else None
            _add(above, key, JsonValue(*match.span(), string, {}, []))
    return root.elements[0]


def _add(above, key, value):
    """Adds a value to the one around it; returns its key or index."""
    if key is None:
        above.elements.append(value)
        return len(above.elements) - 1
    above.members[key] = value
    return key


def _replace(parent, place, value):
    if isinstance(place, str):
        parent.members[place] = value
    else:
        parent.elements[place] = value


def json_write(raw: str) -> Write:
    """Returns the `Write` of a string, with the escapes that its raw characters have."""
    is_ascii = raw.isascii() and "\\u" in raw
    slash = "\\/" if "\\/" in raw else "/"

    def write(chunks: list[Chunk]):
        text = "".join(chunk.content for chunk in chunks)
        return json.dumps(text, ensure_ascii=is_ascii).replace("/", slash)

    return write


def string_segment(text: str, value: JsonValue, line: int) -> Segment:
    """Returns the segment of a string."""
    assert value.text is not None  # `_strings` yields no other values.
    raw = text[value.start : value.end]
    return Segment(value.start, line, raw, (value.text,), json_write(raw))


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the strings of a document."""
    yield from with_segments(text, _strings(json_value(text, options.name)))


def _strings(root) -> Iterator[JsonValue]:
    """Yields the strings that are translated, in the order of the document."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if value.text is not None:
            yield value
        members = (member for key, member in value.members.items() if not key.startswith("@"))
        waiting += reversed([*members, *value.elements])


def with_segments(text: str, values) -> Iterator[Piece]:
    """Yields the pieces of a document with the given strings as segments, in their order."""
    done, line = 0, 1
    for value in sorted(values, key=lambda value: value.start):
        line += text.count("\n", done, value.start)
        yield text[done : value.start]
        segment = string_segment(text, value, line)
        yield segment
        line += segment.raw.count("\n")
        done = value.end
    yield text[done:]
