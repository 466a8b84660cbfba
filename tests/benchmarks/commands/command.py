"""A command as a contender: a round is a run of it."""

import os
import subprocess
import time
from pathlib import Path

from benchmarks.contender import ContenderFailed, environment, reason

OUTPUT = "translation"  # What a command writes, in its folder.


class Command:
    """A command that reads a file and writes OUTPUT.

    Args:
        command: It runs in `folder`.
        folder: Of its files.
    """

    def __init__(self, command: list[str], folder: Path):
        self._command = command
        self._folder = folder

    def round(self) -> dict:
        """Runs it; returns its seconds, its peak of memory, and of each line the words as `ids`."""
        output = self._folder / OUTPUT
        output.unlink(missing_ok=True)
        log = self._folder / "log"
        start = time.perf_counter()
        with log.open("wb") as errors:
            process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )
            _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said = reason(log.read_text("utf-8", "replace"))
            raise ContenderFailed(said or f"ended with exit code {process.returncode}")
        lines = output.read_text("utf-8").split("\n")[:-1]
        return {
            "seconds": seconds,
            "peak_bytes": used.ru_maxrss * 1024,  # Linux counts in KiB.
            "ids": [line.split() for line in lines],
        }
