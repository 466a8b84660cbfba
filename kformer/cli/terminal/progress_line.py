"""How far a command is, how fast, and how long it will take: on stderr."""

import contextlib
import shutil
import sys
import time

import typer

_EVERY = 60.0  # Seconds between two lines, where there is no terminal.
_REDRAW = 0.1  # Seconds between two drawings of the bar.
_CLEAR_LINE = "\r\x1b[2K"
_WIDTHS = 10, 36  # Of the bar, at least and at most.


class ProgressLine:
    """A bar, if stderr is a terminal; otherwise nothing, or a line every minute.

    A context manager. The bar always fits the terminal. The time left counts the lines of this
    process alone: it is right for one that goes on where another one ended.

    Args:
        label: The work in a word, such as "Translating".
        total: Number of lines, if that is known.
        done: Number of lines that were done before.
        in_log: Whether to write a line every minute where there is no terminal.
        hidden: Whether to show nothing at all.
    """

    def __init__(
        self,
        label: str,
        total: int | None,
        done: int = 0,
        in_log: bool = False,
        hidden: bool = False,
    ):
        self._label, self._total, self._done = label, total, done
        self._read = self._new = 0
        self._begun, self._drawn = time.monotonic(), float("-inf")
        is_terminal = sys.stderr.isatty()
        self._is_bar = is_terminal and not hidden
        in_log = in_log and not is_terminal and not hidden
        self._due = self._begun + _EVERY if in_log else float("inf")

    def __enter__(self):
        self._draw()
        return self

    def __exit__(self, *error):
        self._draw(last=True)

    def read(self, lines: int):
        """Counts lines that were read, where the total is not known."""
        self._read += lines

    def update(self, lines: int):
        """Counts lines that were done."""
        self._new += lines
        self._draw()
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _EVERY
            done = f"{self._done + self._new:,} of {self._total:,} lines"
            typer.echo(f"kformer: {self._label}: {done}, {', '.join(self._pace())}", err=True)

    def _draw(self, last=False):
        if self._is_bar and (last or time.monotonic() >= self._drawn + _REDRAW):
            self._drawn = time.monotonic()
            line = self._line(shutil.get_terminal_size().columns - 1)
            print(_CLEAR_LINE + line, end="\n" if last else "", file=sys.stderr, flush=True)

    def _line(self, most):
        """Returns the line of the bar, in at most so many characters: speed and bar go first."""
        done, total = self._done + self._new, self._total or self._done + self._read
        pace = self._pace()
        for tail in (pace, pace[1:], []):
            texts = [self._label, f"{done:,}/{total:,}", *filter(None, [", ".join(tail)])]
            width = most - len("  ".join(texts)) - len("  []")
            if width >= -len("  []"):
                break
        width = min(width, _WIDTHS[1])
        full = min(width, width * done // max(1, total))
        if width >= _WIDTHS[0]:
            texts.insert(1, f"[{'#' * full}{'-' * (width - full)}]")
        return "  ".join(texts)[: max(0, most)]

    def _pace(self):
        """Returns the lines a second, and the time left if that is known; nothing at first."""
        if not self._new:
            return []
        seconds = max(time.monotonic() - self._begun, 1e-3)
        speed = f"{self._new / seconds:,.0f} lines/s"
        if not self._total:
            return [speed]
        left = (self._total - self._done - self._new) / self._new * seconds
        return [speed, f"{time_left(left)} left"]


@contextlib.contextmanager
def waiting(text: str):
    """Shows what the command does until its first output, if stderr is a terminal.

    The line vanishes at the end. What is written meanwhile takes its place.
    """
    is_terminal = sys.stderr.isatty()
    if is_terminal:
        print(f"{text} ...", end="\r", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if is_terminal:
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)


def time_left(seconds: float) -> str:
    """Returns a time as its two largest units: "1 d 3 h", "2 h 5 min", "0 min 7 s"."""
    seconds = round(seconds)
    if seconds >= 86_400:
        return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{seconds // 60} min {seconds % 60} s"
