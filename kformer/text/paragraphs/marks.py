"""Parts of a text that are kept as they are: marks of lists, and text without letters.

A sentence such as "1. Open the door." keeps "1. ", and a model translates the rest. A line such as
"---", "..." or "😀" has nothing to translate; a model would invent a sentence for it. The web page
does the same in `kformer/export/web/marks.js`; a test compares the two.
"""

import re
import unicodedata

from kformer.text.paragraphs.abbreviations import (
    NEAR,
    WHITE_SPACE,
    Abbreviations,
    abbreviations_of,
    is_ordinal_before,
)
from kformer.text.paragraphs.joining import Piece

_END = r"(?:\s+|$)"
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
# Several of these may follow each other, as in "> - 1. a)".
LIST_MARK = re.compile(
    "|".join(
        (
            rf"#{{1,6}}{_END}",  # A heading of Markdown.
            rf">+(?:{_END}|(?=[^\W\d_]))",  # A quotation of mail.
            rf"(?:[-–—―]{{1,3}}|[*+·~]){_END}",
            r"[–—―](?=[^\W\d_]|[¿¡\"“„«])",  # Direct speech.
            r"[•‣⁃∙・※◦▪▫●○■□◆◇►▶]\s*",
            rf"\[[ xX]?\]{_END}",
            r"[\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3220-\u3229\u3280-\u3289]\s*",
            r"\d\ufe0f?\u20e3\s*",
            rf"\(?[^\W\d_][)）]{_END}",
            rf"\(?(?:[ivx]{{2,5}}|[IVX]{{2,5}})\){_END}",
            r"[一二三四五六七八九十百]{1,3}[、．)）]\s*",
            r"[(（][一二三四五六七八九十]{1,3}[)）]\s*",
        )
    )
)
NUMBER_MARK = re.compile(
    "|".join(
        (
            rf"\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}[.)]{_END}",
            rf"\d{{1,3}}\.\){_END}",
            r"\d{1,2}(?:\.\d{1,2}){2,4}\s+",  # A heading such as "1.2.3 Results".
            r"\d{1,3}[-–](?:\s+(?![a-z])|$)",  # A list in Arabic.
            rf"\d{{1,3}}[.)](?=[{_CJK}])",
            r"\d{1,3}[、．）]\s*",
            r"[(（\[]\d{1,3}[)）\]]\s*",
            rf"(?=[IVXL])(?:XL|X{{0,3}})(?:IX|IV|V?I{{0,3}})\.{_END}",
            rf"(?=[ivxl])(?:xl|x{{0,3}})(?:ix|iv|v?i{{0,3}})\.{_END}",
        )
    )
)
LETTER_MARK = re.compile(rf"([^\W\d_])\.{_END}(?![^\W\d_]\.)")
_DAY = re.compile(r"\d+\.\d+\.\s*")
DOTS = re.compile(r"(?<=[.!?…])\s+(?:\.{2,}|…)\Z")  # Behind a sentence.
INNER_MARK = re.compile(rf"\d{{1,3}}(?:[.)]{_END}|[、．）]\s*)")  # Of a list within a line.


def has_letter(text: str) -> bool:
    """Returns whether there is a letter of any script; an emoji such as "ℹ️" is none."""
    return any(
        character.isalpha() and text[place : place + 1] != "\ufe0f"
        for place, character in enumerate(text, start=1)
    )


def piece_of(sentence: str, begins_line: bool, known: Abbreviations) -> Piece:
    """Takes off white space, list marks and, at both ends, symbols such as emoji.

    Args:
        begins_line: Whether it is the first of its line, so that any list mark counts.
    """
    start = mark_end(sentence, begins_line, known)
    end = len(sentence)
    while end > start and end > (shorter := _start_of_symbol(sentence, end)) >= start:
        end = shorter
    if dots := DOTS.search(sentence, start, end):
        end = dots.start()
    if not has_letter(sentence[start:end]):
        return Piece(sentence, "", "")
    return Piece(sentence[:start], sentence[start:end], sentence[end:])


def piece_of_part(part: str) -> Piece:
    """Takes a part of a sentence that was too long as `piece_of` takes a sentence."""
    return piece_of(part, False, abbreviations_of(""))


def mark_end(text: str, begins_line: bool, known: Abbreviations) -> int:
    """Returns where the white space and the marks at the beginning of a text end."""
    end = len(text) - len(text.lstrip())
    while next_end := _end_of_mark(text, end, begins_line, known):
        end = next_end
    return end


def _end_of_mark(text, start, begins_line, known):
    """Returns the end of the mark at `start`, or None if there is none."""
    place = _end_of_symbol(text, start)
    if place > start:
        return WHITE_SPACE.match(text, place).end()
    if not begins_line:
        match = INNER_MARK.match(text, start)
        return match.end() if match and not _is_date(text, match, known) else None
    if match := LIST_MARK.match(text, start):
        return match.end()
    match = NUMBER_MARK.match(text, start)
    if match:
        return None if _is_date(text, match, known) else match.end()
    match = LETTER_MARK.match(text, start)
    if match and match[1].islower() and match[1] not in known.always | known.number:
        return match.end()
    return None


def _is_date(text, mark, known):
    """Returns whether a number is an ordinal: "3. Mai", "1. FC" and "24.12. ist"."""
    following = text[mark.end() : mark.end() + NEAR]
    if not known.ordinals:
        return False
    if _DAY.fullmatch(mark[0]) and following[:1].islower():
        return True
    return is_ordinal_before(following, known)


def _end_of_symbol(text, start):
    """Returns where an emoji, an arrow or the like ends; `start` if there is none."""
    if not _is_symbol(text, start):
        return start
    end = start + 1
    while end < len(text) and _is_part_of_symbol(text[end]):
        end += 1
    return end


def _start_of_symbol(text, end):
    """Returns where white space or a symbol starts that ends at `end`; `end` if there is none."""
    start = end - 1
    if text[start].isspace():
        return start
    while start > 0 and _is_part_of_symbol(text[start]):
        start -= 1
    return start if _is_symbol(text, start) else end


def _is_symbol(text, place):
    character = text[place : place + 1]
    if text[place + 1 : place + 2] == "\ufe0f" and character.isalpha():
        return True
    if character < "\u2190" or "\u3200" <= character < "\u3400":
        return False
    return unicodedata.category(character) in ("So", "Sm", "Sk")


def _is_part_of_symbol(character):
    return character in "\u200d\u20e3\ufe0f" or "\U000e0020" <= character <= "\U000e007f"
