"""Apple's `.strings`: pairs of a key and a value, of which values are translated."""

import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, SegmentBuilder, escaping, paired

_TOKEN = re.compile(
    r"(?P<space>\s++)|(?P<comment>//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)"
    r"|\"(?P<string>(?:[^\"\\]++|\\.)*+)\"|(?P<word>[\w.$:/-]++)|(?P<mark>[=;])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[Uu]([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def declared_encoding(_content: bytes) -> None:
    """Returns None: only a byte order mark declares the encoding."""


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the values of a document."""
    builder = SegmentBuilder(text, _unescape, lambda _: escaping(_escape))
    place, expected = int(text.startswith("\ufeff")), "key"
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match and match.lastgroup in ("space", "comment"):
            place = match.end()
            continue
        if match is None or not _fits(match, expected):
            raise _malformed(text, place, options.name)
        if expected == "value" and match.lastgroup == "string":
            builder.text(match.start("string"), match.end("string"))
            builder.end_segment()
            yield from builder.take()
        if expected == "=" and match[0] == ";":  # A key alone is its own value.
            expected = ";"
        expected = _FOLLOWING[expected]
        place = match.end()
    if expected != "key":
        raise _malformed(text, place, options.name)
    yield from builder.finish()


_FOLLOWING = {"key": "=", "=": "value", "value": ";", ";": "key"}


def _fits(match, expected):
    if expected in ("key", "value"):
        return match.lastgroup in ("string", "word")
    return match.lastgroup == "mark" and (match[0] == expected or expected == "=")


def _malformed(text, place, name):
    line = text.count("\n", 0, place) + 1
    return ValueError(
        'A document of this kind must have lines such as "key" = "value"; and comments. '
        f"Received: {text[place : place + 40]!r} in {name}, line {line}."
    )


def _unescape(raw):
    def character(match):
        if match[1]:
            return chr(int(match[1], 16))
        return _CHARACTERS.get(match[2], match[2])

    return paired(_ESCAPE.sub(character, raw))


def _escape(text):
    return text.translate(_ESCAPES)
