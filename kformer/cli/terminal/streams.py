"""Standard streams: slow lines of a pipe or a terminal, and the lines on stderr.

Libraries that greet on stderr are silenced. Of warnings about lines of text, ten of each kind are
printed, and then their number.
"""

import collections
import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Iterator

from kformer.serving.errors import printable
from kformer.text.long_lines import LineSplitter

PATIENCE = 0.02  # Seconds from the first line of a chunk in which others may join it.
_BYTES = 2**16  # That are read at once, if there are so many.


class Stream:
    """The lines of an open file descriptor, as bytes, with their line feeds; long ones are cut.

    Args:
        descriptor: Number of the file descriptor.
    """

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._lines = collections.deque[bytes]()
        self._splitter, self._ended = LineSplitter(), False

    def __iter__(self) -> Iterator[bytes]:
        while True:
            while not self._lines and not self._ended:
                self._read()
            if not self._lines:
                return
            yield self._lines.popleft()

    def pauses(self, since: float) -> bool:
        """Returns whether no further line comes in time to be worked on with earlier ones."""
        while not self._lines and not self._ended:
            left = since + PATIENCE - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                return True
            self._read()
        return False

    def _read(self):
        content = os.read(self._descriptor, _BYTES)
        self._lines.extend(self._splitter.split(content) if content else self._splitter.end())
        self._ended = not content


@contextlib.contextmanager
def quiet():
    """Drops native code's output to stderr: notes of TensorFlow, LiteRT, XNNPACK.

    Python's errors are exceptions and not lost by this. Yields a function that writes a line to
    stderr all the same.
    """
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield lambda line, end="\n": os.write(kept, f"{line}{end}".encode())
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


SHOWN = 10
_numbers: collections.Counter[str] = collections.Counter()  # Of remarks, by kind.


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
