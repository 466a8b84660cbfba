"""Plain text: each line is a segment, with its white space and its line end as they were."""

from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, SegmentBuilder, escaping


def declared_encoding(_content: bytes) -> None:
    """Returns None: plain text declares nothing."""


def read(text: str, _options: ReadOptions) -> Iterator[Piece]:
    """Yields the lines of a text."""
    builder = SegmentBuilder(text, str, lambda _: escaping(str))
    start = 0
    for line in text.splitlines(True):
        builder.text(start, start + len(line))
        builder.end_segment()
        start += len(line)
        yield from builder.take()
    yield from builder.finish()
