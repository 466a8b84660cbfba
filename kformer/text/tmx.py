"""TMX, the exchange format of translation memories ([TMX 1.4b](https://www.gala-global.org/)).

A `<tu>` has a `<tuv xml:lang="de">` for each language, which has a `<seg>` with the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from kformer.text.long_lines import LONGEST, TOO_LONG, is_too_long
from kformer.text.text_files import opened

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_SPACE = re.compile("[ \t\r\n]+")
_BLOCK = 2**16  # Bytes that are parsed at once.
_LONGEST_TAG = 2**22  # Bytes: the parser holds them, and reads them again for each block.
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # Elements that hold codes of a layout, not text.


def read_tmx(file: str | Path, languages: Sequence[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a TMX file, plain or compressed. Codes of a layout are left out.

    A segment of more than 1,048,576 bytes is not read: it is `kformer.text.long_lines.TOO_LONG`.
    """
    name, has_pairs = repr(str(file)), False
    seen: dict[str, None] = {}
    with opened(file) as content:
        for texts in _units(content, name):
            seen |= dict.fromkeys(texts)
            if languages is None and len(texts) > 1:
                languages = [*texts][:2]
            pair = [_text_in(texts, language) for language in languages or ()]
            if pair and None not in pair:
                has_pairs = True
                yield tuple(pair)
    if not has_pairs:
        raise ValueError(
            "A TMX file must have units with both languages; `columns` chooses them. Received: "
            f"{name}, with the languages {', '.join(map(repr, seen)) or 'of none'}, for "
            f"columns={languages}."
        )


def _units(content, name):
    """Yields the texts of each unit, by language in lower case; messages name the file."""
    units = _Units()
    parser, waiting = ElementTree.XMLParser(target=units), 0
    block = None
    while block != b"":
        block, before = content.read(_BLOCK), units.events
        try:
            if block:
                parser.feed(block)
            else:
                parser.close()
        except (ElementTree.ParseError, LookupError, ValueError) as error:  # Also of an encoding.
            raise _malformed(name, error) from error
        waiting = waiting + len(block) if units.events == before else 0
        if waiting > _LONGEST_TAG:
            raise _malformed(name, f"a tag of more than {_LONGEST_TAG:,} bytes")
        yield from units.texts
        units.texts.clear()


def _malformed(name, why):
    return ValueError(f"A TMX file must be well-formed XML. Received: {name} ({why}).")


class _Units:
    """Collects the texts of units from the events of an XML parser.

    Attributes:
        texts: The texts of each unit, by language.
        events: Number of tags and texts that were read.
    """

    def __init__(self):
        self.texts: list[dict[str, str]] = []
        self.events = 0
        self._above: list[str] = []  # Tags.
        self._codes = 0  # Number of these that hold codes.
        self._texts: dict[str, str] = {}  # Of a unit,
        self._language = ""  # of a variant,
        self._parts: list[str] | None = None  # and of its segment; None outside of segments.
        self._size = 0

    def start(self, tag: str, attributes: Mapping[str, str]):
        self.events += 1
        tag = _name(tag)
        if tag == "tu":
            self._texts = {}
        elif tag == "tuv":
            self._language = (attributes.get(_LANGUAGE) or attributes.get("lang") or "").lower()
        elif tag == "seg" and self._above[-2:] == ["tu", "tuv"]:
            self._parts, self._size = [], 0
        self._codes += tag in _CODES
        self._above.append(tag)

    def data(self, text: str):
        self.events += 1
        if self._parts is not None and not self._codes and self._size <= LONGEST:
            self._parts.append(text)
            self._size += len(text.encode())

    def end(self, _tag: str):
        self.events += 1
        tag = self._above.pop()
        self._codes -= tag in _CODES
        if tag == "seg" and self._parts is not None and self._above[-2:] == ["tu", "tuv"]:
            if self._language:
                text = "".join(self._parts)
                is_long = is_too_long(text)
                text = TOO_LONG if is_long else _SPACE.sub(" ", text).strip(" ")
                self._texts[self._language] = text
            self._parts = None
        elif tag == "tu":
            self.texts.append(self._texts)

    def close(self):
        pass


def _text_in(texts, language):
    language = language.lower()
    variants = (code for code in texts if code.startswith(f"{language}-"))
    return texts.get(language, texts.get(next(variants, None)))


def _name(tag):
    """Returns a tag without its namespace."""
    return tag.rpartition("}")[2]
