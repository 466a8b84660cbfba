"""Translations that people suggest, by LibreTranslate's /suggest: lines of JSON in a file."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from kformer.server.refusals import Refusal

MOST_BYTES = 100_000_000  # Of the file.


class Suggestions:
    """A file to which suggestions are appended.

    Args:
        path: The file, which is made if there is none, readable by its owner alone.
        most: Maximum number of its bytes.

    Raises:
        ValueError: It cannot be written.
    """

    def __init__(self, path: str | Path, most: int = MOST_BYTES):
        self._path, self._most = Path(path), most
        try:
            os.close(self._open())
        except OSError as error:
            raise ValueError(
                "Suggestions need a file that can be written. "
                f"Received: {str(path)!r} ({error.strerror})."
            ) from error

    def add(self, **fields: str):
        """Appends a line with the time and some fields; raises a `Refusal` if the file is full."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        line = (json.dumps({"time": time, **fields}, ensure_ascii=False) + "\n").encode()
        file = self._open()
        try:
            if os.fstat(file).st_size + len(line) > self._most:
                raise Refusal(
                    507, f"The file of suggestions may have {self._most:,} bytes. Received: more."
                )
            os.write(file, line)  # At once, so that lines of several servers do not mix.
        except OSError as error:
            raise Refusal(
                507, f"The file of suggestions must be writable. Received: {error.strerror}."
            ) from error
        finally:
            os.close(file)

    def _open(self):
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
