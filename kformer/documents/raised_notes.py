"""Raised marks of notes, such as `Word<sup>1</sup>`: a translator reads the word without them."""

import re
from collections.abc import Sequence

from kformer.documents.joined_text import shown_text
from kformer.documents.segments import Code, Role, partners

_NAMES = {"sup", "<sup"}
_NOTE = re.compile(
    r"[\[(]?(?:(?:n|note) )?(?:\d{1,3}(?:[,–-]\d{1,3}){0,4}|[a-z]|[*†‡§¶#]{1,3})[\])]?"
)
_WORD = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?)\]\"'”’»])\Z")  # No unit, as in "km<sup>2</sup>".


def with_notes(parts: Sequence[str | Code]) -> tuple[str | Code, ...]:
    """Returns the parts of a segment in which each mark of a note is a code behind its word."""
    if not any(isinstance(part, Code) and part.name in _NAMES for part in parts):
        return tuple(parts)
    pairs, _ = partners(parts)
    result: list[str | Code] = []
    place = 0
    while place < len(parts):
        end = pairs.get(place, place)
        if end > place and _is_note(parts, place, end):
            result.append(Code(tuple(parts[place : end + 1]), is_text=True))
            place = end
        else:
            result.append(parts[place])
        place += 1
    return tuple(result)


def _is_note(parts, start, end):
    """Returns whether the span between two codes is the mark of a note behind a word."""
    opening = parts[start]
    if opening.role is not Role.OPEN or opening.name not in _NAMES:
        return False
    before = parts[start - 1] if start else ""
    behind = parts[end + 1] if end + 1 < len(parts) else ""
    is_behind_word = isinstance(before, str) and _WORD.search(before[-3:])
    goes_on = isinstance(behind, str) and behind[:1].isalnum()
    text = shown_text(parts[start : end + 1])
    return bool(is_behind_word and not goes_on and _NOTE.fullmatch(text))
