"""The tokens of XML with their places, read by expat. Declarations of entities are refused.

Names are those of the namespaces that `PREFIXES` knows, such as "w:t", whatever prefix the document
has for them; other names have no prefix.
"""

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple
from xml.parsers import expat

from kformer.documents.segments import Chunk, Segment, Write, escaping
from kformer.text.paragraphs.marks import has_letter

MOST_LEVELS = 1000  # Of open elements.
ENCODING_ERRORS = "xmlcharrefreplace"
PREFIXES = {
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a:",
    "http://purl.oclc.org/ooxml/drawingml/main": "a:",
    "http://purl.org/dc/elements/1.1/": "dc:",
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w:",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w:",
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text:",
    "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office:",
    "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0": "svg:",
}
_ATTRIBUTE = re.compile(r"\s([\w.:-]++)\s*+=\s*+(\"[^\"<]*+\"|'[^'<]*+')")
_FILE_NAME = re.compile(r"\S++")  # Such as "image1.png".
_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([\w.:-]+)")
_BLOCK = 2**16  # Bytes that are parsed at once.
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|(\w+));")
_ANY_TAG = re.compile("<[^<>]*>")
_MOST_DIGITS = 7  # Of the number of a character.
_MOST_REFERENCE = 12  # Characters of a reference that a translation may have often.
# Characters that no document of XML may have, and lone surrogates.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class XmlToken(NamedTuple):
    """A part of a document, and its place.

    Attributes:
        kind: "start", "end", "text", "cdata" for the text of a CDATA section, "open-cdata" and
            "close-cdata" for its ends, or "other".
        start, end: Its place in the characters.
        name: Name of an element.
        attributes: Attributes of a start, by name.
    """

    kind: str
    start: int
    end: int
    name: str = ""
    attributes: Mapping[str, str] | None = None


def declared_encoding(content: bytes) -> str | None:
    """Returns the encoding of the XML declaration."""
    declared = _DECLARATION.match(content)
    return declared[1].decode("ascii", "replace") if declared else None


def xml_tokens(text: str, name: str) -> Iterator[XmlToken]:
    """Yields the tokens of a document; joined, they are the document."""
    content = text.encode("utf-8", "surrogatepass")
    events, places = _Events(name), _Places(content)
    waiting: tuple | None = None
    for event in events.read(content):
        kind, byte, element, attributes = event
        if waiting and kind == waiting[0] and kind in ("text", "cdata"):
            continue  # Expat parts texts at line ends and references.
        place = places.characters(byte)
        if waiting:
            yield XmlToken(waiting[0], waiting[1], place, *waiting[2:])
        waiting = kind, place, element, attributes
    if waiting:
        yield XmlToken(waiting[0], waiting[1], len(text), *waiting[2:])


class _Places:
    """Counts the characters before bytes of UTF-8, which must rise."""

    def __init__(self, content: bytes):
        self._content = content
        self._bytes = self._characters = 0

    def characters(self, byte: int) -> int:
        added = self._content[self._bytes : byte]
        self._characters += len(added.decode("utf-8", "surrogatepass"))
        self._bytes = byte
        return self._characters


class _Events:
    """Collects the events of expat."""

    def __init__(self, name: str):
        self._name = name
        self._parser = parser = expat.ParserCreate("utf-8", "}")
        self._events: list[tuple] = []
        self._depth, self._is_cdata = 0, False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler = self._open_cdata
        parser.EndCdataSectionHandler = self._close_cdata
        parser.EntityDeclHandler = self._refuse_entity
        parser.DefaultHandler = lambda _: self._add("other")

    def read(self, content: bytes) -> Iterator[tuple]:
        """Yields tuples of kind, byte, element and attributes."""
        place, block = 0, _BLOCK
        while place <= len(content):
            part = content[place : place + block]
            place += block
            try:
                self._parser.Parse(part, place > len(content))
            except expat.ExpatError as error:
                raise ValueError(
                    f"A document of XML must be well-formed. Received: {self._name} ({error})."
                ) from error
            block = _BLOCK if self._events else 2 * block  # A long tag is read again each time.
            yield from self._events
            self._events.clear()

    def _add(self, kind, element="", attributes=None):
        self._events.append((kind, self._parser.CurrentByteIndex, element, attributes))

    def _start(self, element, attributes):
        self._depth += 1
        if self._depth > MOST_LEVELS:
            raise ValueError(
                f"A document must have at most {MOST_LEVELS:,} elements inside each other. "
                f"Received: {self._name}."
            )
        named = {_short(key): value for key, value in attributes.items()}
        self._add("start", _short(element), named)

    def _end(self, element):
        self._depth -= 1
        self._add("end", _short(element))

    def _text(self, _):
        self._add("cdata" if self._is_cdata else "text")

    def _open_cdata(self):
        self._is_cdata = True
        self._add("open-cdata")

    def _close_cdata(self):
        self._is_cdata = False
        self._add("close-cdata")

    def _refuse_entity(self, entity, *_):
        raise ValueError(
            "A document must not declare entities, which can be of any size. "
            f"Received: {self._name}, which declares {entity!r:.60}."
        )


def _short(name):
    namespace, _, local = name.rpartition("}")
    return PREFIXES.get(namespace, "") + local


def xml_unescape(raw: str) -> str:
    """Returns the text for characters of XML; what is no reference stays."""
    if "&" not in raw:
        return raw
    return _REFERENCE.sub(_character, raw)


def _character(match):
    if match[3]:
        return _ENTITIES.get(match[3], match[0])
    digits = (match[1] or match[2]).lstrip("0")
    if len(digits) > _MOST_DIGITS:  # In a CDATA section, where expat does not check it.
        return match[0]
    number = int(digits or "0", 16 if match[1] else 10)
    return chr(number) if number <= sys.maxunicode else match[0]


def xml_characters(text: str) -> str:
    """Returns a text with U+FFFD, or nothing for a control, for what XML forbids."""
    return _FORBIDDEN.sub(lambda match: "\ufffd" if match[0] >= "\ud800" else "", text)


def xml_escape(raw: str):
    """Returns a function that escapes text, by the references that the raw characters have."""
    references = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    if ">" in _ANY_TAG.sub("", raw):
        references[">"] = ">"
    for match in _REFERENCE.finditer(raw):
        character = xml_unescape(match[0])
        if len(character) == 1 and len(match[0]) <= _MOST_REFERENCE:
            references.setdefault(character, match[0])
    table = str.maketrans(references)

    def escape(text: str):
        return xml_characters(text).translate(table).replace("]]>", "]]&gt;")

    return escape


def xml_writer(raw: str) -> Write:
    """Returns the `Write` of a segment."""
    return escaping(xml_escape(raw))


def cdata_writer(_raw: str) -> Write:
    """Returns the `Write` of a segment in a CDATA section."""
    return escaping(lambda text: xml_characters(text).replace("]]>", "]]]]><![CDATA[>"))


def xml_attribute_segments(
    text: str, tag: XmlToken, names: Collection[str], line: int
) -> Iterator[Segment]:
    """Yields the segments of the attributes of a tag that have these names and are text."""
    for match in _ATTRIBUTE.finditer(text, tag.start, tag.end):
        value = xml_unescape(match[2][1:-1])
        is_name = _FILE_NAME.fullmatch(value) and "." in value
        if match[1] in names and has_letter(value) and not is_name:
            yield Segment(match.start(2), line, match[2], (value,), _attribute_writer(match[2]))


def _attribute_writer(raw):
    escape, quote = xml_escape(raw), raw[0]
    quoted = "&quot;" if quote == '"' else "&apos;"

    def write(chunks: list[Chunk]):
        text = "".join(escape(chunk.content).replace(quote, quoted) for chunk in chunks)
        return quote + text.replace("\n", "&#10;") + quote

    return write
