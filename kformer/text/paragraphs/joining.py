"""Puts translations into the places of their sources, and keeps all text around them.

The web page does the same in `kformer/export/web/joining.js`; a test compares the two.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

# Characters of Chinese and Japanese, which have no spaces between sentences.
_HAN_AND_KANA = (
    "\u2e80-\u312f\u31a0-\u31bf\u31f0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff9f"
    "\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{_HAN_AND_KANA}]")
# With Thai, Lao, Tibetan, Burmese and Khmer, which have no spaces between words.
UNSPACED_WORDS = re.compile(f"[{_HAN_AND_KANA}\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]")
SPACE = "▁"  # As SentencePiece writes it.
# Spaces between sentences; tabs and line breaks belong to the layout of a text.
SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*")
_IDEOGRAPHIC = "\u3000"


class Piece(NamedTuple):
    """A part of a text: joined, the three fields are the part."""

    before: str  # White space, a list mark or whatever else is kept as it is.
    source: str  # A sentence to translate, without white space at its ends; "" if there is none.
    after: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Takes off the white space around a string."""
        start = len(text) - len(text.lstrip())
        end = max(start, len(text.rstrip()))
        return cls(text[:start], text[start:end], text[end:])


def with_sources(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns pieces that all have a source; text without a source is added to a neighbour.

    If no piece has a source, the list has one piece, or none if there is no text.
    """
    kept, joined = "", []
    for piece in pieces:
        if piece.source:
            joined.append(piece._replace(before=kept + piece.before))
            kept = ""
        else:
            kept += "".join(piece)
    if kept:
        joined.append(joined.pop() if joined else Piece("", "", ""))
        joined[-1] = joined[-1]._replace(after=joined[-1].after + kept)
    return joined


def join(pieces: Iterable[Piece], translations: Sequence[str]) -> str:
    """Returns the text of pieces with their translations in place of their sources.

    Sentences of Chinese and Japanese have no space between them, and sentences of other languages
    one space, whatever the source has: the translations decide. Line breaks, tabs and all else that
    is between two sources stay.
    """
    joined, last = [], None
    for piece, translation in zip(pieces, translations, strict=True):
        if last:
            joined.append(_between(*last, piece, translation))
        else:
            joined.append(piece.before)
        joined.append(translation)
        last = (piece, translation)
    return "".join([*joined, last[0].after if last else ""])


def _between(piece, translation, next_piece, next_translation):
    gap = piece.after + next_piece.before
    if not (translation and next_translation and SPACES.fullmatch(gap)):
        return gap
    if _is_unspaced(translation, next_translation):
        return _IDEOGRAPHIC if _IDEOGRAPHIC in gap else ""
    if not gap and UNSPACED_WORDS.search(piece.source[-1:] + next_piece.source[:1]):
        is_spaced = not UNSPACED_WORDS.search(translation[-1:] + next_translation[:1])
        return " " if is_spaced else ""
    return gap.replace(_IDEOGRAPHIC, " ")


def _is_unspaced(*translations):
    """Returns whether most of the text is Chinese or Japanese: a character counts as a word."""
    text = "".join(translations)
    spaced = (letter if letter.isalpha() else " " for letter in UNSPACED.sub(" ", text))
    characters = len(UNSPACED.findall(text))
    return 0 < characters >= len("".join(spaced).split())
