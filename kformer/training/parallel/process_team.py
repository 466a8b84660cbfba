"""`team`: the processes that train together.

They exchange bytes in the key-value store of JAX's coordination service, which runs in process 0.
"""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

_FAILURE = "kformer/failure"  # Key of the reason for which a process has ended the run.
_FOREVER = 10**11  # Milliseconds: three years.


class ProcessTeam:
    """The processes that train together.

    If another one fails, this process ends at once with one line on stderr and exit code 2.

    Args:
        process: Number of this process, from 0.
        processes: Their number.
        client: JAX's client of the coordination service; None for a process on its own.
    """

    def __init__(self, process: int = 0, processes: int = 1, client: Any = None):
        self.process = process
        self.processes = processes
        self._client = client
        self._exchanges = 0
        self._at_loss: list[Callable[[], None]] = []
        self._ending = threading.Lock()  # The first of several reasons counts.
        if client:
            threading.Thread(target=self._await_failure, daemon=True).start()

    def exchange_bytes(self, content: bytes) -> list[bytes]:
        """Returns the contents of all processes, in their order; each must call this."""
        return interruptible(self._exchange, content) if self._client else [content]

    def _exchange(self, content):
        folder, before = (f"kformer/{self._exchanges - back}/" for back in (0, 1))
        self._client.key_value_set_bytes(f"{folder}{self.process}", content)
        self._client.wait_at_barrier("kformer", _FOREVER)
        contents = self._client.key_value_dir_get_bytes(folder)
        if self._exchanges:  # All have read the contents before, or they would not be here.
            self._client.key_value_delete(f"{before}{self.process}")
        self._exchanges += 1
        numbered = {int(key.rpartition("/")[2]): content for key, content in contents}
        return [numbered[process] for process in sorted(numbered)]

    def exchange(self, value: Any, is_valid: Callable[[Any], bool]) -> list:
        """Returns the values of all processes, as JSON holds them; each must call this.

        Args:
            is_valid: Whether a value has the right types.
        """
        contents = self.exchange_bytes(json.dumps(value).encode())
        values = []
        for process, content in enumerate(contents):
            try:
                values.append(json.loads(content))
                valid = is_valid(values[-1])
            except (ValueError, RecursionError):
                valid = False
            if not valid:
                raise ValueError(
                    "All processes of a run need the same version of kformer. Received: "
                    f"{content[:99]!r} from process {process}."
                )
        return values

    def at_loss(self, clean_up: Callable[[], None]):
        """Has `clean_up` called if this process must end because another one failed."""
        self._at_loss.append(clean_up)

    def fail(self, reason: str):
        """Ends all other processes, which print the reason; this one prints its own line."""
        self._ending.acquire()  # Never returns if another process has failed before.
        with contextlib.suppress(Exception):  # Another process was the first.
            self._client.key_value_set(_FAILURE, reason)

    def _await_failure(self):
        """Ends this process if another one fails: the main thread may wait for it forever."""
        try:
            reason = self._client.blocking_key_value_get(_FAILURE, _FOREVER)
        except Exception:  # The run has ended.
            return
        if not self._ending.acquire(blocking=False):
            return
        try:
            print(f"kformer: {_printable(reason)}", file=sys.stderr, flush=True)
            for clean_up in self._at_loss:
                clean_up()
        finally:
            os._exit(2)


def interruptible(function: Callable, *arguments: Any, seconds: float | None = None) -> Any:
    """Returns the result of a function of JAX that blocks, which Ctrl-C alone would not end.

    Raises TimeoutError after so many seconds.
    """
    future: Future = Future()

    def call():
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return future.result(seconds)


def _printable(reason):
    """Returns the message of another process as one line that is safe for a terminal."""
    text = " ".join(reason[:4096].split())
    return "".join(character if character.isprintable() else "?" for character in text)


_team = ProcessTeam()


def team() -> ProcessTeam:
    """Returns the processes that train together: this one alone, outside `in_team`."""
    return _team


@contextlib.contextmanager
def in_team(substitute: ProcessTeam):
    """Makes `team` return `substitute` while the context is open."""
    global _team
    before, _team = _team, substitute
    try:
        yield
    finally:
        _team = before
