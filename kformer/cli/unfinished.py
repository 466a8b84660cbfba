"""An unfinished output: a file under a temporary name that a later process can continue.

Its bytes are in `OUTPUT.kformer-part`. `OUTPUT.kformer-journal` has a line of JSON, the settings,
and a line for each whole chunk: the lines of text that are done, and the bytes of the part by then.
A chunk is on the disk before its line is written, so a process that was killed, even by a loss of
power, leaves at most some bytes behind the last chunk, which are cut off.

All processes that work on an output must have the same settings, so that its bytes are the same.
"""

import contextlib
import fcntl
import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, TypedDict

import typer

import kformer
from kformer.cli.terminal.line_streams import chunks_done
from kformer.cli.terminal.output_format import OutputFormat, written
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.export.loading import saved_form
from kformer.export.saved_model.serving_files import newest_version
from kformer.files import check_writable, linked, open_own, sha256_of_folder
from kformer.json_files import parse_json

_FORMAT = 2  # Format 1 had checksums.
_CHUNK = re.compile(rb"(\d+) (\d+)\n")


class _Header(TypedDict):
    kformer_journal: int
    settings: dict


class _Chunk(NamedTuple):
    """The end of a whole chunk: lines of text, bytes of the part, bytes of the journal."""

    lines: int
    size: int
    journal_size: int


@contextlib.contextmanager
def unfinished(output: Path, settings: dict, total: int | None = None) -> Iterator["Unfinished"]:
    """Yields the `Unfinished` output of a text; publishes it if the block ends without an error.

    Without a total, the block itself writes the output, from what the part has in the end.

    After an error or a kill, `OUTPUT.kformer-part` and `OUTPUT.kformer-journal` stay, and a later
    call goes on there. If nothing was done yet, an error leaves no file.

    Args:
        total: Number of lines of the text, or None.
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
                    where = (
                        f"{part.lines} texts" if total is None else f"line {part.lines} of {total}"
                    )
                    typer.echo(
                        f"kformer: Stopped after {where}. The same command goes on there.", err=True
                    )
                raise
            if total is None:
                part.discard()
            else:
                part.publish()
    finally:
        with contextlib.suppress(OSError):  # They are not empty.
            for folder in folders:
                folder.rmdir()


class Unfinished:
    """The written part of an output, and its journal, locked while open; `unfinished` opens it.

    Attributes:
        lines: Number of lines of the text that are done.
    """

    def __init__(self, output: Path, settings: dict, total: int | None):
        self._output = output
        self._part = output.with_name(f"{output.name}.kformer-part")
        self._journal_path = output.with_name(f"{output.name}.kformer-journal")
        if output.exists() and not self._journal_path.exists():
            raise _whole(output)
        self._journal = open_own(self._journal_path, "a+b")
        try:
            _lock(self._journal, self._journal_path)
            earlier, chunks = _read(self._journal, self._journal_path)
        except BaseException:
            self._journal.close()
            raise
        last = chunks[-1] if chunks else _Chunk(0, 0, 0)
        self.lines, self._size = last.lines, last.size
        self._published = False
        self._file: IO[bytes] | None = None
        try:
            if chunks:
                check_same(settings, earlier, self._journal_path)
            elif output.exists():
                raise _whole(output)
            self._published = self._is_published(total)
            if not self._published:
                self._cut(settings, chunks)
        except BaseException:
            self.close()
            raise

    def _is_published(self, total):
        """Returns whether a process was killed between the renaming and the journal's end."""
        return (
            0 < self.lines == total
            and not self._part.exists()
            and self._output.is_file()
            and self._output.stat().st_size == self._size
        )

    def _cut(self, settings, chunks):
        """Opens the part, and cuts it and the journal after the last chunk that is whole."""
        self._file = open_own(self._part, "ab")
        size = os.fstat(self._file.fileno()).st_size
        whole = [chunk for chunk in chunks if chunk.size <= size]
        self.lines, self._size, journal_size = whole[-1] if whole else _Chunk(0, 0, 0)
        self._file.truncate(self._size)
        self._journal.truncate(journal_size)
        if not whole:
            header = {"kformer_journal": _FORMAT, "settings": settings}
            self._record(json.dumps(header, ensure_ascii=False))

    def append(self, content: bytes, lines: int):
        """Appends the translations of the next `lines` lines and records them in the journal."""
        assert self._file is not None  # There are more lines than were published.
        self._file.write(content)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._record(f"{self.lines + lines} {self._size + len(content)}")
        self.lines += lines
        self._size += len(content)

    def _record(self, line):
        self._journal.write(f"{line}\n".encode())
        self._journal.flush()

    def content(self) -> bytes:
        """Returns the bytes of the part."""
        return self._part.read_bytes()

    def discard(self):
        """Deletes the part and the journal, whose content the output has in another way."""
        self._part.unlink()
        self._journal_path.unlink()
        self._published = True

    def publish(self):
        """Gives the part its name, and deletes the journal."""
        if not self._published:
            self._part.replace(self._output)
        self._journal_path.unlink()
        self._published = True

    def close(self):
        """Closes the files; deletes them if nothing was done."""
        if self._file:
            with contextlib.suppress(OSError):  # The journal has no entry for unwritten bytes.
                self._file.close()
        if not self._published and not self.lines:
            self._part.unlink(missing_ok=True)
            self._journal_path.unlink(missing_ok=True)
        self._journal.close()


def _lock(journal, path):
    try:
        fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(journal.fileno()).st_nlink:  # The other process has just finished.
            raise BlockingIOError
    except BlockingIOError as error:
        raise BlockingIOError(
            f"One process at a time may work on an output. Received: {str(path)!r}, which "
            "another process has open."
        ) from error


def _read(journal, path):
    """Returns the settings in a journal, None if its first line is cut, and its whole chunks."""
    journal.seek(0)
    first, *lines = journal.readlines() or [b""]
    if not first.endswith(b"\n"):  # The process was killed while it wrote the line.
        return None, []
    chunks, end = [], len(first)
    for match in itertools.takewhile(bool, map(_CHUNK.fullmatch, lines)):
        end += len(match[0])
        chunks.append(_Chunk(int(match[1]), int(match[2]), end))
    return _settings_in(first, path), chunks


def _settings_in(line, path):
    try:
        header = parse_json(line, _Header)
    except ValueError as error:
        raise ValueError(
            f"The file must be a journal of `kformer translate`. Received: {str(path)!r} ({error})."
        ) from error
    version, settings = header["kformer_journal"], header["settings"]
    if version != _FORMAT:
        raise ValueError(
            f"This kformer reads journals of format {_FORMAT}. Received: {str(path)!r} of format "
            f"{version!r}."
        )
    return settings


def settings_of(model: Path, files: dict[str, Path | None], options: dict) -> dict:
    """Returns the settings of a translation, for `unfinished`: JSON."""
    contents = {name: path and _digest(path) for name, path in files.items()}
    return {
        "files": {"model": _digest_of_model(model), **contents},
        "options": {"kformer": kformer.__version__, **options},
    }


def check_same(settings: dict, earlier: dict, journal: Path):
    """Raises a ValueError with the difference from earlier settings, if there is one."""
    files = [
        f"another --{name}" if name != "model" else "another model"
        for name, _, _ in _differences(settings["files"], earlier["files"])
    ]
    options = [
        f"{name}={now} instead of {before}"
        for name, now, before in _differences(settings["options"], earlier["options"])
    ]
    if files or options:
        raise ValueError(
            "--resume needs the model, the text and the options with which the output began; or "
            "delete the journal to begin again. "
            f"Received: {', '.join(files + options)}; journal {str(journal)!r}."
        )


def _differences(now, before):
    """Yields name, value now and value before, where these differ."""
    for name in {**now, **before}:
        if now.get(name) != before.get(name):
            yield name, now.get(name), before.get(name)


def _digest_of_model(path):
    if path.is_file():
        return _digest(path)
    in_ctranslate2 = saved_form(path) == "ctranslate2"
    return sha256_of_folder(path if in_ctranslate2 else newest_version(path))


def _digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
