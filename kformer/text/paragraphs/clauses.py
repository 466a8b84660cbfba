"""Splits a sentence that is too long for a model: at a clause, a word or a character.

The web page does the same in `kformer/export/web/page/clauses.js`; a test compares the two.
"""

import math
import re
import unicodedata

# Ends of clauses and then of words, each with the white space behind it. Punctuation of full width
# needs none.
_ENDS = (
    re.compile(r"[,;:!?…–—\u060c\u061b\u0964][\"'”’»)\]]?\s+|[\u3001\u3002\uff0c\uff1a\uff1b]\s*"),
    re.compile(r"\s+"),
)
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def halves(sentence: str) -> tuple[str, str] | None:
    """Returns the two parts of a sentence, which joined are the sentence; None if it has none.

    The first part ends in the middle half of the sentence, as near to its middle as it can: with a
    clause; if none ends there, with a word; else with a character that users would call one.
    """
    middle = len(sentence) / 2
    most = middle / 2  # Characters from the middle.
    for pattern in _ENDS:
        ends = [found.end() for found in pattern.finditer(sentence)]
        ends = [end for end in ends if abs(end - middle) <= most]
        if ends:
            return _parted(sentence, _nearest(ends, middle)[0])
    ends = range(max(1, math.ceil(middle - most)), math.floor(middle + most) + 1)
    for end in _nearest(ends, middle):
        if not _is_joined(sentence, end):
            return _parted(sentence, end)
    return None


def _nearest(ends, middle):
    return sorted(ends, key=lambda end: abs(end - middle))


def _parted(sentence, end):
    return sentence[:end], sentence[end:]


def _is_joined(sentence, end):
    """Returns whether the characters before and at `end` are one for users."""
    before, after = sentence[end - 1], sentence[end]
    is_mark = unicodedata.category(after).startswith("M") or ord(after) in _SKIN_TONES
    return is_mark or _JOINER in (before, after)
