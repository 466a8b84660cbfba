"""The contents of documents, by parsers that `kformer.documents` does not use.

`read_pair(name, before, after)` reads a document and its translation. It returns the `Unit`s of
both, paragraph by paragraph and string by string, which `support.document_corpus` compares.
"""

import collections
import dataclasses
import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

GAP = "\ufffc"  # Stands in a text for whatever is no text: an image, a field, code.
LETTER = re.compile(r"[^\W\d_]")

_ADDRESS = (
    r"(?:https?|ftp)://[^\s<>\"'{}|\\^`\ufffc]*[\w/]",
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
)
_TEMPLATE = (r"\{\{[^{}]*\}\}", r"\{%[^{}%]*%\}", r"<%[^<>%]*%>", r"[$%#]\{[^{}]*\}")
_PRINTF = (
    r"(?<![\d%])%(?:\d+\$)?(?:\(\w+\))?[-+#0]*\d*(?:\.\d+)?(?:hh?|ll?|[qjzt])?[diouxXeEfgGcsp@]"
)
_TAG = r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|</?\d+/?>|&(?:#\w+|[A-Za-z]\w*);"
_ICU = (
    r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,",  # The head of a choice,
    r"(?:=\d+|\b(?:zero|one|two|few|many|other|male|female))\s*(?=\{)",  # and its selectors.
)
_BRACE = r"\{[\w.]*(?:![rsa])?(?::[^{}\s]*)?\}"
_MARKDOWN = (
    r"\[\^[^\[\]\s]+\]",
    r"\$\$[^$]+\$\$",
    r"(?<![\w\\$])\$(?=[^\s$])[^$\n]+(?<=\S)\$(?![\d$])",
)


def _names(text):
    return frozenset(text.split())


def _pattern(*alternatives):
    return re.compile("|".join(alternatives), re.DOTALL)


PROSE = _pattern(*_ADDRESS, *_TEMPLATE)
MARKDOWN = _pattern(*_ADDRESS, *_TEMPLATE, *_MARKDOWN)
STRINGS = _pattern(*_ADDRESS, *_TEMPLATE, r"%#@\w+@", _PRINTF, _TAG, _BRACE)
JSON = _pattern(
    *_ADDRESS, *_TEMPLATE, *_ICU, r"\$t\([^()]*\)", r"\$\w+\$", r"\$\d", _PRINTF, _TAG, _BRACE
)
XLIFF = _pattern(*_ADDRESS, *_TEMPLATE, *_ICU, r"%\w+%", _PRINTF, _TAG, _BRACE)
GETTEXT = {  # By the flags of an entry.
    "c-format": _PRINTF.replace("csp", "csSCmp"),
    "php-format": _PRINTF,
    "python-format": _PRINTF,
    "objc-format": _PRINTF,
    "python-brace-format": r"\{[^{}]*\}",
    "qt-format": r"%L?(?:\d+|n)",
}
_RST = (r"(?::[\w:]+:)`[^`]+`", r"``[^`]+``", r"\|\w+\|")


class Unit:
    """A text that is translated by itself, with whatever must stay in it.

    Attributes:
        text: The text, with `GAP` for whatever is no text.
        counts: A counter for each kind of `KINDS`.
        raw: Characters of the document, for people to read.
    """

    KINDS = ("links", "placeholders", "elements", "emphasis", "code", "entries")

    def __init__(self, text: str = "", raw: str = "", pattern: re.Pattern | None = None):
        self.text = text
        self._raw = raw
        self.counts = {kind: collections.Counter() for kind in self.KINDS}
        if pattern:
            self.find_placeholders(pattern)

    def add(self, kind: str, name: str):
        self.counts[kind][name] += 1

    def find_placeholders(self, pattern: re.Pattern):
        for match in pattern.finditer(self.text):
            self.add("placeholders", match[0])

    @property
    def raw(self) -> str:
        return self._raw if isinstance(self._raw, str) else _readable(self._raw)

    @raw.setter
    def raw(self, value):
        self._raw = value


Pair = tuple[list[Unit], list[Unit]]


def read_pair(name: str, before: bytes, after: bytes) -> Pair:
    """Returns the units of a document and of its translation; their order is the same.

    Args:
        name: Name of the document, whose suffix tells its format.
        before, after: The document, and its translation.

    Raises:
        ValueError: One of them is malformed, or the format has no reader.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in READERS:
        raise ValueError(f"A document must have one of the suffixes {', '.join(READERS)}.")
    read = READERS[suffix]
    try:
        if read in BILINGUAL:
            return read(before, after)
        return read(before), read(after)
    except (ET.ParseError, zipfile.BadZipFile, OSError, KeyError, LookupError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _decoded(content):
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(encoding)
    declared = re.search(rb"charset\s*=\s*[\"']?([\w-]+)|encoding=[\"']([\w-]+)", content[:2048])
    names = [(declared[1] or declared[2]).decode()] if declared else []
    for encoding in (*names, "utf-8"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            pass
    return content.decode("latin-1")


# HTML, which Python's own parser reads.

_BLOCKS = _names(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset "
    "figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html legend li "
    "link main menu meta nav ol optgroup option p pre section script select style summary table "
    "tbody td template textarea tfoot th thead title tr ul"
)
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_CODE = _names("code kbd samp var pre script style svg math textarea iframe noembed tt xmp object")
_EMPHASIS = _names("b strong i em u s mark small sub sup span font cite q abbr del ins")


@dataclasses.dataclass
class _Span:
    """An open element, and whether it has text and letters so far."""

    name: str
    target: str | None = None
    has_text: bool = False
    has_letters: bool = False


class _HtmlUnits(HTMLParser):
    """Divides HTML at the tags of blocks."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.units = [Unit()]
        self._open: list[_Span] = []
        self._code: list[str] = []  # Open elements, from the first one that is not translated.
        self._code_text: list[str] = []

    @property
    def _unit(self):
        return self.units[-1]

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in _BLOCKS and not self._code:
            self.units.append(Unit())
        self._unit.raw += self.get_starttag_text()
        self._unit.add("elements", tag)
        is_alone = tag in _VOID or self.get_starttag_text().endswith("/>")
        untranslated = attributes.get("translate") == "no" or "notranslate" in (
            attributes.get("class") or ""
        )
        if not is_alone and (self._code or tag in _CODE or untranslated):
            self._code.append(tag)
        elif is_alone and not self._code and tag != "wbr":
            self._unit.text += " " if tag == "br" else GAP
        elif not is_alone and tag not in _BLOCKS:
            self._open.append(_Span(tag, attributes.get("href") if tag == "a" else None))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        self._unit.raw += f"</{tag}>"
        self._unit.add("elements", f"/{tag}")
        if tag in self._code:
            while self._code.pop() != tag:
                pass
            if not self._code:
                self._end_code()
        elif any(span.name == tag for span in self._open):
            while self._end_span().name != tag:
                pass
        if tag in _BLOCKS and not self._code:
            self.units.append(Unit())

    def handle_data(self, data):
        self._unit.raw += data
        for span in self._open:
            span.has_text |= bool(data.strip())
            span.has_letters |= bool(LETTER.search(data))
        if self._code:
            self._code_text.append(data)
        else:
            self._unit.text += data

    def _end_code(self):
        self._unit.text += GAP
        if text := "".join(self._code_text).strip():
            self._unit.add("code", text)
        self._code_text = []

    def _end_span(self):
        span = self._open.pop()
        if span.target is not None and span.has_text:
            self._unit.add("links", span.target)
        elif span.name in _EMPHASIS and span.has_letters:
            self._unit.add("emphasis", span.name)
        return span

    def close(self):
        super().close()
        if self._code_text:
            self._end_code()
        while self._open:
            self._end_span()
        for unit in self.units:
            unit.text = re.sub(r"[ \t\r\n\f]+", " ", unit.text)
            unit.find_placeholders(PROSE)


def html_units(content: bytes | str) -> list[Unit]:
    """Returns the texts of a page between the tags of blocks."""
    parser = _HtmlUnits()
    parser.feed(content if isinstance(content, str) else _decoded(content))
    parser.close()
    return parser.units


# Markdown, by markdown-it.

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(
    r"^[ \t]*(?::::+[ \t]*\{?\w*|!!!\+?[ \t]+\w+|\?\?\?\+?[ \t]+\w+|=== )", re.M
)


def markdown_units(content: bytes) -> list[Unit]:
    """Returns the paragraphs, headings, items and cells of a document."""
    from markdown_it import MarkdownIt

    text = _decoded(content)
    frame = Unit(raw="(blocks of the document)")
    if front := _FRONT_MATTER.match(text):
        for key in re.findall(r"^[\w-]+:", front[1], re.M):
            frame.add("elements", key)
        text = text[front.end() :]
    units = [frame]
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    for token in blocks:
        if token.type == "inline":
            units.append(_markdown_unit(token))
        elif token.type == "html_block":
            units += html_units(token.content)
        else:
            frame.add("elements", f"{token.type} {token.tag}")
            if token.type in ("fence", "code_block"):
                frame.add("code", token.content.strip())
    if not any(token.type == "fence" for token in blocks):
        for match in _DIRECTIVE.finditer(text):
            frame.add("elements", match[0].strip())
    return units


def _markdown_unit(token):
    unit, spans = Unit(raw=token.content), []
    for child in token.children:
        if child.type in ("text", "text_special"):
            unit.text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            unit.text += " "
        elif child.type == "code_inline":
            unit.text += GAP
            unit.add("code", child.content)
        elif child.type == "image":
            unit.text += GAP
            unit.add("links", f"![]({child.attrs['src']})")
        elif child.type == "html_inline":
            tag = re.match(r"</?[\w-]+", child.content)
            unit.add("elements", tag[0] if tag else child.content)
            unit.text += " " if tag and tag[0] == "<br" else ""
        elif child.nesting == 1:
            spans.append(_Span(child.type, child.attrs.get("href")))
        elif child.nesting == -1:
            _end_markdown_span(unit, spans.pop())
        if child.nesting == 0 and child.content.strip():
            for span in spans:
                span.has_text = True
                span.has_letters |= bool(LETTER.search(child.content))
    unit.find_placeholders(MARKDOWN)
    return unit


def _end_markdown_span(unit, span):
    if span.name == "link_open":
        if span.has_text:
            unit.add("links", span.target)
    elif span.has_letters:
        unit.add("emphasis", span.name.removesuffix("_open"))


# Kinds of XML.


@dataclasses.dataclass(frozen=True)
class _XmlRules:
    """Local names of the elements of a format.

    Attributes:
        units: Elements whose content is a text.
        texts: The only elements with text in them; empty for all.
        uncounted: Elements that a program may merge or divide.
        ignored: Elements that are in no text, with all that they contain.
        spaces, code: Elements that stand for white space, or whose text must stay.
        emphasis: Elements whose text looks different.
        pattern: The placeholders of the format.
    """

    units: frozenset[str]
    pattern: re.Pattern
    texts: frozenset[str] = frozenset()
    uncounted: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    emphasis: frozenset[str] = frozenset()
    transparent: frozenset[str] = frozenset()


_WORD = _XmlRules(
    _names("p"),
    PROSE,
    texts=_names("t"),
    uncounted=_names("r t proofErr lastRenderedPageBreak"),
    ignored=_names("rPr pPr delText moveFrom rt instrText del comment sectPr"),
    spaces=_names("tab br cr"),
    code=_names("oMath"),
    transparent=_names("hyperlink ins smartTag sdt sdtContent ruby rubyBase"),
)
_SLIDE = dataclasses.replace(_WORD, code=_names("oMath fld"))
_OPEN = _XmlRules(
    _names("p h"),
    PROSE,
    ignored=_names("annotation tracked-changes"),
    spaces=_names("s tab line-break"),
    code=_names(
        "page-number page-count date time author-name author-initials title subject file-name "
        "reference-ref bookmark-ref sequence-ref note-ref note-citation sequence placeholder "
        "bibliography-mark database-display chapter"
    ),
    emphasis=_names("span"),
    transparent=_names("a ruby ruby-base meta"),
)
_ANDROID = _XmlRules(
    _names("string item"), STRINGS, code=_names("g"), emphasis=_names("b i u font")
)
_IN_XLIFF = _XmlRules(
    _names("source target"),
    XLIFF,
    code=_names("bpt ept ph it ut sub"),
    emphasis=_names("g pc"),
    transparent=_names("mrk bx ex sc ec"),
)
_PAGE_FIELDS = re.compile(
    r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|PAGEREF|REF|DATE|TIME|CREATEDATE|SAVEDATE|PRINTDATE|FILENAME|"
    r"MERGEFIELD|SEQ|NUMWORDS|AUTHOR|DOCPROPERTY|STYLEREF)\b"
)


def _local(element):
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_UNREAD = re.compile(  # Characters of XML that hide a text from people.
    r' xmlns:\w+="[^"]*"|(?<=[</ ])ns\d+:|<(\w+:)?pPr\b.*?</(\w+:)?pPr>|<(\w+:)?proofErr[^>]*>'
    r'| (\w+:)?(?:rsid\w*|paraId|textId|space|history)="[^"]*"'
    r"|<(\w+:)?(?:rFonts|sz|szCs|lang|color|noProof|iCs|bCs)\b[^>]*>",
    re.DOTALL,
)


def _readable(element):
    text = _UNREAD.sub("", ET.tostring(element, encoding="unicode"))
    return re.sub(
        r"<(ns\d+:)?rPr>\s*</(ns\d+:)?rPr>|<rPr />", "", re.sub(r"(?<=[</ ])ns\d+:", "", text)
    )


def _attribute(element, name):
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), None)


class _XmlUnits:
    """Walks through a tree of XML; each element of `rules.units` is a unit of its own."""

    def __init__(self, rules: _XmlRules):
        self.rules = rules
        self.frame = Unit(raw="(outside of the texts)")
        self.units = [self.frame]
        self._spans: list[_Span] = []
        self._formats: dict[str, bool] = {}  # Of runs of Word, and whether they have letters.
        self._code: list[str] | None = None  # Texts that must stay, in an element that has them.
        self._field = ""  # The instruction of a field of Word,
        self._in_result = False  # in whose result the walk is.

    def read(self, root: ET.Element) -> list[Unit]:
        self._visit(root, self.frame)
        for unit in self.units:
            unit.find_placeholders(self.rules.pattern)
        return self.units

    def _visit(self, element, unit):
        name, rules = _local(element), self.rules
        if not name:
            return
        if name not in rules.uncounted:
            unit.add("elements", name)
        if name in rules.ignored:
            self._visit_ignored(element, unit, name)
            return
        outer = None
        if name in rules.units and not (unit is not self.frame and name == "g"):
            unit.text += GAP
            outer = self._spans, self._formats, self._code, self._field, self._in_result
            self._spans, self._formats, self._code = [], {}, None
            self._field, self._in_result = "", False
            unit = Unit(raw=element)
            self.units.append(unit)
        if name == "fldChar":
            self._take_field_mark(element, unit)
        starts_code = (name in rules.code or self._is_page_field(element)) and self._code is None
        if starts_code:
            self._code = []
        span = self._span(element, name)
        if span:
            self._spans.append(span)
        if name in rules.spaces:
            self._take_text(" ", unit)
        elif name == "noBreakHyphen":
            self._take_text("-", unit)
        if not rules.texts or name in rules.texts:
            self._take_text(element.text or "", unit)
        for child in element:
            self._visit(child, unit)
            if not rules.texts and unit is not self.frame:
                self._take_text(child.tail or "", unit)
        if span:
            self._end_span(self._spans.pop(), unit)
        if starts_code:
            self._end_code(unit)
        elif (
            outer is None
            and len(element) == 0
            and not element.text
            and name not in rules.transparent
        ):
            self._take_empty(name, unit)
        if outer is not None:
            for format_name, has_letters in self._formats.items():
                if has_letters:
                    unit.add("emphasis", format_name)
            self._spans, self._formats, self._code, self._field, self._in_result = outer

    def _take_empty(self, name, unit):
        if self.rules.texts:
            if name in (
                "drawing",
                "sym",
                "footnoteReference",
                "endnoteReference",
                "pict",
                "object",
            ):
                unit.text += GAP
        elif name not in self.rules.spaces:
            unit.text += GAP

    def _visit_ignored(self, element, unit, name):
        """Counts what an element contains; what must stay in it is code."""
        if name == "instrText":
            self._field += element.text or ""
        text = "".join(element.itertext()).strip()
        if name in ("delText", "moveFrom", "instrText", "del", "rt") and text:
            unit.add("code", text)
        if name not in ("rPr", "pPr"):
            formats = {part for run in element.iter("{*}rPr") for part in run.iter()}
            for child in element.iter():
                if child not in formats and _local(child) not in self.rules.uncounted:
                    unit.add("elements", _local(child))

    def _is_page_field(self, element):
        instruction = _attribute(element, "instr") if _local(element) == "fldSimple" else None
        return bool(instruction and _PAGE_FIELDS.match(instruction))

    def _take_field_mark(self, element, unit):
        kind = _attribute(element, "fldCharType")
        if kind == "begin":
            self._field, self._in_result = "", False
        elif kind == "separate" and _PAGE_FIELDS.match(self._field) and self._code is None:
            self._code, self._in_result = [], True
        elif kind == "end" and self._in_result:
            self._in_result = False
            self._end_code(unit)

    def _span(self, element, name):
        if name == "hyperlink":
            return _Span(name, _attribute(element, "id") or _attribute(element, "anchor") or "")
        if name == "a" and _attribute(element, "href") is not None:
            return _Span(name, _attribute(element, "href"))
        if name == "r" and self.rules.texts:
            click = element.find(".//{*}rPr/{*}hlinkClick")
            if click is not None:
                return _Span("hlinkClick", _attribute(click, "id") or "")
            return _Span(f"r {_run_format(element)}")
        return _Span(name) if name in self.rules.emphasis else None

    def _end_span(self, span, unit):
        if span.target is not None:
            if span.has_text:
                unit.add("links", span.target)
        elif span.name.startswith("r "):
            self._formats[span.name] = self._formats.get(span.name, False) or span.has_letters
        elif span.has_letters:
            unit.add("emphasis", span.name)

    def _take_text(self, text, unit):
        for span in self._spans:
            span.has_text |= bool(text.strip())
            if self._code is None:
                span.has_letters |= bool(LETTER.search(text))
        if self._code is not None:
            self._code.append(text)
        else:
            unit.text += text

    def _end_code(self, unit):
        code, self._code = self._code or [], None
        unit.text += GAP
        if text := "".join(code).strip():
            unit.add("code", text)


_UNSEEN = _names("lang rFonts noProof rStyle szCs bCs iCs webHidden color sz kern spacing")


def _run_format(run):
    """Returns the names of a run's properties that anyone sees, such as "b i"."""
    properties = run.find("{*}rPr")
    if properties is None:
        return ""
    names = {_local(child) for child in properties} - _UNSEEN
    marks = {key for key in ("b", "i", "u") if properties.get(key) not in (None, "0", "none")}
    return " ".join(sorted(names | marks))


def _xml_units(content, rules):
    return _XmlUnits(rules).read(ET.fromstring(content))


def _archive_units(content, members, rules):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        units = [Unit(raw="(members of the archive)")]
        for name in names:
            units[0].add("elements", name)
        for name in sorted(filter(re.compile(members).fullmatch, names)):
            units += _xml_units(archive.read(name), rules)
    return units


def word_units(content: bytes) -> list[Unit]:
    """Returns the paragraphs of a docx."""
    return _archive_units(
        content, r"word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes)\.xml", _WORD
    )


def slide_units(content: bytes) -> list[Unit]:
    """Returns the paragraphs of the slides and notes of a pptx."""
    return _archive_units(content, r"ppt/(?:slides|notesSlides)/\w+\.xml", _SLIDE)


def open_units(content: bytes) -> list[Unit]:
    """Returns the paragraphs and headings of an odt."""
    return _archive_units(content, r"content\.xml|styles\.xml", _OPEN)


_ANDROID_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def android_units(content: bytes) -> list[Unit]:
    """Returns the strings and items of an Android resource."""
    units = _xml_units(content, _ANDROID)
    for unit in units:
        unit.text = _ANDROID_ESCAPE.sub(_unescaped, unit.text)
    return units


def _unescaped(match):
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] in "nt" else match[2]


# Texts of programs with a place for the translation.


def xliff_units(before: bytes, after: bytes) -> Pair:
    """Returns each source without a target, and its target in the translation."""
    old, new = ET.fromstring(before), ET.fromstring(after)
    units = [Unit(raw="(elements)"), Unit(raw="(elements)")]
    for unit, root in zip(units, (old, new), strict=True):
        for element in _outside_targets(root):
            unit.add("elements", _local(element))
    pair = [units[0]], [units[1]]
    old_entries, new_entries = list(_xliff_entries(old)), list(_xliff_entries(new))
    if len(old_entries) != len(new_entries):
        raise ValueError("the translation has another number of units")
    for (source, target, is_translated), (_, new_target, _) in zip(
        old_entries, new_entries, strict=True
    ):
        if source is None or not is_translated:
            continue
        is_open = target is None or not ("".join(target.itertext()).strip() or len(target))
        reference = _xliff_unit(source if is_open else target)
        translation = _xliff_unit(new_target) if new_target is not None else Unit()
        if is_open and new_target is None and not LETTER.search(reference.text):
            continue
        if is_open and LETTER.search(reference.text):
            reference.add("entries", "target")
            if translation.text.strip(GAP + " \n\t"):
                translation.add("entries", "target")
        pair[0].append(reference)
        pair[1].append(translation)
    return pair


def _outside_targets(element):
    yield element
    for child in element:
        if _local(child) != "target" and isinstance(child.tag, str):
            yield from _outside_targets(child)


def _xliff_entries(element, is_translated=True):
    is_translated = {"no": False, "yes": True}.get(element.get("translate", ""), is_translated)
    if _local(element) in ("trans-unit", "segment"):
        children = {_local(child): child for child in element}
        yield children.get("source"), children.get("target"), is_translated
        return
    for child in element:
        yield from _xliff_entries(child, is_translated)


def _xliff_unit(element):
    _, unit, *_ = _XmlUnits(_IN_XLIFF).read(element)
    unit.counts["elements"] = collections.Counter(
        f"{_local(child)} {child.get('id') or child.get('startRef')}"
        for child in element.iter()
        if child is not element and isinstance(child.tag, str)
    )
    for name, text in _xliff_pairs(element):
        if LETTER.search(text):
            unit.add("emphasis", name)
    return unit


def _xliff_pairs(element):
    """Yields the name of each pair of codes, such as `<bx>` and `<ex>`, and the text between."""
    opened: dict[str, list[str]] = {}
    for child in element.iter():
        name, code = _local(child), child.get("id", "")
        key = child.get("rid") or child.get("startRef") or code
        if name in ("bx", "bpt", "sc"):
            opened[key] = []
        elif name in ("ex", "ept", "ec") and key in opened:
            yield key, "".join(opened.pop(key))
        elif name == "x" and code.startswith("START_"):
            opened[code.removeprefix("START_")] = []
        elif name == "x" and (key := code.removeprefix("CLOSE_")) in opened:
            yield key, "".join(opened.pop(key))
        own = "" if name in _IN_XLIFF.code else child.text or ""
        tail = child.tail or "" if child is not element else ""
        for texts in opened.values():
            texts += [own, tail]


def gettext_units(before: bytes, after: bytes) -> Pair:
    """Returns the texts of each message without a translation, and its translations."""
    import polib

    old, new = polib.pofile(_decoded_po(before)), polib.pofile(_decoded_po(after))
    units = [Unit(raw="(messages)"), Unit(raw="(messages)")]
    for unit, catalog in zip(units, (old, new), strict=True):
        for entry in catalog:
            unit.add("elements", f"{entry.msgctxt} {entry.msgid}")
    pair = [units[0]], [units[1]]
    for entry, translated in zip(old, new, strict=False):
        pattern = _gettext_pattern(entry)
        if entry.obsolete:
            continue
        if entry.msgid_plural:
            forms = sorted(translated.msgstr_plural.items())
            sources = [entry.msgid, *[entry.msgid_plural] * (len(forms) - 1)]
            texts = [form for _, form in forms]
            is_open = not any(entry.msgstr_plural.values())
            if len(forms) == 1 and is_open:
                sources = [_nearer(texts[0], entry.msgid_plural, entry.msgid)]
        else:
            sources, texts, is_open = [entry.msgid], [translated.msgstr], not entry.msgstr
        if not is_open:
            sources = list(entry.msgstr_plural.values()) or [entry.msgstr]
        for source, text in zip(sources, texts, strict=False):
            reference, translation = Unit(source, source, pattern), Unit(text, text, pattern)
            if is_open and LETTER.search(source):
                reference.add("entries", "msgstr")
                if text.strip():
                    translation.add("entries", "msgstr")
            pair[0].append(reference)
            pair[1].append(translation)
    return pair


def _nearer(text, plural, singular):
    """Returns the source of a language's only form, which is made of either."""
    return (
        singular
        if text and abs(len(text) - len(singular)) < abs(len(text) - len(plural))
        else plural
    )


def _decoded_po(content):
    match = re.search(rb"charset=([\w-]+)", content[:4000])
    encoding = match[1].decode() if match and match[1] != b"CHARSET" else "utf-8"
    return content.decode(encoding, "replace").removeprefix("\ufeff")


def _gettext_pattern(entry):
    if any(flag.startswith("no-") for flag in entry.flags):
        return _pattern(*_ADDRESS, _TAG, *_RST)
    known = [GETTEXT[flag] for flag in entry.flags if flag in GETTEXT]
    return _pattern(*_ADDRESS, *_TEMPLATE, *_RST, _TAG, *(known or [_PRINTF, r"\{\w+\}"]))


def catalog_units(before: bytes, after: bytes) -> Pair:
    """Returns the source of each string of an xcstrings file, and its new localization."""
    old, new = json.loads(_decoded(before)), json.loads(_decoded(after))
    pair: Pair = ([Unit(raw="(keys)")], [Unit(raw="(keys)")])
    for units, catalog in zip(pair, (old, new), strict=True):
        for key in catalog["strings"]:
            units[0].add("elements", key)
    for key, entry in old["strings"].items():
        localizations = entry.get("localizations", {})
        translated = new["strings"][key].get("localizations", {})
        source = localizations.get(old["sourceLanguage"])
        leaves = dict(_leaves(source)) if source else {("stringUnit", "value"): key}
        new_languages = translated.keys() - localizations.keys()
        for language, localization in localizations.items():
            pair[0][0].add("code", f"{key} {language} {localization}")
            pair[1][0].add("code", f"{key} {language} {translated.get(language)}")
        for language in new_languages:
            for path, text in _leaves(translated[language]):
                reference = leaves.get(path) or _other_form(leaves, path, key)
                pair[0].append(Unit(reference, reference, STRINGS))
                pair[1].append(Unit(text, text, STRINGS))
                if LETTER.search(reference):
                    pair[0][-1].add("entries", "value")
                    if text.strip():
                        pair[1][-1].add("entries", "value")
    return pair


def _leaves(node, path=()):
    for key, value in node.items() if isinstance(node, dict) else ():
        if key == "value" and isinstance(value, str):
            yield (*path, key), value
        else:
            yield from _leaves(value, (*path, key))


def _other_form(leaves, path, key):
    """Returns the source of a form of a plural that the source does not have."""
    near = [text for source_path, text in leaves.items() if source_path[:2] == path[:2]]
    return next(reversed(near), key)


# Other texts of programs, and subtitles.


def json_units(content: bytes) -> list[Unit]:
    """Returns the strings of a JSON file, and whatever else it has as code."""
    data = json.loads(_decoded(content))
    frame = Unit(raw="(keys and values)")
    is_chrome = (
        isinstance(data, dict)
        and bool(data)
        and all(isinstance(value, dict) and "message" in value for value in data.values())
    )
    units = [frame]
    for path, value in _values(data):
        name = "/".join(map(str, path))
        frame.add("elements", name)
        is_text = isinstance(value, str) and not any(str(key).startswith("@") for key in path)
        if is_text and (not is_chrome or path[1:] == ("message",)):
            units.append(Unit(value, value, JSON))
        else:
            frame.add("code", f"{name}: {value}")
    return units


def _values(node, path=()) -> Iterator[tuple[tuple, object]]:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from _values(value, (*path, key))
        else:
            yield (*path, key), value


_STRINGS_TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>[\w.-]+)|(?P<sign>[=;])",
    re.DOTALL,
)


def apple_units(content: bytes) -> list[Unit]:
    """Returns the values of a `.strings` file."""
    frame = Unit(raw="(keys)")
    units, is_value = [frame], False
    for match in _STRINGS_TOKEN.finditer(_decoded(content)):
        if match["sign"]:
            is_value = match["sign"] == "="
            continue
        text = match["quoted"] if match["quoted"] is not None else match["bare"]
        if text is None:
            continue
        if is_value:
            value = text.replace("\\n", " ").replace('\\"', '"')
            units.append(Unit(value, text, STRINGS))
        else:
            frame.add("elements", text)
    return units


_TIMES = re.compile(r"^.*-->.*$", re.M)
_CUE_MARK = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")


def subtitle_units(content: bytes) -> list[Unit]:
    """Returns all cues as a single text, because a sentence may go over several of them."""
    text = _decoded(content).replace("\r\n", "\n").replace("\r", "\n")
    unit = Unit(raw=text)
    for block in re.split(r"\n[ \t]*\n", text):
        times = _TIMES.search(block)
        if times:
            unit.add("elements", times[0].strip())
            cue = block[times.end() :]
            for mark in _CUE_MARK.findall(cue):
                unit.add("elements", mark)
            cue = _CUE_MARK.sub("", cue)
            unit.text += f"{cue} "
            if LETTER.search(cue):
                unit.add("entries", times[0].strip())
        elif block.strip():
            unit.add("code", block.strip())
    return [unit]


Read = Callable[..., list[Unit] | Pair]
READERS: dict[str, Read] = {
    ".docx": word_units,
    ".odt": open_units,
    ".pptx": slide_units,
    ".html": html_units,
    ".htm": html_units,
    ".xhtml": html_units,
    ".md": markdown_units,
    ".markdown": markdown_units,
    ".po": gettext_units,
    ".pot": gettext_units,
    ".xlf": xliff_units,
    ".xliff": xliff_units,
    ".xml": android_units,
    ".strings": apple_units,
    ".xcstrings": catalog_units,
    ".json": json_units,
    ".arb": json_units,
    ".srt": subtitle_units,
    ".vtt": subtitle_units,
}
BILINGUAL = {xliff_units, gettext_units, catalog_units}
