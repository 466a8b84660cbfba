""".NET's `.resx`: the values of strings. Names, comments, headers and other data stay."""

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
_OTHER_DATA = {"type", "mimetype"}  # Attributes of data that is no string.
_OF_DESIGNER = ">>"  # The beginning of names of what a form's designer remembers.


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the values of the strings of a file."""
    builder = SegmentBuilder(text, xml_unescape, xml_writer)
    names: list[str] = []
    is_string = False  # Whether the last element of data is one.
    for token in xml_tokens(text, options.name):
        if token.kind == "start":
            if not names and token.name != "root":
                raise ValueError(
                    "Resources of .NET must have the root <root>. "
                    f"Received: {options.name}, with the root <{token.name:.60}>."
                )
            names.append(token.name)
            if names == ["root", "data"]:
                attributes = token.attributes or {}
                is_named = not attributes.get("name", "").startswith(_OF_DESIGNER)
                is_string = is_named and not _OTHER_DATA & attributes.keys()
        elif token.kind == "end":
            names.pop()
        is_inside = names == ["root", "data", "value"] and is_string
        if not is_inside or token.kind in ("start", "end"):
            builder.end_segment()
        elif token.kind == "open-cdata":
            builder.switch(str, cdata_writer)
        elif token.kind == "close-cdata":
            builder.switch(xml_unescape, xml_writer)
        elif token.kind in ("text", "cdata"):
            builder.text(token.start, token.end)
        else:  # A comment.
            builder.hidden(token.start, token.end)
        yield from builder.take()
    yield from builder.finish()
