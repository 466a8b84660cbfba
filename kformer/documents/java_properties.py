"""Java's `.properties`: values are translated; keys, comments, separators and line ends stay.

The grammar is that of [java.util.Properties](
https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/Properties.html#load(java.io.Reader)).
A value with `{0}` is a pattern of `java.text.MessageFormat`, where an apostrophe is written twice
and quotes what is between two, unless the file writes apostrophes in such values once.
"""

import codecs
import functools
import re
from collections.abc import Callable, Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, SegmentBuilder, Write, paired

_SKIPPED = r"(?:[ \t\f]|\\(?:\r\n?|\n))*+"  # White space, also over the end of a line.
_ENTRY = re.compile(
    r"[ \t\f]*+(?:[#!][^\r\n]*+"
    rf"|(?:[^\\ \t\f\r\n=:]|\\(?:\r\n|.|\Z))*+{_SKIPPED}(?:[=:]{_SKIPPED})?"
    r"(?P<value>(?:[^\\\r\n]|\\(?:\r\n|.|\Z))*+))(?:\r\n?|\n|\Z)",
    re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\u([0-9A-Fa-f]{4})|\\?(?:\r\n?|\n)[ \t\f]*+|\\(.)|\\\Z",  # Also a line that goes on.
    re.DOTALL,
)
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_ESCAPES = {"\\": "\\\\"} | {character: f"\\{name}" for name, character in _CHARACTERS.items()}
_FORMAT = re.compile(r"\{\d")  # An argument of a pattern.
_ICU = re.compile(r"\{\s*[\w.]+\s*,\s*(?:plural|select)")
_MARK = re.compile("''|['{}]")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_BRACES = re.compile(r"'*+([{}]['{}]*+)?")  # Apostrophes, and braces with them.
_CAPITAL_HEX = re.compile(r"\\u[0-9A-F]*[A-F]")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The handler of characters that an encoding lacks."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(map(_unicode_escape, lacking)), error.end


ENCODING_ERRORS = "kformer.properties"
codecs.register_error(ENCODING_ERRORS, _escaped)


def _unicode_escape(character):
    """Returns an escape for each unit of UTF-16, as Java has them."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def _capital_escape(character):
    return _unicode_escape(character).upper().replace("\\U", "\\u")


def declared_encoding(content: bytes) -> str:
    """Returns UTF-8, as Java reads resources since version 9, or ISO-8859-1 if it is none."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "iso-8859-1"
    return "utf-8"


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the values of a file."""
    values = [match.span("value") for match in _ENTRY.finditer(text) if match["value"]]
    doubles, always = _apostrophes([text[start:end] for start, end in values])
    hex_escape = _capital_escape if _CAPITAL_HEX.search(text) else _unicode_escape
    # Java may read ASCII as ISO-8859-1, so it stays ASCII.
    escape = hex_escape if text.isascii() else str
    builder = SegmentBuilder(text, _unescape, functools.partial(_writer, quote=str, escape=escape))
    for start, end in values:
        raw = text[start:end]
        is_pattern = doubles and bool(_FORMAT.search(raw)) and not _ICU.search(raw)
        is_doubled = is_pattern or ("''" in raw and not _ICU.search(raw)) or always
        quote = _quote if is_pattern else _double if is_doubled else str
        unescape = _unescape_doubled if is_doubled else _unescape
        builder.switch(unescape, functools.partial(_writer, quote=quote, escape=escape))
        done = start
        for place, stop, shown in _elements(text, start, end) if is_pattern else ():
            if done < place:
                builder.text(done, place)
            builder.code(place, stop, shown=shown)
            done = stop
        if done < end:
            builder.text(done, end)
        builder.end_segment()
        yield from builder.take()
    yield from builder.finish()


def _apostrophes(values) -> tuple[bool, bool]:
    """Returns whether patterns, and whether all values, have doubled apostrophes."""
    patterns = [value for value in values if _FORMAT.search(value)]
    single = any(map(_APOSTROPHE.search, patterns))
    doubled = any("''" in value for value in patterns)
    texts = [value for value in values if not _FORMAT.search(value)]
    always = any("''" in value for value in texts) and not any(map(_APOSTROPHE.search, texts))
    return doubled or not single, always


def _elements(text, start, end):
    """Yields the place and the shown text of each format element and quotation of a pattern."""
    place, depth, begun = start, 0, start
    while match := _MARK.search(text, place, end):
        place = match.end()
        mark = match[0]
        if mark == "'":
            closing = text.find("'", place, end)
            stop = end if closing < 0 else closing + 1
            if not depth:
                yield match.start(), stop, text[place:closing] if closing >= 0 else text[place:end]
            place = stop
        elif mark == "{":
            begun = begun if depth else match.start()
            depth += 1
        elif mark == "}" and depth:
            depth -= 1
            if not depth:
                yield begun, place, text[begun:place]


def _unescape(raw):
    def character(match):
        if match[1]:
            return chr(int(match[1], 16))
        return _CHARACTERS.get(match[2], match[2] or "")

    return paired(_ESCAPE.sub(character, raw))


def _unescape_doubled(raw):
    return _unescape(raw).replace("''", "'")


def _double(text):
    return text.replace("'", "''")


def _quote(text):
    """Returns the text of a pattern with its apostrophes doubled and its braces quoted."""
    return _BRACES.sub(lambda run: f"'{_double(run[0])}'" if run[1] else _double(run[0]), text)


def _writer(raw: str, quote: Callable[[str], str], escape: Callable[[str], str]) -> Write:
    """Returns the `Write` of a value, which escapes what its raw characters escape.

    Args:
        quote: Returns what stands for a text in a pattern.
        escape: Returns what stands for a character that is not in ASCII.
    """
    marks = {mark: f"\\{mark}" for mark in "=:#!" if f"\\{mark}" in raw}
    escapes = str.maketrans(_ESCAPES | marks)

    def write(chunks):
        written = "".join(
            chunk.content if chunk.is_code else quote(chunk.content).translate(escapes)
            for chunk in chunks
        )
        if not written.isascii():
            written = "".join(c if c.isascii() else escape(c) for c in written)
        return f"\\{written}" if written[:1] in (" ", "\t", "\f") else written

    return write
