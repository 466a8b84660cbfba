"""Numbers in texts: their digits, whatever a language puts between them."""

import re
import unicodedata
from collections import Counter

SPACES = " \u00a0\u2009\u202f"  # Between groups of three digits.
MARKS = ".,'’\u066b\u066c"  # The last two are Arabic.
# Each repetition has a bound, and a number is never a part of a longer one.
NUMBER = (
    rf"(?<!\d)(?<!\d[{MARKS}])"
    rf"(?:\d{{1,3}}+(?:[{SPACES}]\d{{3}}(?!\d)){{1,6}}+(?:[{MARKS}]\d{{1,20}}+)?+"
    rf"|\d{{1,20}}+(?:[{MARKS}]\d{{1,20}}+){{0,8}}+)"
    rf"(?!\d)(?![{MARKS}]\d)"
)
_NUMBER, _SPACE, _MARK = re.compile(NUMBER), re.compile(f"[{SPACES}]"), re.compile(f"[{MARKS}]")
MOST_DECIMALS = 2  # More digits behind a mark may be a group of a whole number.


def numbers_in(text: str) -> Counter[str]:
    """Returns how often a text has each number, as `value_of` writes it."""
    numbers: Counter[str] = Counter()
    for match in _NUMBER.finditer(text):
        # The space of "12 500 km" may also stand between two numbers.
        numbers.update({match[0], *_SPACE.split(match[0])})
    written: Counter[str] = Counter()
    for number, count in numbers.items():
        written[value_of(number)] += count
    return written


def first_number(text: str) -> str:
    """Returns the first number of a text that has one, as `value_of` writes it."""
    return value_of(next(_NUMBER.finditer(text))[0])


def value_of(number: str) -> str:
    """Returns the digits of a number, with a point before those that can only be decimals."""
    digits = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in _SPACE.sub("", number)
    )
    marks = _MARK.findall(digits)
    parts = _MARK.split(digits)
    is_decimal = marks and (len(parts[-1]) <= MOST_DECIMALS or len({*marks}) > 1)
    decimals = parts.pop().rstrip("0") if is_decimal else ""
    whole = "".join(parts).lstrip("0") or "0"
    return f"{whole}.{decimals}" if decimals else whole
