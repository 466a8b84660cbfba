"""The texts of Markdown, by markdown-it as it is."""

import re

from support.document_contents.html_contents import html_units
from support.document_contents.placeholder_patterns import MARKDOWN
from support.document_contents.units import GAP, LETTER, Span, Unit, decoded

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(
    r"^[ \t]*(?::::+[ \t]*\{?\w*|!!!\+?[ \t]+\w+|\?\?\?\+?[ \t]+\w+|=== )", re.M
)


def markdown_units(content: bytes) -> list[Unit]:
    """Returns the paragraphs, headings, items and cells of a document."""
    from markdown_it import MarkdownIt

    text = decoded(content)
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
            spans.append(Span(child.type, child.attrs.get("href")))
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
