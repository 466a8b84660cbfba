"""Amounts: numbers with a unit or a currency, and whether a translation has the same ones.

A model writes an amount as its language does: "4,200.00" becomes "4.200,00", "£2.8bn" becomes "2,8
mil milhões de libras". So the digits of an amount are compared, whatever stands between and beside
them.
"""

import re
from collections import Counter
from collections.abc import Iterable

from kformer.text.numbers import NUMBER, first_number, numbers_in

_CURRENCY = r"(?:[A-Z]{0,3}[$€£¥₹₩₽]|(?:EUR|USD|GBP|CHF|JPY)(?=[ \u00a0\u202f\d]))"
_UNITS = (
    "°[CF]?|km/h|[%‰€£¥₹₩₽$]|[kcmµn]?m[²³2]?|mph|[kmµ]?g|t|[cm]?[lL]|hl|ha|[kMG]?[WVJN]|[kMG]?Wh"
    "|[kMG]?Hz|[kKMGT]i?[Bb]|[kMG]?bit/s|[kMG]?Pa|k?cal|dB|px|pt|dpi|ms|min|EUR|USD|GBP|CHF|JPY"
)
_SCALES = "bn|tn|mn|mm|[kKmMbB]"  # Of sums of money: "£125m" is no length.
AMOUNT = (
    rf"(?<![\w.,/])(?:{_CURRENCY}[ \u00a0\u202f]?{NUMBER}(?:[ \u00a0\u202f]?(?:{_SCALES}))?"
    rf"|{NUMBER}[ \u00a0\u202f]?(?:{_UNITS}))(?!\w)"
)
_AMOUNT = re.compile(AMOUNT)


def lacks_amounts(amounts: Iterable[str], translation: str) -> bool:
    """Returns whether a translation lacks the digits of an amount, or has them less often."""
    needed = Counter(map(first_number, amounts))
    return not needed <= numbers_in(translation) if needed else False


def is_amount(text: str) -> bool:
    """Returns whether a text is an amount and nothing else."""
    return bool(_AMOUNT.fullmatch(text))
