"""Word's docx: the text of paragraphs, in the body, headers, footers, footnotes and endnotes.

Runs keep their order, and each of them its format; where a run ends in a translation is found like
the place of any code.
"""

import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Chunk, Piece, SegmentBuilder
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    declared_encoding,
    xml_escape,
    xml_tokens,
    xml_unescape,
)

__all__ = ["ENCODING_ERRORS", "declared_encoding", "has_text", "read"]
_TEXTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_BREAKS = {"w:br", "w:cr", "w:tab"}
_TEXT_TAG = re.compile(r"<((?:\w+:)?t)(?![\w:.-])([^<>]*)>\Z")


def has_text(name: str) -> bool:
    """Returns whether a member of the archive has text."""
    return bool(_TEXTS.fullmatch(name))


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a member."""
    builder = SegmentBuilder(text, xml_unescape, _writer, ordered=True)
    is_text = False
    for token in xml_tokens(text, options.name):
        if token.name == "w:t":
            is_text = token.kind == "start"
        if token.kind == "text" and is_text:
            builder.text(token.start, token.end)
        elif token.name == "w:p" or token.name in _BREAKS:
            builder.end_segment()
            yield from builder.take()
        else:
            builder.hidden(token.start, token.end)
    yield from builder.finish()


def _writer(raw):
    escape = xml_escape(raw)
    keeps_first = raw.partition("<")[0][-1:].isspace()  # By an attribute before the segment.

    def write(chunks: list[Chunk]):
        """Moves spaces before a run to its beginning, where an attribute has Word keep them."""
        written, spaces = [], ""
        for place, (content, is_code) in enumerate(chunks):
            if is_code:
                written.append(_keeping_spaces(content) if spaces else content)
                continue
            content = spaces + content
            if written and content[:1].isspace() and not spaces:
                written[-1] = _keeping_spaces(written[-1])
            spaces = ""
            if place + 1 < len(chunks) and content.strip() and (place or not keeps_first):
                spaces = content[len(content.rstrip()) :]
                content = content.rstrip()
            written.append(escape(content))
        return "".join([*written, spaces])

    return write


def _keeping_spaces(code):
    """Returns a code that ends in the tag of a text with the attribute that keeps its spaces."""

    def keeping(match):
        kept = "" if "xml:space" in match[2] else ' xml:space="preserve"'
        return f"<{match[1]}{match[2]}{kept}>"

    return _TEXT_TAG.sub(keeping, code)
