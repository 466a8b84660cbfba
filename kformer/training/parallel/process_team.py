"""`team`: the processes that train together."""

import contextlib
import json
from collections.abc import Callable
from typing import Any

from kformer.training.parallel.channel import Channel
from kformer.training.parallel.peer_connection import printable


class ProcessTeam:
    """The processes that train together.

    Args:
        channel: The connection to the others; None for a process on its own.

    Attributes:
        process: Number of this process, from 0.
        processes: Their number.
    """

    def __init__(self, channel: Channel | None = None):
        self._channel = channel
        self.process = channel.process if channel else 0
        self.processes = channel.processes if channel else 1

    def exchange_bytes(self, content: bytes) -> list[bytes]:
        """Returns the contents of all processes, in their order; each must call this."""
        return self._channel.exchange(content) if self._channel else [content]

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
                    f"{printable(content[:99])!r} from process {process}."
                )
        return values

    def at_loss(self, clean_up: Callable[[], None]):
        """Has `clean_up` called if this process must end because another one died."""
        if self._channel:
            self._channel.at_loss.append(clean_up)


_team = ProcessTeam()


def team() -> ProcessTeam:
    """Returns the processes that train together: this one alone, outside `in_team`."""
    return _team


@contextlib.contextmanager
def in_team(substitute: ProcessTeam):
    """Makes `team` return `other` while the context is open."""
    global _team
    before, _team = _team, substitute
    try:
        yield
    finally:
        _team = before
