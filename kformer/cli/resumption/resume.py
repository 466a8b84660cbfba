"""Translates a file so that a later process can go on with it."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from kformer.cli.resumption.unfinished import unfinished
from kformer.cli.terminal.lines import chunks_done
from kformer.cli.terminal.output_format import OutputFormat, written
from kformer.cli.terminal.progress import Progress


def check_resumable(input: Path | None, output: Path | None):
    """Refuses text and outputs that are not files: they cannot be gone on with."""
    others = [path for path in (input, output) if path and path.exists() and not path.is_file()]
    if input is None or output is None or others:
        raise ValueError(
            "--resume needs the text in a file, --input, and a file to write, --output. Received: "
            f"input={_shown(input)}, output={_shown(output)}."
        )


def write_resumably(
    start: Callable, items: Iterable, total: int, format: OutputFormat, output: Path, settings: dict
):
    """Writes the translations of all items; goes on where an earlier process ended.

    The output has the bytes of one that is written without a break: it is only whole up to the
    end of a chunk, so the chunks are the same, and the sentences that are translated together.

    Args:
        start: Called without arguments if anything is left to do; loads the model and returns
            `work` and `chunk`, see `chunks_done`.
        items: iterable of lines, or of tuples of lines that belong together.
        total: Number of items.
        format: `OutputFormat`.
        output: Path of the file to write.
        settings: See `kformer.cli.resumption.settings`.
    """
    with unfinished(output, settings, total) as part:
        if part.lines:
            typer.echo(f"kformer: Resuming after line {part.lines} of {total}.", err=True)
        if part.lines == total:
            return
        work, chunk = start()
        left = itertools.islice(items, part.lines, None)
        with Progress("Translating", total, part.lines, in_log=True) as progress:
            for results in chunks_done(work, left, progress, chunk, part.lines):
                numbered = enumerate(results, start=part.lines + 1)
                content = b"".join(written(number, one, format) for number, one in numbered)
                part.append(content, len(results))


def _shown(path):
    return None if path is None else repr(str(path))
