"""The journal of an unfinished output: its settings, and points up to which it is whole.

The first line is JSON. Each further line is a point: the lines of text that are done, the bytes of
the output by then, and the CRC-32 of these bytes. Both files only ever grow. Since a point is
checked against the output, it does not matter which writes reached the disk, or in which order.

All processes that work on an output must have the same settings, so that its bytes are the same.
"""

import fcntl
import hashlib
import json
import os
import re
import zlib
from pathlib import Path
from typing import NamedTuple, TypedDict

import kformer
from kformer.export.saved_model.serving_files import newest_version
from kformer.files import open_own
from kformer.json_files import parse_json

_FORMAT = 1
_POINT = re.compile(rb"(\d+) (\d+) ([0-9a-f]{8})\n")
_BLOCK = 2**20  # Bytes that are read at once.


class _Header(TypedDict):
    kformer_journal: int
    settings: dict


class Point(NamedTuple):
    """A position up to which an output is whole.

    Attributes:
        lines: Number of lines of text that are done.
        size: Number of bytes of the output.
        checksum: CRC-32 of these bytes.
    """

    lines: int = 0
    size: int = 0
    checksum: int = 0

    def after(self, content: bytes, lines: int) -> "Point":
        """Returns the point after `lines` more lines, which are `content` in the output."""
        checksum = zlib.crc32(content, self.checksum)
        return Point(self.lines + lines, self.size + len(content), checksum)


class Journal:
    """The journal at a path, created if it is missing and locked while it is open.

    Args:
        path: Path of the journal.

    Attributes:
        settings: dict, the settings that it began with; None if it has no whole first line.
        points: list of `Point`.

    Raises:
        BlockingIOError: Another process works on the same output.
        PermissionError: It is a link.
        ValueError: The file is no journal, or of a newer format.
    """

    def __init__(self, path: Path):
        self._file = open_own(path, "a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(self._file.fileno()).st_nlink:  # The other process has just finished.
                raise BlockingIOError
            self.settings, self.points, self._ends = self._read(path)
        except BlockingIOError as error:
            self._file.close()
            raise BlockingIOError(
                f"One process at a time may work on an output. Received: {str(path)!r}, which "
                "another process has open."
            ) from error
        except BaseException:
            self._file.close()
            raise

    def _read(self, path):
        """Returns the settings, the points, and where each of these lines ends."""
        self._file.seek(0)
        first, *lines = self._file.readlines() or [b""]
        if not first.endswith(b"\n"):  # The process was killed while it wrote the line.
            return None, [], []
        points, ends = [], [len(first)]
        for line in lines:
            match = _POINT.fullmatch(line)
            if not match:  # Likewise.
                break
            points.append(Point(int(match[1]), int(match[2]), int(match[3], 16)))
            ends.append(ends[-1] + len(line))
        return _settings_in(first, path), points, ends

    def begin(self, settings: dict):
        """Makes it the journal of an empty output."""
        self._file.truncate(0)
        self.settings, self.points, self._ends = settings, [], []
        header = {"kformer_journal": _FORMAT, "settings": settings}
        self._write(json.dumps(header, ensure_ascii=False).encode())

    def keep(self, count: int):
        """Removes all points but the first `count`, and the bytes behind them."""
        del self.points[count:], self._ends[count + 1 :]
        self._file.truncate(self._ends[-1])

    def add(self, point: Point):
        """Adds a point; its output must have been written."""
        self._write(f"{point.lines} {point.size} {point.checksum:08x}".encode())
        self.points.append(point)

    def _write(self, line):
        self._file.write(line + b"\n")
        self._file.flush()
        self._ends.append((self._ends[-1] if self._ends else 0) + len(line) + 1)

    def close(self):
        """Closes and unlocks it."""
        self._file.close()


def whole_points(points: list[Point], output: Path) -> int:
    """Returns how many of the points, from the first, the file `output` reaches undamaged."""
    if not output.is_file():
        return 0
    checksum = position = 0
    with output.open("rb") as file:
        for number, point in enumerate(points):
            while position < point.size:
                block = file.read(min(point.size - position, _BLOCK))
                if not block:
                    return number
                checksum = zlib.crc32(block, checksum)
                position += len(block)
            if checksum != point.checksum:
                return number
    return len(points)


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
    """Returns the settings of a translation, for `unfinished`: JSON.

    Args:
        model: Path of the model, of any form.
        files: Paths of the text and of other files that are read along with it, by option.
        options: All options that may change the output, by name.
    """
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
    folder = newest_version(path)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    contents = [f"{file.relative_to(folder)} {_digest(file)}\n" for file in files]
    return hashlib.sha256("".join(contents).encode()).hexdigest()


def _digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
