"""The texts of HTML, which Python's own parser reads."""

import re
from html.parser import HTMLParser

from support.document_contents.placeholder_patterns import PROSE
from support.document_contents.units import GAP, LETTER, Span, Unit, decoded, names

_BLOCKS = names(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset "
    "figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html legend li "
    "link main menu meta nav ol optgroup option p pre section script select style summary table "
    "tbody td template textarea tfoot th thead title tr ul"
)
_VOID = names("area base br col embed hr img input link meta param source track wbr")
_CODE = names("code kbd samp var pre script style svg math textarea iframe noembed tt xmp object")
_EMPHASIS = names("b strong i em u s mark small sub sup span font cite q abbr del ins")


class _HtmlUnits(HTMLParser):
    """Divides HTML at the tags of blocks."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.units = [Unit()]
        self._open: list[Span] = []
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
            self._open.append(Span(tag, attributes.get("href") if tag == "a" else None))

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
    parser.feed(content if isinstance(content, str) else decoded(content))
    parser.close()
    return parser.units
