"""The contenders as the benchmark sees them: processes that train a round when told to."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

COMMANDS = {  # The file beside this one, and its options.
    "kformer": ("kformer_fit",),
    "torch": ("torch_loop",),
    "torch-1-thread": ("torch_loop", "1"),
    "torch-compile": ("torch_loop", "compile"),
    "torch-compile-1-thread": ("torch_loop", "compile", "1"),
    "kerashub": ("kerashub_fit",),
    "kerashub-xla": ("kerashub_fit", "xla"),
}
PEAK = "matmul-peak"  # Runs with the contenders, for the machine may be slower at times.
KEEP_MEMORY = {  # Of the C library: freed memory stays with its process. For a virtual machine to
    "MALLOC_MMAP_MAX_": "0",  # give it back and take it again can cost from nothing to seconds,
    "MALLOC_TRIM_THRESHOLD_": str(2**36),  # and chance says whose round that is.
}
PACKAGES = Path(__file__).parents[2]  # The folder of `benchmarks`.


class ContenderFailed(Exception):
    """A contender cannot be measured; the message says why."""


class Contender:
    """A process that answers every line with one of JSON; see `benchmarks.training.process`.

    Args:
        command: The process.
        log: File for everything else that it says.
    """

    def __init__(self, command: list[str], log: Path):
        self._log = log
        paths = [str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "CUDA_VISIBLE_DEVICES": "",  # All on the processor, or none.
                    **KEEP_MEMORY,
                },
                text=True,
                bufsize=1,
            )

    def round(self) -> dict:
        """Trains a round and returns what was measured, or raises ContenderFailed."""
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
        lines = self._log.read_text("utf-8", "replace").splitlines()
        lines = [line.strip() for line in lines if line.strip()]
        errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
        return [f"ended with exit code {code}", *lines[-1:], *errors[-1:]][-1]

    def close(self):
        """Ends the process, whatever it is doing."""
        self._process.kill()
        self._process.communicate()


def command(name: str, size: str, dtype: str, batches: Path) -> list[str]:
    """Returns the command of the contender `name` of COMMANDS, or of PEAK."""
    file, *options = COMMANDS[name] if name != PEAK else ("matmul_peak",)
    module = f"benchmarks.training.{file}"
    return [sys.executable, "-m", module, size, dtype, str(batches), *options]
