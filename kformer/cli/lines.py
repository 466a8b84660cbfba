"""Lines of text in and out of the command line: one for one."""

import itertools
import sys

import typer

CHUNK = 2000  # Lines in memory at once, sorted by length among themselves.


def read_lines(file, name: str):
    """Yields the lines of a binary file, without their ends; `name` is for the error."""
    for number, line in enumerate(file, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Text must be UTF-8. Received: {name}, where line {number} is not "
                f"({error.reason})."
            ) from error


def read_file(path) -> list[str]:
    """Returns the lines of a text file, of which there must be some."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no such file. Received: {str(path)!r}.")
    with path.open("rb") as file:
        lines = list(read_lines(file, repr(str(path))))
    if not lines:
        raise ValueError(f"Text files must not be empty. Received: {str(path)!r}.")
    return lines


def translate_lines(translate, lines, total=None):
    """Yields a translation for each of `lines`, with a bar on stderr if that is a terminal.

    A translation is one line, whatever is in it.
    """
    bar = typer.progressbar(
        length=total or 0, label="Translating", file=sys.stderr, hidden=not sys.stderr.isatty()
    )
    with bar:
        lines = iter(lines)
        while chunk := list(itertools.islice(lines, CHUNK)):
            if not total:
                bar.length += len(chunk)
            for translation in translate(chunk, progress=bar.update):
                yield " ".join(translation.splitlines())
