"""The bytes of the requests that arrive, within a bound, counted as they come.

Who only announces a large request takes no room from others.
"""

import contextlib
from collections.abc import Iterator

from kformer.server.refusals import Refusal


class ArrivingBodies:
    """Bounds the bytes of the requests that arrive, or whose files are translated, at one time.

    Args:
        most: Maximum number of bytes.
    """

    def __init__(self, most: int):
        self._most, self._bytes = most, 0

    @contextlib.contextmanager
    def place(self) -> Iterator["Place"]:
        """Lends a `Place` for a request in a `with` statement."""
        place = Place(self)
        try:
            yield place
        finally:
            place.give_back()

    def add(self, size: int) -> bool:
        """Counts bytes that have arrived, or negative ones that have gone, if there is room."""
        if self._bytes + size > self._most:
            return False
        self._bytes += size
        return True


class Place:
    """The place of a request among those that arrive: it grows as its bytes come."""

    def __init__(self, bodies: ArrivingBodies):
        self._bodies, self._bytes = bodies, 0

    def grow(self, size: int):
        """Takes room for more bytes."""
        if not self._bodies.add(size):
            self.give_back()
            message = "The server has as many requests as it can hold. Received: another one."
            raise Refusal(429, message, retry_after=10)
        self._bytes += size

    def give_back(self):
        """Gives the room back."""
        self._bodies.add(-self._bytes)
        self._bytes = 0
