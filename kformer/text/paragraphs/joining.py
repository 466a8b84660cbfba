"""Puts translations into the places of their sources, with the white space around these.

The web page does the same in `kformer/export/web/page/joining.js`; a test compares the two.
"""

import re
from typing import NamedTuple, Self

# Characters of scripts that need no space between two sentences.
_UNSPACED = re.compile(
    "[\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]"
)


class Piece(NamedTuple):
    """A part of a text, and the white space around it: joined, they are the text."""

    before: str
    source: str  # Without white space at its ends; "" if there is no more than white space.
    after: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Takes a string apart."""
        start = len(text) - len(text.lstrip())
        end = max(start, len(text.rstrip()))
        return cls(text[:start], text[start:end], text[end:])


def join(pieces, translations) -> str:
    """Returns the text of pieces with their translations in place of their sources.

    Where two sources touch, as those of Chinese do, and their translations are in a script that has
    spaces, a space separates them.

    Args:
        pieces: list of `Piece`, those of a text in their order.
        translations: as many strings.
    """
    joined = []
    last = None  # The source and the translation before, if nothing follows them.
    for piece, translation in zip(pieces, translations, strict=True):
        if last and not piece.before and _needs_space(*last, piece.source, translation):
            joined.append(" ")
        joined += [piece.before, translation, piece.after]
        last = None if piece.after else (piece.source, translation)
    return "".join(joined)


def _needs_space(source, translation, next_source, next_translation):
    if not (translation and next_translation):
        return False
    return _is_unspaced(source, next_source) and not _is_unspaced(translation, next_translation)


def _is_unspaced(before, after):
    """Returns whether a character at the place where two texts meet is of an unspaced script."""
    return bool(_UNSPACED.search(before[-1:] + after[:1]))
