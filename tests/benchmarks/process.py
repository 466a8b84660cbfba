"""A contender's own process: does a round of work whenever it is told to, else waits."""

import ctypes
import json
import os
import sys
import time
from pathlib import Path


class Rounds:
    """The pipe to the benchmark: a line in starts a round, a line of JSON out ends it."""

    def __init__(self):
        self._messages = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)  # What the libraries print is not a message.
        _stay_in_memory()

    def begin(self):
        """Waits until a round is wanted, without costing the others anything."""
        if not sys.stdin.readline():
            raise SystemExit
        self._start = time.perf_counter()

    def end(self, **measured):
        """Reports the round just done, and whatever was measured in it."""
        seconds = time.perf_counter() - self._start
        report = {"seconds": seconds, "peak_bytes": peak_bytes(), **measured}
        print(json.dumps(report), file=self._messages)


def _stay_in_memory():
    """Keeps the libraries of this process in memory while it waits, where the system allows that.

    Some machines take away what was not used for some seconds, and the next round would pay for it.
    """
    current, future, on_fault = 1, 2, 4  # Of <sys/mman.h>: no page comes in that is not needed.
    lock = getattr(ctypes.CDLL(None), "mlockall", None)
    if lock:
        lock(current | future | on_fault)


def peak_bytes() -> int | None:
    """Returns the peak of memory of this process plus those of its running children, in bytes.

    None where the system does not say.
    """
    if not Path("/proc/self/status").exists():
        return None
    children = " ".join(file.read_text() for file in Path("/proc/self/task").glob("*/children"))
    return sum(_peak_of(process) for process in ("self", *children.split()))


def _peak_of(process):
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
