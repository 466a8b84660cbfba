"""EPUB: chapters of XHTML, the table of contents, and the title and language of the book.

A book whose chapters are encrypted is refused. Styles, images and the order of members stay.
"""

from collections.abc import Iterator

from kformer.documents import html_text
from kformer.documents.document_kinds import ReadOptions
from kformer.documents.html_text import ENCODING_ERRORS, declared_encoding
from kformer.documents.segments import Piece, Segment, SegmentBuilder
from kformer.documents.xml_tokens import xml_tokens, xml_unescape, xml_writer

__all__ = ["ENCODING_ERRORS", "declared_encoding", "has_text", "read"]
_ENCRYPTION = "META-INF/encryption.xml"
_SUFFIXES = (".xhtml", ".html", ".htm", ".xml", ".opf", ".ncx")
_METADATA = {"metadata", "dc-metadata"}
_TITLES = {"dc:title", "dc:description"}
# Fonts are obfuscated as their licenses want it; these need no key, and have no text.
_OBFUSCATIONS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}


def has_text(name: str) -> bool:
    """Returns whether a member of the archive may have text, or says what is encrypted."""
    is_text = name.lower().endswith(_SUFFIXES) and not name.startswith("META-INF/")
    return is_text or name == _ENCRYPTION


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the pieces of a member of the archive."""
    starts = (token.name for token in html_text.tokens(text) if token.kind == "start")
    root = next(starts, "").rpartition(":")[2]
    if root == "encryption":
        _check_encryption(text, options)
        yield text
    elif root == "html":
        yield from html_text.read(text, options)
    elif root == "package":
        yield from _package(text, options)
    elif root == "ncx":
        yield from _contents(text, options)
    else:
        yield text


def _check_encryption(text, options):
    for token in xml_tokens(text, options.name):
        if token.kind == "start" and token.name == "EncryptionMethod":
            algorithm = (token.attributes or {}).get("Algorithm", "")
            if algorithm not in _OBFUSCATIONS:
                raise ValueError(
                    "A book must not be encrypted, but for its fonts. "
                    f"Received: {options.name}, with {algorithm!r:.99}."
                )


def _package(text, options):
    """Yields the pieces of the package: the titles of the book, and its first language."""
    builder = SegmentBuilder(text, xml_unescape, xml_writer)
    names: list[str] = []
    language = options.target_language
    for token in xml_tokens(text, options.name):
        _follow(names, token)
        is_metadata = token.kind == "text" and bool(_METADATA.intersection(names[-2:-1]))
        if is_metadata and names[-1] == "dc:language" and language:
            builder.emit([_replacement(text, token, language)])
            language = None
        elif is_metadata and names[-1] in _TITLES:
            builder.text(token.start, token.end)
        else:
            builder.end_segment()
        yield from builder.take()
    yield from builder.finish()


def _replacement(text, token, new):
    """Returns a segment that is written as a new text, and not translated."""
    raw = text[token.start : token.end]
    written = raw.replace(raw.strip(), new) if raw.strip() else raw
    return Segment(token.start, 1, raw, (), lambda _: written, inserted=True)


def _contents(text, options):
    """Yields the pieces of the table of contents of EPUB 2: its labels, and the title."""
    builder = SegmentBuilder(text, xml_unescape, xml_writer)
    names: list[str] = []
    for token in xml_tokens(text, options.name):
        _follow(names, token)
        is_label = names[-1:] == ["text"] and "docAuthor" not in names
        if is_label and token.kind == "text":
            builder.text(token.start, token.end)
        else:
            builder.end_segment()
        yield from builder.take()
    yield from builder.finish()


def _follow(names, token):
    """Adds or removes the name of an element."""
    if token.kind == "start":
        names.append(token.name)
    elif token.kind == "end":
        names.pop()
