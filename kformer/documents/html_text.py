"""HTML: reads the texts of blocks, whose inner tags become codes, and of some attributes.

Up to version 3.13.5, Python's `html.parser` takes quadratic time on unfinished tags, and versions
read broken markup differently. So the tags are found here, in linear time and by the rules of
[HTML](https://html.spec.whatwg.org/multipage/parsing.html), and the tests compare both.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.character_sets import web_codec
from kformer.documents.declared_languages import language_in_translation
from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import PROSE, Chunk, Piece, Role, Segment, SegmentBuilder, escaping

ENCODING_ERRORS = "xmlcharrefreplace"  # What the encoding does not have is a reference.
MOST_LEVELS = 1000  # Of open elements; browsers have 512.
_CHARSET = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]+?encoding\s*=\s*[\"']([\w.:-]+)")
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)")
_IN_TAG = re.compile(r"[^<>=]*+")
_EQUALS = re.compile(r"=\s*+")
_ATTRIBUTE = re.compile(
    r"([^\s\"'<>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'=<>`]++)))?"
)


def _names(text):
    return frozenset(text.split())


_RAW = _names("script style textarea title xmp iframe noembed noframes plaintext")
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_INLINE = _names(
    "a abbr acronym audio b bdi bdo big button canvas cite code data del dfn em embed font i "
    "iframe img input ins kbd label map mark math meter nobr object output picture progress q rb "
    "rp rt ruby s samp slot small source span strike strong sub sup svg time track tt u var video "
    "wbr"
)
_DRAWN = ("svg", "math")  # Elements of another language: nothing in them ends a sentence.
_READINGS = _names("rp rt rtc")
_CODE = _names(
    "code kbd samp var pre script style textarea svg math object embed xmp iframe noembed noframes "
    "plaintext tt listing rp rt rtc"
)
# Elements that end where the tag of another one begins.
_P_ENDS = _names(
    "address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 "
    "h4 "
    "h5 h6 header hr main menu nav ol p pre section table ul"
)
_ENDED_BY = {
    "p": _P_ENDS,
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "option": {"option", "optgroup"},
    "td": {"td", "th", "tr", "tbody"},
    "th": {"td", "th", "tr", "tbody"},
    "tr": {"tr", "tbody"},
}
_KEPT_CLASSES = ("notranslate", "material-icons", "material-symbols")  # Icons by their names.
_LANGUAGES = {"lang", "xml:lang"}
_TRANSLATED = {"alt", "title", "placeholder", "aria-label"}
_NAMES = {"description", "og:title", "og:description", "twitter:title", "twitter:description"}


def declared_encoding(content: bytes) -> str | None:
    """Returns the encoding of a `<meta>` tag or of an XML declaration at the beginning."""
    declared = _XML.match(content) or _CHARSET.search(content[:2048])
    if declared is None:
        return None
    name = declared[1].decode("ascii", "replace").lower()
    codec = web_codec(name) or name
    if codec.startswith("utf-16"):
        return "utf-8"  # The declaration itself is readable.
    if codec == "cp1252":
        try:
            content.decode(codec)
        except UnicodeDecodeError:
            return "latin-1"
    return codec


_XHTML = "http://www.w3.org/1999/xhtml"
_NUMBER = re.compile(r"&#(?:0{9,}+|(?=\d{9}))(\d*+)")
_NO_CHARACTER = 0x110000  # The first number that stands for none.


def unescape(text: str) -> str:
    """Returns the text for characters of HTML, as browsers read them.

    Python's `html.unescape` raises an error for a reference with thousands of digits.
    """
    if "&" not in text:
        return text
    return html.unescape(_NUMBER.sub(_short_reference, text))


def _short_reference(match):
    digits = match[1].lstrip("0")
    return f"&#{digits or 0}" if len(digits) < 9 else f"&#{_NO_CHARACTER}"


class Token(NamedTuple):
    """Text, a tag or something else of a document, and its place.

    Attributes:
        kind: "text", "start", "end" or "other"; "raw" for the content of a script, for instance.
        start, end: Its place.
        name: Name of a tag, in lower case.
        attributes: Place of a tag's attributes.
    """

    kind: str
    start: int
    end: int
    name: str = ""
    attributes: int = 0


_TEMPLATES = (("<%", "%>"), ("<?php", "?>"), ("<?=", "?>"))
_SHOWN_TEMPLATE = re.compile(r"<%=|<%-|<\?=|<\?php\s+echo\b")  # It stands for a text.


def tokens(text: str, is_xml: bool = False) -> Iterator[Token]:
    """Yields the tokens of HTML; joined, they are the text.

    Args:
        is_xml: Whether it is XHTML, where a script may be an empty element, too.
    """
    done = place = 0
    is_xml = text.lstrip("\ufeff").startswith("<?xml") or _XHTML in text[:2048]
    unfinished: set[int] = set()
    while (place := text.find("<", place)) >= 0:
        token = _token_at(text, place, unfinished)
        if token is None:
            place += 1
            continue
        if done < place:
            yield Token("text", done, place)
        yield token
        done = place = token.end
        is_empty = is_xml and text.endswith("/>", token.start, token.end)
        if token.kind == "start" and token.name in _RAW and not is_empty:
            match = _RAW_ENDS[token.name].search(text, place)
            done = place = match.start() if match else len(text)
            if token.end < place:
                yield Token("raw", token.end, place, token.name)
    if done < len(text):
        yield Token("text", done, len(text))


def _token_at(text, place, unfinished):
    match = _TAG_NAME.match(text, place)
    if match:
        end = _tag_end(text, match.end(), unfinished)
        if end is not None:
            kind = "end" if match[1] else "start"
            return Token(kind, place, end, match[2].lower(), match.end())
    if text.startswith("<!--", place):
        end = text.find("-->", place + 4)
        return Token("other", place, len(text) if end < 0 else end + 3)
    for opening, closing in _TEMPLATES:
        if text.startswith(opening, place):
            end = text.find(closing, place + len(opening))
            return Token("other", place, len(text) if end < 0 else end + len(closing))
    if text.startswith(("<!", "<?", "</"), place):
        end = text.find(">", place)
        return Token("other", place, len(text) if end < 0 else end + 1)
    return None


def _tag_end(text, place, unfinished):
    """Returns where the tag ends whose name ends at a place, or None if it does not end."""
    signs = []
    while True:
        place = _IN_TAG.match(text, place).end()
        mark = text[place : place + 1]
        if mark == ">":
            return place + 1
        if mark != "=" or place in unfinished:
            unfinished.update(signs)
            return None
        signs.append(place)
        place = _EQUALS.match(text, place).end()
        if text[place : place + 1] in ("'", '"'):
            closing = text.find(text[place], place + 1)
            place = place if closing < 0 else closing + 1


def attributes_in(text: str, token: Token) -> dict[str, tuple[str, int, int]]:
    """Returns the value of each attribute of a tag, unescaped, and its place with its quotes."""
    values: dict[str, tuple[str, int, int]] = {}
    for match in _ATTRIBUTE.finditer(text, token.attributes, token.end - 1):
        number = next((n for n in (2, 3, 4) if match[n] is not None), 0)
        value = unescape(match[number]) if number else ""
        quotes = number in (2, 3)
        span = match.span(number) if number else (match.end(), match.end())
        values.setdefault(match[1].lower(), (value, span[0] - quotes, span[1] + quotes))
    return values


class _Element(NamedTuple):
    name: str
    is_translated: bool


class _HtmlReader:
    """Turns the tokens of a document into segments, element by element."""

    def __init__(self, text: str, options: ReadOptions):
        self._text, self._options = text, options
        self._is_xml = _is_xhtml(text)
        write = xhtml_writer if self._is_xml else writer
        self._builder = SegmentBuilder(text, unescape, write, collapse=True, syntax=PROSE)
        self._open: list[_Element] = []
        self._counts: dict[str, int] = {}
        self._last_start = 0  # Where the last tag ended of an element of the page's own.

    def pieces(self) -> Iterator[Piece]:
        for token in tokens(self._text, self._is_xml):
            self._take(token)
            yield from self._builder.take()
        yield from self._builder.finish()

    @property
    def _is_translated(self):
        return not self._open or self._open[-1].is_translated

    def _take(self, token):
        if token.kind in ("text", "raw"):
            self._take_text(token)
        elif token.kind == "other":
            is_shown = _SHOWN_TEMPLATE.match(self._text, token.start)
            shown = self._text[token.start : token.end] if is_shown else ""
            self._builder.hidden(token.start, token.end, shown)
        elif token.kind == "start":
            self._take_start(token)
        else:
            was_translated = self._is_translated
            self._close(token.name)
            role = Role.CLOSE if was_translated and self._is_translated else None
            self._take_tag(token, role, ())

    def _take_text(self, token):
        if self._is_translated:
            self._builder.text(token.start, token.end)
        else:
            shown = unescape(self._text[token.start : token.end])
            is_shown = token.kind == "text" and self._open[-1].name not in _READINGS
            is_shown = is_shown and not self._counts.get("svg")
            self._builder.hidden(token.start, token.end, shown if is_shown else "")

    def _take_start(self, token):
        self._end_implied(token.name)
        values = attributes_in(self._text, token)
        was_translated = self._is_translated
        is_translated = self._translates(token.name, values)
        is_alone = token.name in _VOID or self._text.endswith("/>", token.start, token.end)
        if not is_alone:
            self._push(_Element(token.name, is_translated))
        segments = self._attribute_segments(token, values) if is_translated else []
        role = None
        if was_translated and is_translated:
            role = Role.ALONE if is_alone else Role.OPEN
        self._take_tag(token, role, segments)

    def _take_tag(self, token, role, segments):
        """Adds a tag: as a code in a line of text, or between two segments."""
        is_icon = self._is_empty(token)
        if any(map(self._counts.get, _DRAWN)):
            self._builder.hidden(token.start, token.end)
        elif token.name not in _INLINE and not is_icon:
            self._builder.end_segment()
            self._builder.emit(segments)
        elif role is None:
            self._builder.hidden(token.start, token.end)
        else:
            self._builder.code(token.start, token.end, role, token.name, segments=segments)

    def _is_empty(self, token):
        """Returns whether a tag is of an element of the page's own without content: an icon."""
        if "-" not in token.name:
            return False
        if token.kind == "end":
            return self._last_start == token.start
        self._last_start = token.end
        return self._text.startswith(f"</{token.name}", token.end)

    def _translates(self, name, values):
        """Returns whether the content of an element is translated."""
        classes = values.get("class", ("",))[0].split()
        if name in _CODE or any(each.startswith(_KEPT_CLASSES) for each in classes):
            return False
        translate = values.get("translate", (None,))[0]
        if translate is None:
            return self._is_translated
        return translate.strip().lower() != "no"

    def _attribute_segments(self, token, values):
        names = _TRANSLATED & values.keys()
        if token.name == "meta" and values.keys() & {"name", "property"}:
            name = values.get("name", values.get("property", ("",)))[0]
            names |= {"content"} if name.strip().lower() in _NAMES else set()
        elif token.name == "input":
            kind = values.get("type", ("",))[0].strip().lower()
            names |= {"value"} & values.keys() if kind in ("submit", "button", "reset") else set()
        names |= _LANGUAGES
        for name in sorted(names & values.keys(), key=lambda name: values[name][1]):
            value, start, end = values[name]
            if name in _LANGUAGES:
                language = language_in_translation(value, self._options)
                if language != value:
                    yield _changed(
                        start, self._builder.line(start), self._text[start:end], language
                    )
            elif any(character.isalpha() for character in value):
                raw = self._text[start:end]
                line = self._builder.line(start)
                write = attribute_writer(raw, "&#160;" if self._is_xml else "&nbsp;")
                yield Segment(start, line, raw, (value,), write)

    def _push(self, element):
        if len(self._open) >= MOST_LEVELS:
            raise ValueError(
                f"A document must have at most {MOST_LEVELS:,} elements inside each other. "
                f"Received: {self._options.name}."
            )
        self._open.append(element)
        self._counts[element.name] = self._counts.get(element.name, 0) + 1

    def _pop(self):
        element = self._open.pop()
        self._counts[element.name] -= 1
        return element

    def _close(self, name):
        if self._counts.get(name):
            while self._pop().name != name:
                pass

    def _end_implied(self, name):
        while self._open and name in _ENDED_BY.get(self._open[-1].name, ()):
            self._pop()


def _changed(place, line, raw, value):
    """Returns a segment without text for an attribute that has another value in a translation."""
    quote = raw[0] if raw[:1] in ("'", '"') else ""
    return Segment(place, line, raw, (), lambda _: f"{quote}{value}{quote}", inserted=True)


_REFERENCE = re.compile(r"&#?\w{1,40};")  # A longer one would make a long text of a short one.
_ANY_TAG = re.compile("<[^<>]*>")
_HEAD = 1000  # Characters in which a document says that it is XHTML.


def writer(raw: str, space: str = "&nbsp;"):
    """Returns the `Write` of a segment, which writes characters as references if `raw` does.

    Args:
        raw: The characters of the segment.
        space: The reference of a no-break space.
    """
    references = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": space}
    if ">" in _ANY_TAG.sub("", raw):
        del references[">"]
    for match in _REFERENCE.finditer(raw):
        character = unescape(match[0])
        if len(character) == 1:
            references.setdefault(character, match[0])
    table = str.maketrans(references)
    return escaping(lambda text: text.translate(table))


def xhtml_writer(raw: str):
    """Returns the same for XHTML, where names of characters may not be known."""
    return writer(raw, "&#160;")


def _is_xhtml(text):
    head = text[:_HEAD].lstrip("\ufeff")
    return head.startswith("<?xml") or "http://www.w3.org/1999/xhtml" in head


def attribute_writer(raw: str, space: str):
    """Returns the `Write` of an attribute's value: in its quotes, or in new ones."""
    quote = raw[0] if raw[:1] in ("'", '"') else '"'
    name = "&quot;" if quote == '"' else "&#39;"
    inner = writer(raw, space)

    def write(chunks: list[Chunk]):
        return quote + "".join(inner([chunk]).replace(quote, name) for chunk in chunks) + quote

    return write


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of an HTML page."""
    return _HtmlReader(text, options).pieces()
