"""Lines of text through a translator: one for one."""

import itertools
import re
import sys
import warnings

import typer

CHUNK = 2000  # Lines in memory at once, sorted by length among themselves.


def translate_lines(translate, lines, total=None):
    """Yields a translation for each of `lines`, with a bar on stderr if that is a terminal.

    A translation is one line, whatever is in it.
    """
    bar = typer.progressbar(
        length=total or 0, label="Translating", file=sys.stderr, hidden=not sys.stderr.isatty()
    )
    with bar:
        lines, done = iter(lines), 0
        while chunk := list(itertools.islice(lines, CHUNK)):
            if not total:
                bar.length += len(chunk)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                translations = translate(chunk, progress=bar.update)
            _warn_of_lines(caught, done)
            done += len(chunk)
            for translation in translations:
                yield " ".join(translation.splitlines())


def _warn_of_lines(caught, done):
    """Issues warnings again, of lines of the whole text instead of sentences of a chunk."""
    for warning in caught:
        message = re.sub(
            r"^Sentence (\d+)", lambda n: f"Line {done + int(n[1])}", str(warning.message)
        )
        warnings.warn_explicit(message, warning.category, warning.filename, warning.lineno)
