"""Apple's `.stringsdict`: the forms of plurals and widths, and the texts that they stand in."""

import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, SegmentBuilder
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    cdata_writer,
    declared_encoding,
    xml_tokens,
    xml_unescape,
    xml_writer,
)

__all__ = ["ENCODING_ERRORS", "declared_encoding", "read"]
# Keys whose strings are texts: categories of plurals, and widths in numbers of letters.
_TEXT_KEY = re.compile(r"NSStringLocalizedFormatKey|zero|one|two|few|many|other|[0-9]+")
_VARIABLE = re.compile(r"%(?:\d{1,3}\$)?#@\w{1,99}@")


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the texts of a file."""
    builder = SegmentBuilder(text, xml_unescape, xml_writer)
    names: list[str] = []
    key: list[str] = []  # The characters of the last key.
    for token in xml_tokens(text, options.name):
        if token.kind == "start":
            if not names and token.name != "plist":
                raise ValueError(
                    "A file of plurals must have the root <plist>. "
                    f"Received: {options.name}, with the root <{token.name:.60}>."
                )
            names.append(token.name)
            if token.name == "key":
                key.clear()
        elif token.kind == "end":
            names.pop()
        is_text = token.kind in ("text", "cdata")
        if is_text and names[-1:] == ["key"]:
            key.append(xml_unescape(text[token.start : token.end]))
        is_inside = names[:3] == ["plist", "dict", "dict"] and names[-1] == "string"
        is_inside = is_inside and bool(_TEXT_KEY.fullmatch("".join(key).strip()))
        if not is_inside or token.kind in ("start", "end"):
            builder.end_segment()
        elif token.kind == "open-cdata":
            builder.switch(str, cdata_writer)
        elif token.kind == "close-cdata":
            builder.switch(xml_unescape, xml_writer)
        elif is_text:
            _add_text(builder, text, token)
        else:  # A comment.
            builder.hidden(token.start, token.end)
        yield from builder.take()
    yield from builder.finish()


def _add_text(builder, text, token):
    """Adds a text, with variables such as `%#@files@` as placeholders."""
    done = token.start
    for variable in _VARIABLE.finditer(text, token.start, token.end):
        if done < variable.start():
            builder.text(done, variable.start())
        builder.code(*variable.span(), shown=variable[0])
        done = variable.end()
    if done < token.end:
        builder.text(done, token.end)
