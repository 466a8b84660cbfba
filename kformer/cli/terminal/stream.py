"""Lines of a pipe or a terminal, which may come slowly: whoever types one waits for its answer."""

import collections
import os
import select
import time
from collections.abc import Iterator

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
        """Returns whether no further line comes in time to be worked on with earlier ones.

        Args:
            since: When the first of these came, by `time.monotonic`.
        """
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
