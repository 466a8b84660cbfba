"""The texts of docx, pptx, odt and Android's resources."""

import dataclasses
import functools
import io
import re
import xml.etree.ElementTree as ET
import zipfile

from support.document_contents.placeholder_patterns import PROSE, STRINGS, XLIFF
from support.document_contents.units import GAP, LETTER, Span, Unit, names


@dataclasses.dataclass(frozen=True)
class XmlRules:
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


_WORD = XmlRules(
    names("p"),
    PROSE,
    texts=names("t"),
    uncounted=names("r t proofErr lastRenderedPageBreak"),
    ignored=names("rPr pPr delText moveFrom rt instrText del comment sectPr"),
    spaces=names("tab br cr"),
    code=names("oMath"),
    transparent=names("hyperlink ins smartTag sdt sdtContent ruby rubyBase"),
)
_SLIDE = dataclasses.replace(_WORD, code=names("oMath fld"))
_OPEN = XmlRules(
    names("p h"),
    PROSE,
    ignored=names("annotation tracked-changes"),
    spaces=names("s tab line-break"),
    code=names(
        "page-number page-count date time author-name author-initials title subject file-name "
        "reference-ref bookmark-ref sequence-ref note-ref note-citation sequence placeholder "
        "bibliography-mark database-display chapter"
    ),
    emphasis=names("span"),
    transparent=names("a ruby ruby-base meta"),
)
_ANDROID = XmlRules(names("string item"), STRINGS, code=names("g"), emphasis=names("b i u font"))
IN_XLIFF = XmlRules(
    names("source target"),
    XLIFF,
    code=names("bpt ept ph it ut sub"),
    emphasis=names("g pc"),
    transparent=names("mrk bx ex sc ec"),
)
_PAGE_FIELDS = re.compile(
    r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|PAGEREF|REF|DATE|TIME|CREATEDATE|SAVEDATE|PRINTDATE|FILENAME|"
    r"MERGEFIELD|SEQ|NUMWORDS|AUTHOR|DOCPROPERTY|STYLEREF)\b"
)


def local_name(element):
    """Returns the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_UNREAD = re.compile(  # Characters of XML that hide a text from people.
    r' xmlns:\w+="[^"]*"|(?<=[</ ])ns\d+:|<(\w+:)?pPr\b.*?</(\w+:)?pPr>|<(\w+:)?proofErr[^>]*>'
    r'| (\w+:)?(?:rsid\w*|paraId|textId|space|history)="[^"]*"'
    r"|<(\w+:)?(?:rFonts|sz|szCs|lang|color|noProof|iCs|bCs)\b[^>]*>",
    re.DOTALL,
)


def readable(element):
    """Returns the XML of an element without what nobody reads."""
    text = _UNREAD.sub("", ET.tostring(element, encoding="unicode"))
    return re.sub(
        r"<(ns\d+:)?rPr>\s*</(ns\d+:)?rPr>|<rPr />", "", re.sub(r"(?<=[</ ])ns\d+:", "", text)
    )


def attribute(element, name):
    """Returns the value of an attribute in any namespace, or None."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), None)


class XmlUnits:
    """Walks through a tree of XML; each element of `rules.units` is a unit of its own."""

    def __init__(self, rules: XmlRules):
        self.rules = rules
        self.frame = Unit(raw="(outside of the texts)")
        self.units = [self.frame]
        self._spans: list[Span] = []
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
        name, rules = local_name(element), self.rules
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
            unit = Unit(raw=functools.partial(readable, element))
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
                if child not in formats and local_name(child) not in self.rules.uncounted:
                    unit.add("elements", local_name(child))

    def _is_page_field(self, element):
        instruction = attribute(element, "instr") if local_name(element) == "fldSimple" else None
        return bool(instruction and _PAGE_FIELDS.match(instruction))

    def _take_field_mark(self, element, unit):
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            self._field, self._in_result = "", False
        elif kind == "separate" and _PAGE_FIELDS.match(self._field) and self._code is None:
            self._code, self._in_result = [], True
        elif kind == "end" and self._in_result:
            self._in_result = False
            self._end_code(unit)

    def _span(self, element, name):
        if name == "hyperlink":
            return Span(name, attribute(element, "id") or attribute(element, "anchor") or "")
        if name == "a" and attribute(element, "href") is not None:
            return Span(name, attribute(element, "href"))
        if name == "r" and self.rules.texts:
            click = element.find(".//{*}rPr/{*}hlinkClick")
            if click is not None:
                return Span("hlinkClick", attribute(click, "id") or "")
            return Span(f"r {_run_format(element)}")
        return Span(name) if name in self.rules.emphasis else None

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


_UNSEEN = names("lang rFonts noProof rStyle szCs bCs iCs webHidden color sz kern spacing")


def _run_format(run):
    """Returns the names of a run's properties that anyone sees, such as "b i"."""
    properties = run.find("{*}rPr")
    if properties is None:
        return ""
    names = {local_name(child) for child in properties} - _UNSEEN
    marks = {key for key in ("b", "i", "u") if properties.get(key) not in (None, "0", "none")}
    return " ".join(sorted(names | marks))


def xml_units(content, rules):
    return XmlUnits(rules).read(ET.fromstring(content))


def _archive_units(content, members, rules):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        units = [Unit(raw="(members of the archive)")]
        for name in names:
            units[0].add("elements", name)
        for name in sorted(filter(re.compile(members).fullmatch, names)):
            units += xml_units(archive.read(name), rules)
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
    units = xml_units(content, _ANDROID)
    for unit in units:
        unit.text = _ANDROID_ESCAPE.sub(_unescaped, unit.text)
    return units


def _unescaped(match):
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] in "nt" else match[2]
