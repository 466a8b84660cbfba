"""Time that a call has, and what may be tried again in it."""

import contextlib
import queue
import random
import threading
import time

from kformer.arguments import check_number
from kformer.serving.errors import ServerError

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # Seconds.
_LONGEST_TIMEOUT = 10**6  # Sockets have a limit, too.


class Deadline:
    """The end of a call, whatever its number of requests, attempts and waits.

    Args:
        seconds: From now.

    Raises:
        TypeError: They are no number.
        ValueError: They are not over 0, or over a million.
    """

    def __init__(self, seconds: float):
        check_number("timeout", seconds, above=0, most=_LONGEST_TIMEOUT)
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._given_up = threading.Event()

    def left(self) -> float:
        """Returns the seconds that are left.

        Raises:
            TimeoutError: There are none.
        """
        left = self._end - time.monotonic()
        if left <= 0 or self._given_up.is_set():
            raise self.error()
        return left

    def error(self) -> TimeoutError:
        """What is raised when time is over."""
        return TimeoutError(
            "The server must answer within the timeout. "
            f"Received: timeout={self._seconds:g}, in seconds."
        )

    def wait(self, seconds: float):
        """Lets time pass, unless another thread gives up."""
        self._given_up.wait(seconds)

    def give_up(self):
        """Ends the call now, for all of its threads."""
        self._given_up.set()


def patiently(request, deadline: Deadline, retries: int):
    """Returns what `request()` returns, which is called again after failures that may pass.

    These are connections that were refused or broken, and the errors by which a server says that
    it has too much to do. The waits between double, up to 5 seconds, and each is shortened by
    chance, lest many clients come back at once.

    Args:
        request: callable; it must do no harm to call it twice.
        deadline: What would be tried after it is not tried.
        retries: Most calls after the first one.
    """
    for attempt in range(retries + 1):
        deadline.left()
        try:
            return request()
        except (ConnectionError, ServerError) as error:
            if isinstance(error, ServerError) and not error.is_passing:
                raise
            wait = _wait(attempt, error)
            if attempt == retries or wait >= deadline.left():
                raise
        deadline.wait(wait)
    raise AssertionError("The last attempt returns or raises.")


def at_once(work, items, number: int, deadline: Deadline):
    """Yields (item, `work(item)`) for each item as it is done, up to `number` at the same time.

    The first error is raised, and what has not begun by then never does. Nobody waits longer than
    the deadline, not even for a thread that hangs: it ends with the process.

    Args:
        work: callable of an item.
        items: list.
        number: Most threads.
        deadline: Given up when this ends, however it does.
    """
    waiting, done = queue.SimpleQueue(), queue.SimpleQueue()
    for item in items:
        waiting.put(item)

    def run():
        with contextlib.suppress(queue.Empty):
            while True:
                item = waiting.get_nowait()
                try:
                    done.put((item, work(item), None))
                except BaseException as error:
                    done.put((item, None, error))

    for _ in range(min(number, len(items))):
        threading.Thread(target=run, daemon=True).start()
    try:
        for _ in items:
            try:
                item, result, error = done.get(timeout=deadline.left())
            except queue.Empty:
                raise deadline.error() from None
            if error:
                raise error
            yield item, result
    finally:
        deadline.give_up()  # What has not begun fails now, before it asks anybody.


def _wait(attempt, error):
    longest = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)
    return max(getattr(error, "retry_after", None) or 0, random.uniform(longest / 2, longest))
