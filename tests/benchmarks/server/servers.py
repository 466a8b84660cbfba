"""The servers that are measured, each a process of its own."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.contender import environment, reason

_NAME = "translator"
PATH = f"/v1/models/{_NAME}:predict"
TFLITE, FOLDER = "model.tflite", "ctranslate2"
_KFORMER = ["kformer", "serve", "--port", "0", "--quiet"]
SERVERS = {  # The module that runs, and its arguments.
    "kformer, .tflite": [*_KFORMER, f"{_NAME}={TFLITE}"],
    "kformer, ctranslate2 folder": [*_KFORMER, f"{_NAME}={FOLDER}"],
    "ctranslate2's own": ["benchmarks.server.ctranslate2_server", FOLDER, PATH],
}


class Server(NamedTuple):
    """A running server."""

    process: subprocess.Popen
    port: int


@contextlib.contextmanager
def running(name: str, folder: Path) -> Iterator[Server]:
    """Yields a server of SERVERS, which reads the models in `folder`."""
    log = folder / f"{re.sub('[^a-z0-9]', '', name)}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", *SERVERS[name]],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        line = process.stdout.readline()
        if not (port := re.search(r":(\d+)$", line.strip())):
            process.wait()
            sys.exit(f"bench-serve: {name}: {reason(log.read_text('utf-8', 'replace'))}")
        yield Server(process, int(port[1]))
    finally:
        process.kill()
        process.communicate()


def resident_bytes(process: int) -> int:
    """Returns the memory that a process and its running children have at this moment."""
    children = " ".join(
        path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")
    )
    return sum(map(_resident, (process, *children.split())))


def _resident(process):
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
