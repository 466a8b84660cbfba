"""How far a command is, how fast, and how long it will take: on stderr."""

import sys
import time

import typer

_EVERY = 60.0  # Seconds between two lines, where there is no terminal.


class Progress:
    """A bar, if stderr is a terminal; otherwise nothing, or a line every minute.

    A context manager. The time left counts the lines of this process alone: it is right for one
    that goes on where another one ended.

    Args:
        label: What is done, such as "Translating".
        total: Number of lines, if that is known.
        done: Number of lines that were done before.
        in_log: Whether to write a line every minute where there is no terminal.
    """

    def __init__(self, label: str, total: int | None, done: int = 0, in_log: bool = False):
        self._label, self._total, self._done = label, total, done
        self._begun, self._new = time.monotonic(), 0
        is_terminal = sys.stderr.isatty()
        self._due = self._begun + _EVERY if in_log and not is_terminal else float("inf")
        self._bar = typer.progressbar(
            length=total or 0,
            label=label,
            show_eta=False,
            show_pos=True,
            item_show_func=lambda _: self._speed() if self._new else None,
            file=sys.stderr,
            hidden=not is_terminal,
        )

    def __enter__(self):
        self._bar.__enter__()
        if self._done:
            self._bar.update(self._done)
        return self

    def __exit__(self, *error):
        self._bar.__exit__(*error)

    def read(self, lines: int):
        """Counts lines that were read, where the total is not known."""
        if not self._total:
            self._bar.length += lines

    def update(self, lines: int):
        """Counts lines that were done."""
        self._new += lines
        self._bar.update(lines)
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _EVERY
            done = f"{self._done + self._new:,} of {self._total:,} lines"
            typer.echo(f"kformer: {self._label}: {done}, {self._speed()}", err=True)

    def _speed(self):
        """Returns the lines a second, and the time left if that is known."""
        seconds = max(time.monotonic() - self._begun, 1e-3)
        speed = f"{self._new / seconds:,.0f} lines/s"
        if not self._total:
            return speed
        left = (self._total - self._done - self._new) / self._new * seconds
        return f"{speed}, {time_left(left)} left"


def time_left(seconds: float) -> str:
    """Returns a time as its two largest units: "1 d 3 h", "2 h 5 min", "0 min 7 s"."""
    seconds = round(seconds)
    if seconds >= 86_400:
        return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{seconds // 60} min {seconds % 60} s"
