"""Lines of text through a model: one for one, in chunks, so that memory has a bound."""

import contextlib
import os
import re
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kformer.cli.terminal.progress_line import ProgressLine
from kformer.cli.terminal.streams import Stream
from kformer.files import replacing
from kformer.serving.errors import printable
from kformer.text.long_lines import lines_of
from kformer.text.text_files import decoded, read_lines

CHUNK = 2000  # Lines in memory at once, sorted by length among themselves,
CHUNK_CHARACTERS = 4_000_000  # or fewer, if they have so many characters.
_LONGEST_PATH = 256  # Characters, for a text that is taken for one.


def _not_dash(path):
    """Returns None for "-", which stands for stdin and stdout."""
    return None if path == Path("-") else path


def file_or_standard(help: str):
    """Returns an option for a file; without it, or as "-", it is None."""
    return typer.Option(help=help, callback=_not_dash)


Input = Annotated[Path | None, file_or_standard("Text to translate; by default stdin.")]
Texts = Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts to translate.")]
Output = Annotated[Path | None, file_or_standard("File to write; by default stdout.")]


class Text(NamedTuple):
    """Lines to work on.

    Attributes:
        lines: Iterable of strings.
        total: Their number; None if it is not known.
        pauses: Callable (since) -> whether to work on the lines that were read `since`, because no
            other line comes right behind them; None if all lines are there.
    """

    lines: Iterable[str]
    total: int | None = None
    pauses: Callable[[float], bool] | None = None


def lines_to_translate(input: Any, ends: bool = False) -> Text:
    """Returns the lines of a file, or of stdin if that is None.

    A file is read once to count its lines and to check that it is UTF-8, and then while it is
    translated: it may be larger than the memory. A pipe is read once.

    Args:
        input: Path of the file or of a pipe, or None.
        ends: Whether lines keep their line ends.
    """
    if input is None:
        return _stdin_text(ends)
    if input.exists() and not input.is_file() and not input.is_dir():
        stream = Stream(os.open(input, os.O_RDONLY))
        return Text(decoded(stream, repr(str(input)), ends), None, stream.pauses)
    total = sum(1 for _ in read_lines(input, may_be_empty=True))
    return Text(read_lines(input, ends, may_be_empty=True), total)


def one_source(texts: list[str] | None, input: Path | None) -> list[str] | Path | None:
    """Returns the texts of a command, or the path of the file that it reads instead."""
    for text in texts or ():
        if len(text) < _LONGEST_PATH and Path(text).is_file():
            raise ValueError(
                f"TEXT is a text itself; --input reads a file. Received: {text!r}, a file."
            )
    if texts and input:
        raise ValueError(
            f"Give texts or --input, not both. Received: {texts[0]!r}, {str(input)!r}."
        )
    return texts or input


def text_in(source: list[str] | Path | None) -> Text:
    """Returns the lines of `one_source`: texts as they are, or as by `lines_to_translate`."""
    return Text(source, len(source)) if isinstance(source, list) else lines_to_translate(source)


def _stdin_text(ends):
    content = sys.stdin.buffer
    try:
        is_file = stat.S_ISREG(os.fstat(content.fileno()).st_mode)
    except OSError:  # It has no file descriptor.
        is_file = True
    if is_file:
        return Text(decoded(lines_of(content), "stdin", ends))
    stream = Stream(content.fileno())
    return Text(decoded(stream, "stdin", ends), None, stream.pauses)


def translate_lines(translate: Callable, lines: Iterable[str], total: int | None = None):
    """Yields a translation for each of `lines`, one line each, whatever is in it."""
    for translation in in_chunks(translate, lines, total):
        yield one_line(translation)


def in_chunks(
    work: Callable,
    items: Iterable,
    total: int | None = None,
    chunk: int | None = None,
    label: str = "Translating",
    pauses: Any = None,
):
    """Yields the result of `work` for each item, chunk by chunk like `chunks_done`.

    If lines come slowly, each result reaches stdout before the next line is read.
    """
    is_dialogue = pauses is not None and sys.stdout.isatty()
    with ProgressLine(label, total, hidden=is_dialogue) as progress:
        for results in chunks_done(work, items, progress, chunk, pauses=pauses):
            yield from results
            if pauses:
                sys.stdout.flush()


def chunks_done(
    work: Callable,
    items: Iterable,
    progress: Any,
    chunk: int | None = None,
    done: int = 0,
    pauses: Any = None,
):
    """Yields lists of the results of `work` for the items, one chunk after another.

    Without `pauses`, where a chunk ends depends only on the items from its beginning.

    Args:
        work: callable (items, progress) -> results, as many; warns of sentences by number.
        chunk: Most items at once; by default 2,000.
    """
    for part in _chunks(items, chunk or CHUNK, pauses):
        progress.read(len(part))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                results = work(part, progress=progress.update)
            except ValueError as error:
                raise ValueError(_numbered_by_line(error, done)) from error
        _warn_of_lines(caught, done)
        done += len(part)
        yield results


def one_line(text: str):
    """The text without the line ends that may be in it."""
    return " ".join(text.splitlines())


@contextlib.contextmanager
def writing(output: Any):
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
    def __init__(self, file: Any):
        self._file = file

    def write(self, line: bytes):
        self._file.write(printable(line.decode("utf-8")).encode("utf-8"))


def check_output(output: Path | None):
    """Refuses a folder where a file is to be written."""
    if output and output.is_dir():
        raise IsADirectoryError(f"The output must be a file. Received: folder {str(output)!r}.")


def _chunks(items, most, pauses):
    chunk, characters, since = [], 0, 0.0
    for item in items:
        since = since if chunk else time.monotonic()
        chunk.append(item)
        characters += len(item) if isinstance(item, str) else sum(map(len, item))
        is_full = len(chunk) == most or characters >= CHUNK_CHARACTERS
        if is_full or (pauses and pauses(since)):
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _warn_of_lines(caught, done):
    """Issues warnings again, of lines of the whole text."""
    for warning in caught:
        message = _numbered_by_line(warning.message, done)
        warnings.warn_explicit(message, warning.category, warning.filename, warning.lineno)


def _numbered_by_line(message, done):
    """Returns a message of a line of the whole text instead of a sentence of a chunk."""
    return re.sub(
        r"\b(Sentence|Text|(?<=of )sentence|prompt) (\d+)",
        lambda match: f"{'Line' if match[1].istitle() else 'line'} {done + int(match[2])}",
        str(message),
        count=1,
    )
