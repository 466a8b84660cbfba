"""What is said of lines on stderr: of each kind the first ten, of the others how many they are."""

import collections
import re
import sys

from kformer.serving.errors import printable

SHOWN = 10
_numbers = collections.Counter()  # Of remarks, by kind.


def remark(message: str):
    """Writes a line to stderr, unless ten of its kind, which differ in numbers only, are there."""
    kind = re.sub(r"\d+", "#", message)
    _numbers[kind] += 1
    if _numbers[kind] <= SHOWN:
        print(f"kformer: {printable(message)}", file=sys.stderr)


def remark_on_the_others():
    """Writes to stderr how many remarks of each kind were left out."""
    for kind, number in _numbers.items():
        if number > SHOWN:
            print(f"kformer: {number - SHOWN:,} more: {printable(kind)}", file=sys.stderr)
    _numbers.clear()
