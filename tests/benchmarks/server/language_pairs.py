"""Servers with LibreTranslate's protocol over models that each translate a pair of languages.

All are one model under several names; `write_pairs` writes their files.
"""

import contextlib
import itertools
import random
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from benchmarks.contender import reason
from benchmarks.server.load import http_request
from benchmarks.server.servers import KFORMER, Server, announced_port, log_file, started

SOURCE = "de"
# A single pair has the first one.
_CODES = "en ar bg ca cs da el es fi fr hu it ja ko nl pl pt ru sv uk"
TARGETS = _CODES.split()
LIBRETRANSLATE = "LibreTranslate"
MODELS, PACKAGES = "models", "packages"
_SECONDS = 120  # Until LibreTranslate must answer.


def requests_for(lines: list[str], number: int) -> list[bytes]:
    """Returns a request for each line; the pairs come in a new random order again and again."""
    randomness = random.Random(1)
    orders = (randomness.sample(TARGETS[:number], number) for _ in itertools.count())
    return [
        http_request("/translate", {"q": line, "source": SOURCE, "target": target})
        for line, target in zip(lines, itertools.chain.from_iterable(orders), strict=False)
    ]


@contextlib.contextmanager
def serving_with_kformer(
    name: str, folder: Path, requests: list[bytes], options: list[str]
) -> Iterator[Server]:
    """Yields `kformer serve` of the models in a folder."""
    targets = [path.stem for path in (folder / MODELS).iterdir()]
    pairs = [f"--languages={target}={SOURCE}-{target}" for target in targets]
    command = [sys.executable, "-m", *KFORMER, MODELS, *pairs, *options]
    with started(name, command, folder) as process:
        yield Server(process, announced_port(name, process, folder), requests)


@contextlib.contextmanager
def serving_with_libretranslate(
    command: Path, folder: Path, requests: list[bytes], beams: int
) -> Iterator[Server]:
    """Yields LibreTranslate of the packages in a folder, with its own settings but the beams."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {f"XDG_{kind}_HOME": str(folder / "home") for kind in ("DATA", "CONFIG", "CACHE")}
    variables |= {
        "ARGOS_PACKAGES_DIR": str(folder / PACKAGES),
        "ARGOS_BEAM_SIZE": str(beams),
    }
    with started(LIBRETRANSLATE, [str(command), "--port", str(port)], folder, variables) as process:
        _wait_until_it_answers(process, port, folder)
        yield Server(process, port, requests)


def _wait_until_it_answers(process, port, folder):
    end = time.monotonic() + _SECONDS
    while True:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/languages").close()
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        if process.returncode is not None or time.monotonic() > end:
            log = log_file(LIBRETRANSLATE, folder).read_text("utf-8", "replace")
            sys.exit(f"bench-serve: {LIBRETRANSLATE}: {reason(log) or 'no answer'}")
