"""A copy of a `.tflite` file that stays as it was loaded, whatever happens to the file.

LiteRT maps files into memory. A file that is overwritten in place, as `cp` and `scp` do, would
change the constants under a graph that is running, or end the process by a signal.
"""

import os
import shutil
import tempfile
import weakref
from pathlib import Path

_BLOCK = 2**30  # Bytes that are copied at once; Linux copies at most twice as many.


class HeldFile:
    """A copy in memory, which all interpreters and processes of a model share.

    `os.fspath` gives the place of the copy, which this process can open, and a child process that
    inherits `descriptors`. `str` gives the path of the file, for messages. Where a system has no
    files in memory, the copy is a temporary file.

    Args:
        path: The file.
    """

    def __init__(self, path: Path):
        self._path = path
        self.descriptors: tuple[int, ...] = ()
        with path.open("rb") as file:
            self._place = self._in_memory(file) or self._in_folder(file)

    def __fspath__(self) -> str:
        return self._place

    def __str__(self) -> str:
        return str(self._path)

    def stat(self) -> os.stat_result:
        """Returns the size of the copy, and more."""
        return Path(self._place).stat()

    def _in_memory(self, file):
        """Copies an open file into memory; returns the path of the copy, None if there is none."""
        if not hasattr(os, "memfd_create"):
            return None
        descriptor = os.memfd_create("kformer")
        place = f"/proc/self/fd/{descriptor}"
        if not Path(place).exists():
            os.close(descriptor)
            return None
        weakref.finalize(self, os.close, descriptor)
        while os.sendfile(descriptor, file.fileno(), None, _BLOCK):
            pass
        self.descriptors = (descriptor,)
        return place

    def _in_folder(self, file):
        descriptor, place = tempfile.mkstemp(".tflite")
        weakref.finalize(self, _remove, place, os.getpid())
        with os.fdopen(descriptor, "wb") as copy:
            shutil.copyfileobj(file, copy)
        return place


def _remove(place, owner):
    if os.getpid() == owner:  # A fork ends before its parent.
        Path(place).unlink()
