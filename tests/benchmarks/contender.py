"""A contender as a benchmark sees it: a process that does a round of work when told to."""

import contextlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

KEEP_MEMORY = {  # Of the C library: freed memory stays with its process. For a virtual machine to
    "MALLOC_MMAP_MAX_": "0",  # give it back and take it again can cost from nothing to seconds,
    "MALLOC_TRIM_THRESHOLD_": str(2**36),  # and chance says whose round that is.
}
PACKAGES = Path(__file__).parents[1]  # The folder of `benchmarks`.


class ContenderFailed(Exception):
    """A contender cannot be measured; the message says why."""


class Contender:
    """A process that answers every line with one of JSON; see `benchmarks.process`.

    Args:
        command: The process.
        log: File for everything else that it says.
    """

    def __init__(self, command: list[str], log: Path):
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**environment(), **KEEP_MEMORY, "TMPDIR": str(log.parent)},
                start_new_session=True,
                text=True,
                bufsize=1,
            )

    def round(self) -> dict:
        """Has a round done and returns what was measured, or raises ContenderFailed."""
        try:
            print("round", file=self._process.stdin)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ContenderFailed(self._reason())
        return json.loads(line)

    def _reason(self):
        code = self._process.wait()
        if code < 0:
            return f"ended by {signal.Signals(-code).name}"
        return reason(self._log.read_text("utf-8", "replace")) or f"ended with exit code {code}"

    def close(self):
        """Ends the process and those that it started, whatever they are doing."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def environment() -> dict[str, str]:
    """Returns the variables that a process needs to find `benchmarks`, and no graphics card."""
    paths = [str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "CUDA_VISIBLE_DEVICES": "",  # All on the processor, or none.
    }


def reason(log: str) -> str | None:
    """Returns the line of what a process said that tells best why it ended; None if it is empty."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return [None, *lines[-1:], *errors[-1:]][-1]
