"""Lines of text through a model: one for one, in chunks, so that memory has a bound."""

import contextlib
import re
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.terminal.progress import Progress
from kformer.files import replacing
from kformer.serving.errors import printable
from kformer.text.text_files import decoded, read_lines

CHUNK = 2000  # Lines in memory at once, sorted by length among themselves,
CHUNK_CHARACTERS = 4_000_000  # or fewer, if they have so many characters.

Input = Annotated[Path | None, typer.Option(help="Text to translate; by default stdin.")]
Output = Annotated[Path | None, typer.Option(help="File to write; by default stdout.")]


def lines_to_translate(input, ends=False):
    """Returns the lines of a file, or of stdin if that is None, and their number, if known.

    A file is read once to count its lines and to find what is not UTF-8, and then while it is
    translated: it may be larger than the memory.

    Args:
        input: Path of the file, or None.
        ends: Whether lines keep their line ends.
    """
    if input is None:
        return decoded(sys.stdin.buffer, "stdin", ends), None
    return read_lines(input, ends), sum(1 for _ in read_lines(input))


def translate_lines(translate, lines, total=None):
    """Yields a translation for each of `lines`, one line each, whatever is in it."""
    for translation in in_chunks(translate, lines, total):
        yield one_line(translation)


def in_chunks(work, items, total=None, chunk=None, label="Translating"):
    """Yields what `work` makes of each item; see `chunks_done`."""
    with Progress(label, total) as progress:
        for results in chunks_done(work, items, progress, chunk):
            yield from results


def chunks_done(work, items, progress, chunk=None, done=0):
    """Yields a list of what `work` makes of each item, for one chunk of the items after another.

    Where a chunk ends depends only on the items from its beginning.

    Args:
        work: callable (items, progress) -> results, as many; warns of sentences by number.
        items: iterable of lines, or of tuples of lines that belong together.
        progress: `kformer.cli.terminal.progress.Progress`.
        chunk: Most items at once; by default 2,000.
        done: Number of lines before the first item, for messages.
    """
    for part in _chunks(items, chunk or CHUNK):
        progress.read(len(part))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                results = work(part, progress=progress.update)
            except ValueError as error:
                raise ValueError(_of_lines(error, done)) from error
        _warn_of_lines(caught, done)
        done += len(part)
        yield results


def one_line(text):
    """The text without the line ends that may be in it."""
    return " ".join(text.splitlines())


@contextlib.contextmanager
def writing(output):
    """Opens the file `output`, which appears whole or not at all, or stdout if that is None.

    On a terminal, control characters are escaped: a model or a server could steer it by them. A
    device or a pipe, such as /dev/null, is written to and not replaced.
    """
    if output is None:
        yield _Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif output.exists() and not output.is_file():
        with output.open("wb") as file:
            yield _Terminal(file) if file.isatty() else file
    else:
        with replacing(output) as temporary, temporary.open("wb") as file:
            yield file


class _Terminal:
    def __init__(self, file):
        self._file = file

    def write(self, line):
        self._file.write(printable(line.decode("utf-8")).encode("utf-8"))


def check_output(output):
    """Refuses a folder where a file is to be written."""
    if output and output.is_dir():
        raise IsADirectoryError(f"The output must be a file. Received: folder {str(output)!r}.")


def _chunks(items, most):
    chunk, characters = [], 0
    for item in items:
        chunk.append(item)
        characters += len(item) if isinstance(item, str) else sum(map(len, item))
        if len(chunk) == most or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _warn_of_lines(caught, done):
    """Issues warnings again, of lines of the whole text."""
    for warning in caught:
        message = _of_lines(warning.message, done)
        warnings.warn_explicit(message, warning.category, warning.filename, warning.lineno)


def _of_lines(message, done):
    """Returns a message of a line of the whole text instead of a sentence of a chunk."""
    return re.sub(
        r"\b(Sentence|Text|(?<=of )sentence|prompt) (\d+)",
        lambda found: f"{'Line' if found[1].istitle() else 'line'} {done + int(found[2])}",
        str(message),
        count=1,
    )
