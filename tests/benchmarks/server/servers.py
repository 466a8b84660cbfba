"""The servers that are measured, each a process of its own."""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.contender import environment, reason
from benchmarks.server.load import MODEL, PATH, Load, LoadResult, prediction_request

TFLITE, FOLDER = "model.tflite", "ctranslate2"
SAVED_MODEL, PROGRAM = "saved_model", "program.json"  # The second is a command, as a list.
BATCHED = "SavedModel, batched"
_LINES = 200  # Each is first answered alone.
KFORMER = ["kformer", "serve", "--port", "0", "--quiet"]
SERVERS = {  # The module that runs, and its arguments.
    "kformer, .tflite": [*KFORMER, f"{MODEL}={TFLITE}"],
    "kformer, ctranslate2 folder": [*KFORMER, f"{MODEL}={FOLDER}"],
    "ctranslate2's own": ["benchmarks.server.ctranslate2_server", FOLDER, PATH],
}


class Server(NamedTuple):
    """A running server."""

    process: subprocess.Popen
    port: int
    requests: list[bytes]

    def measure(self, connections: int, seconds: float) -> LoadResult:
        """Sends the requests over connections for a time."""
        return asyncio.run(Load(self.port, self.requests, connections).run(seconds=seconds))


class BatchedModel(NamedTuple):
    """A SavedModel behind TensorFlow Serving's loader and scheduler, without its network."""

    process: subprocess.Popen

    def measure(self, connections: int, seconds: float) -> LoadResult:
        """Has clients in the process ask for a time."""
        print(connections, seconds, file=self.process.stdin, flush=True)
        failed, different, duration, *latencies = self.process.stdout.readline().split()
        if int(different):
            print(f"  {different} answers of {len(latencies)} are not those of the text alone")
        return LoadResult([*map(float, latencies)], int(failed), float(duration))


@contextlib.contextmanager
def running(name: str, folder: Path, lines: list[str]) -> Iterator[Server | BatchedModel]:
    """Yields a server of SERVERS, or BATCHED, which reads the models in `folder`."""
    batched = name == BATCHED
    program = folder / PROGRAM
    command = json.loads(program.read_text()) if batched else [sys.executable, "-m", *SERVERS[name]]
    with started(name, command, folder) as process:
        if batched:
            print(len(lines[:_LINES]), *lines[:_LINES], sep="\n", file=process.stdin, flush=True)
            yield BatchedModel(process)
        else:
            requests = [prediction_request(line) for line in lines]
            yield Server(process, announced_port(name, process, folder), requests)


@contextlib.contextmanager
def started(
    name: str, command: list[str], folder: Path, variables: Mapping[str, str] = MappingProxyType({})
) -> Iterator[subprocess.Popen]:
    """Yields a process that runs in a folder, with further variables; then ends it."""
    with log_file(name, folder).open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment() | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def log_file(name: str, folder: Path) -> Path:
    """Returns the file for the errors of a server."""
    return folder / f"{re.sub('[^a-z0-9]', '', name)}.log"


def announced_port(name: str, process: subprocess.Popen, folder: Path) -> int:
    """Returns the port that a server names in its first line; without one, ends the benchmark."""
    line = process.stdout.readline()
    if not (port := re.search(r":(\d+)$", line.strip())):
        process.wait()
        log = log_file(name, folder).read_text("utf-8", "replace")
        sys.exit(f"bench-serve: {name}: {reason(log)}")
    return int(port[1])


def resident_bytes(process: int) -> int:
    """Returns the memory that a process and its running children have at this moment."""
    return sum(_bytes(each, "VmRSS") for each in _with_children(process))


def peak_bytes(process: int) -> int:
    """Returns the sum of the most memory that a process and its running children have had."""
    return sum(_bytes(each, "VmHWM") for each in _with_children(process))


def processor_seconds(process: int) -> float:
    """Returns the processor time that a process and its running children have spent."""
    return sum(map(_spent, _with_children(process)))


def _with_children(process):
    children = " ".join(
        path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")
    )
    return process, *children.split()


def _bytes(process, field):
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def _spent(process):
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    user, system = after_name[11:13]  # Fields 14 and 15 of `man 5 proc_pid_stat`.
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
