"""Deadlines, retries and threads of a call."""

import contextlib
import queue
import random
import threading
import time
from collections.abc import Callable, Sequence

from kformer.arguments import check_number
from kformer.serving.errors import ServerError

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # Seconds.
_LONGEST_TIMEOUT = 10**6  # Seconds; sockets have a limit, too.


class Deadline:
    """The deadline of a call with all of its requests, attempts and waits.

    Args:
        seconds: From now.

    Raises:
        TypeError: `seconds` is not a number.
        ValueError: `seconds` is not over 0, or over a million.

    Attributes:
        failure: The passing failure of the last attempt, set by `patiently`; None after a success.
    """

    def __init__(self, seconds: float):
        check_number("timeout", seconds, above=0, most=_LONGEST_TIMEOUT)
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._given_up = threading.Event()
        self.failure: ConnectionError | ServerError | None = None

    def left(self) -> float:
        """Returns the remaining seconds."""
        left = self._end - time.monotonic()
        if left <= 0 or self._given_up.is_set():
            raise self.error()
        return left

    def error(self) -> Exception:
        """Returns the error for a call over its deadline: the server's last error, if any."""
        return self.failure or TimeoutError(
            "The server must answer within the timeout. "
            f"Received: timeout={self._seconds:g}, in seconds."
        )

    def wait(self, seconds: float):
        """Waits for some seconds, or until another thread gives up."""
        self._given_up.wait(seconds)

    def give_up(self):
        """Ends the call now, for all of its threads."""
        self._given_up.set()


def patiently(request: Callable, deadline: Deadline, retries: int):
    """Returns `request()`, which is retried after passing failures.

    Passing are refused or broken connections, and errors of an overloaded server. Waits between
    attempts double, up to 5 seconds, and are shortened at random so that clients spread out.

    Args:
        request: callable that may safely be called twice.
        retries: Maximum number of calls after the first.
    """
    for attempt in range(retries + 1):
        deadline.left()
        try:
            answer = request()
            deadline.failure = None
            return answer
        except (ConnectionError, ServerError) as error:
            if isinstance(error, ServerError) and not error.is_passing:
                raise
            deadline.failure = error
            wait = _wait(attempt, error)
            if attempt == retries or wait >= deadline.left():
                raise
        deadline.wait(wait)
    raise AssertionError("The last attempt returns or raises.")


def at_once(work: Callable, items: Sequence, number: int, deadline: Deadline):
    """Yields (item, `work(item)`) as items are done, up to `number` at the same time.

    After the first error, which is raised, no further item begins. The wait ends at the deadline,
    even if a thread hangs; such a thread ends with the process.

    Args:
        work: callable of an item.
        number: Maximum number of threads.
    """
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    done: queue.SimpleQueue = queue.SimpleQueue()
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
        deadline.give_up()  # Items that have not begun fail without a request.


def _wait(attempt, error):
    longest = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)
    return max(getattr(error, "retry_after", None) or 0, random.uniform(longest / 2, longest))
