"""An unfinished output: a file under a temporary name that a later process can continue."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import typer

from kformer.cli.journal import Journal, Point, check_same, whole_points
from kformer.cli.terminal.line_streams import chunks_done
from kformer.cli.terminal.output_format import OutputFormat, written
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.files import check_writable, linked, open_own


@contextlib.contextmanager
def unfinished(output: Path, settings: dict, total: int) -> Iterator["Unfinished"]:
    """Yields the `Unfinished` output of a text; publishes it if the block ends without an error.

    After an error or a kill, `OUTPUT.kformer-part` and `OUTPUT.kformer-journal` stay, and a later
    call goes on there. If nothing was done yet, an error leaves no file.

    Args:
        output: The path that the whole output gets.
        settings: As for `kformer.cli.journal`.
        total: Number of lines of the text.

    Raises:
        BlockingIOError: Another process works on it.
        FileExistsError: A whole output is there, and nothing unfinished.
        OSError: It cannot be written.
        ValueError: It began with other settings.
    """
    output = linked(output)
    check_writable(output)
    folders = [above for above in output.parents if not above.exists()]
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with contextlib.closing(Unfinished(output, settings, total)) as part:
            try:
                yield part
            except OSError as error:
                if error.errno and error.filename is None:
                    error.filename = str(output)
                raise
            except Exception:
                raise
            except BaseException:  # A signal.
                if part.lines:
                    typer.echo(
                        f"kformer: Stopped after line {part.lines} of {total}. The same command "
                        "goes on there.",
                        err=True,
                    )
                raise
            part.publish()
    finally:
        with contextlib.suppress(OSError):  # They are not empty.
            for folder in folders:
                folder.rmdir()


class Unfinished:
    """The written part of an output, and its journal; `unfinished` opens it.

    Attributes:
        lines: Number of lines of the text that are done.
    """

    def __init__(self, output, settings, total):
        self._output = output
        self._part = output.with_name(f"{output.name}.kformer-part")
        self._journal_path = output.with_name(f"{output.name}.kformer-journal")
        if output.exists() and not self._journal_path.exists():
            raise _whole(output)
        self._journal = Journal(self._journal_path)
        self._published, self._file = False, None
        try:
            self._point = self._resumed(settings, total)
        except BaseException:
            self.close()
            raise

    @property
    def lines(self):
        return self._point.lines

    def _resumed(self, settings, total):
        """Returns the last point up to which all is whole, and cuts off the rest."""
        journal = self._journal
        if not journal.points:
            if self._output.exists():
                raise _whole(self._output)
            journal.begin(settings)
        check_same(settings, journal.settings, self._journal_path)
        self._published = self._is_published(total)
        if self._published:
            return journal.points[-1]
        journal.keep(whole_points(journal.points, self._part))
        last = journal.points[-1] if journal.points else Point()
        self._file = open_own(self._part, "ab")
        self._file.truncate(last.size)
        return last

    def _is_published(self, total):
        """Returns whether a process was killed between the renaming and the journal's end."""
        points = self._journal.points
        return (
            bool(points)
            and not self._part.exists()
            and points[-1].lines == total
            and whole_points(points, self._output) == len(points)
            and self._output.stat().st_size == points[-1].size
        )

    def append(self, content: bytes, lines: int):
        """Appends the translations of the next `lines` lines and records them in the journal."""
        self._file.write(content)
        self._file.flush()
        self._point = self._point.after(content, lines)
        self._journal.add(self._point)

    def publish(self):
        """Gives the part its name, and deletes the journal."""
        if not self._published:
            os.fsync(self._file.fileno())
            self._part.replace(self._output)
        self._journal_path.unlink()
        self._published = True

    def close(self):
        """Closes the files; deletes them if nothing was done."""
        if self._file:
            with contextlib.suppress(OSError):  # The journal has no entry for unwritten bytes.
                self._file.close()
        if not self._published and not self._journal.points:
            self._part.unlink(missing_ok=True)
            self._journal_path.unlink(missing_ok=True)
        self._journal.close()


def _whole(output):
    return FileExistsError(
        "--resume does not replace a whole output. Delete it to translate again. "
        f"Received: {str(output)!r}."
    )


def check_resumable(input: Path | None, output: Path | None):
    """Refuses text and outputs that are not files: they cannot be gone on with."""
    special_files = [
        path for path in (input, output) if path and path.exists() and not path.is_file()
    ]
    if input is None or output is None or special_files:
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
            `work` and `chunk` for `chunks_done`.
        items: iterable of lines, or of tuples of lines that belong together.
        total: Number of items.
        format: `OutputFormat`.
        output: Path of the file to write.
        settings: As for `kformer.cli.journal`.
    """
    with unfinished(output, settings, total) as part:
        if part.lines:
            typer.echo(f"kformer: Resuming after line {part.lines} of {total}.", err=True)
        if part.lines == total:
            return
        work, chunk = start()
        left = itertools.islice(items, part.lines, None)
        with ProgressLine("Translating", total, part.lines, in_log=True) as progress:
            for results in chunks_done(work, left, progress, chunk, part.lines):
                numbered = enumerate(results, start=part.lines + 1)
                content = b"".join(
                    written(number, translation, format) for number, translation in numbered
                )
                part.append(content, len(results))


def _shown(path):
    return None if path is None else repr(str(path))
