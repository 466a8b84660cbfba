"""JSON: all strings but keys, and the values below keys that begin with "@", as in ARB files.

Of the messages of a browser's extension and of FormatJS, only the texts are translated, not their
descriptions. The `@@locale` of an ARB file becomes the target language, if that is known.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Chunk, Piece, Segment, Write
from kformer.json_files import parse_json

_LOCALE = "@@locale"
_MESSAGES = {  # Keys of messages with a description: the text, and what may be beside it.
    "message": {"description", "placeholders", "hash", "content"},
    "defaultMessage": {"description", "id"},
}
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


def string_segment(text: str, value: JsonValue, line: int, syntax: str = "") -> Segment:
    """Returns the segment of a string."""
    assert value.text is not None  # `_strings` yields no other values.
    raw = text[value.start : value.end]
    return Segment(value.start, line, raw, (value.text,), json_write(raw), syntax=syntax)


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the strings of a document."""
    root = json_value(text, options.name)
    key = _message_key(root, options.name)
    syntax = "chrome" if key == "message" else "strings"
    values = [*(_strings(root) if key is None else _texts(root, key))]
    locale = root.members.get(_LOCALE)
    if options.target_language and locale and locale.text is not None:
        values.append(locale)
    done, line = 0, 1
    for value in sorted(values, key=lambda value: value.start):
        line += text.count("\n", done, value.start)
        yield text[done : value.start]
        done = value.end
        if value is locale and options.target_language:
            yield json.dumps(options.target_language.replace("-", "_"))
            continue
        segment = string_segment(text, value, line, syntax)
        yield segment
        line += segment.raw.count("\n")
    yield text[done:]


def _strings(root) -> Iterator[JsonValue]:
    """Yields the strings that are translated, in the order of the document."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if value.text is not None:
            yield value
        members = (member for key, member in value.members.items() if not key.startswith("@"))
        waiting += reversed([*members, *value.elements])


def _message_key(root, name):
    """Returns the key of the texts if all values are messages with descriptions, else None."""
    messages = [value for key, value in root.members.items() if key[:1] not in ("@", "$")]
    messages += root.elements
    for text, beside in _MESSAGES.items():
        if messages and all(_is_message(value, text, beside) for value in messages):
            is_sure = text == "defaultMessage" or name.strip("'\"").endswith("messages.json")
            if is_sure or any("placeholders" in value.members for value in messages):
                return text
    return None


def _is_message(value, text, beside):
    message = value.members.get(text)
    return message and message.text is not None and value.members.keys() <= {text} | beside


def _texts(root, key) -> Iterator[JsonValue]:
    """Yields the texts of messages with descriptions."""
    for value in (*root.members.values(), *root.elements):
        if text := value.members.get(key):
            yield text
