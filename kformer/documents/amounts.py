"""Amounts: numbers with a unit or a currency, and whether a translation has the same ones.

A model writes an amount as its language does: "4,200.00" becomes "4.200,00", "£2.8bn" becomes "2,8
mil milhões de libras". So the digits of an amount are compared, whatever stands between and beside
them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_SPACES = " \u00a0\u2009\u202f"  # Between groups of three digits.
_MARKS = ".,'’\u066b\u066c"  # The last two are Arabic.
_CURRENCY = r"(?:[A-Z]{0,3}[$€£¥₹₩₽]|(?:EUR|USD|GBP|CHF|JPY)(?=[ \u00a0\u202f\d]))"
_UNITS = (
    "°[CF]?|km/h|[%‰€£¥₹₩₽$]|[kcmµn]?m[²³2]?|mph|[kmµ]?g|t|[cm]?[lL]|hl|ha|[kMG]?[WVJN]|[kMG]?Wh"
    "|[kMG]?Hz|[kKMGT]i?[Bb]|[kMG]?bit/s|[kMG]?Pa|k?cal|dB|px|pt|dpi|ms|min|EUR|USD|GBP|CHF|JPY"
)
_SCALES = "bn|tn|mn|mm|[kKmMbB]"  # Of sums of money: "£125m" is no length.
# Each repetition has a bound, and a number is never a part of a longer one.
NUMBER = (
    rf"(?<!\d)(?<!\d[{_MARKS}])"
    rf"(?:\d{{1,3}}+(?:[{_SPACES}]\d{{3}}(?!\d)){{1,6}}+(?:[{_MARKS}]\d{{1,20}}+)?+"
    rf"|\d{{1,20}}+(?:[{_MARKS}]\d{{1,20}}+){{0,8}}+)"
    rf"(?!\d)(?![{_MARKS}]\d)"
)
AMOUNT = (
    rf"(?<![\w.,/])(?:{_CURRENCY}[ \u00a0\u202f]?{NUMBER}(?:[ \u00a0\u202f]?(?:{_SCALES}))?"
    rf"|{NUMBER}[ \u00a0\u202f]?(?:{_UNITS}))(?!\w)"
)
_NUMBER, _AMOUNT = re.compile(NUMBER), re.compile(AMOUNT)
_SPACE, _MARK = re.compile(f"[{_SPACES}]"), re.compile(f"[{_MARKS}]")
_MOST_DECIMALS = 2  # More digits behind a mark may be a group of a whole number.


def lacks_amounts(amounts: Iterable[str], translation: str) -> bool:
    """Returns whether a translation lacks the digits of an amount, or has them less often."""
    needed = Counter(_value(next(_NUMBER.finditer(amount))[0]) for amount in amounts)
    if not needed:
        return False
    numbers: Counter[str] = Counter()
    for match in _NUMBER.finditer(translation):
        # The space of "12 500 km" may also stand between two numbers.
        numbers.update({match[0], *_SPACE.split(match[0])})
    written: Counter[str] = Counter()
    for number, count in numbers.items():
        written[_value(number)] += count
    return not needed <= written


def is_amount(text: str) -> bool:
    """Returns whether a text is an amount and nothing else."""
    return bool(_AMOUNT.fullmatch(text))


def _value(number):
    """Returns the digits of a number, with a point before those that can only be decimals."""
    digits = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in _SPACE.sub("", number)
    )
    marks = _MARK.findall(digits)
    parts = _MARK.split(digits)
    is_decimal = marks and (len(parts[-1]) <= _MOST_DECIMALS or len({*marks}) > 1)
    decimals = parts.pop().rstrip("0") if is_decimal else ""
    whole = "".join(parts).lstrip("0") or "0"
    return f"{whole}.{decimals}" if decimals else whole
