"""Warnings about lines of text on stderr: ten of each kind, then a count of the others."""

import collections
import re
import sys

from kformer.serving.errors import printable

SHOWN = 10
_numbers = collections.Counter()  # Of remarks, by kind.


def remark(message: str):
    """Writes a warning to stderr, but only the first ten that differ in nothing but numbers."""
    kind = re.sub(r"\d+", "#", message)
    _numbers[kind] += 1
    if _numbers[kind] <= SHOWN:
        print(f"kformer: {printable(message)}", file=sys.stderr)


def remark_on_the_others():
    """Writes to stderr how many warnings of each kind were not shown."""
    for kind, number in _numbers.items():
        if number > SHOWN:
            print(f"kformer: {number - SHOWN:,} more: {printable(kind)}", file=sys.stderr)
    _numbers.clear()
