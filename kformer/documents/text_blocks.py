"""Blocks of HTML in a string of a program, such as `<p>One.</p><p>Two.</p>` in JSON.

Each block is a text of its own: read as one, the words at their ends would be glued.
"""

from collections.abc import Iterator, Sequence

from kformer.documents.segments import Code, InnerSegment, Segment, partners, raw_of
from kformer.text.paragraphs.marks import has_letter

_NAMES = (
    "p div li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table thead tbody tfoot tr td th blockquote section "
    "article header footer center"
)
_BLOCKS = {f"<{name}" for name in _NAMES.split()}
_WHITE_SPACE = " \t\r\n"


def in_blocks(parts: Sequence[str | Code], line: int) -> tuple[str | Code, ...]:
    """Returns the parts of a segment; one with paired tags of blocks has a segment for each block.

    Args:
        parts: With tags of the text as codes.
        line: Number of its line.
    """
    if not any(_is_block(part) for part in parts) or not partners(parts)[1]:
        return tuple(parts)
    pieces: list[str | Code | Segment] = []
    run: list[str | Code] = []
    for part in parts:
        if not _is_block(part):
            run.append(part)
            continue
        if not partners(run)[1]:  # Other markup begins in one block and ends in another.
            return tuple(parts)
        pieces += [*_block(run, line), part]
        run = []
    return (Code((*pieces, *_block(run, line)), is_text=True),)


def _is_block(part):
    return isinstance(part, Code) and part.is_text and part.name in _BLOCKS


def _block(run, line) -> Iterator[str | Code | Segment]:
    """Yields the pieces of a block: the white space at its ends is no part of the segment."""
    first, last = 0, len(run)
    if not any(isinstance(part, str) and has_letter(part) for part in run):
        yield from run
        return
    while isinstance(run[first], str) and not run[first].strip(_WHITE_SPACE):
        first += 1
    while isinstance(run[last - 1], str) and not run[last - 1].strip(_WHITE_SPACE):
        last -= 1
    inside = run[first:last]
    before, inside[0] = _parted(inside[0], str.lstrip)
    behind, inside[-1] = _parted(inside[-1], str.rstrip)
    yield from (*run[:first], before)
    raw = "".join(raw_of(inside))
    yield InnerSegment(
        0,
        line,
        raw,
        tuple(inside),
        lambda chunks: "".join(chunk.content for chunk in chunks),
        original=tuple(inside),
    )
    yield from (behind, *run[last:])


def _parted(part, strip):
    """Returns the white space at an end of a text, and the rest of it; a code has none."""
    if isinstance(part, Code):
        return "", part
    bare = strip(part, _WHITE_SPACE)
    return part.removesuffix(bare) if strip is str.lstrip else part.removeprefix(bare), bare
