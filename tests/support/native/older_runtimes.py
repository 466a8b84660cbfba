"""Older runtimes of `.tflite` files, each in a folder of its own.

`make prove` installs them by running this module: tests download nothing.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import TESTS
from support.native import answer_in_a_runtime

FOLDER = TESTS.parent / ".venv" / "runtimes"
NEEDS = {  # What pip installs, and the NumPy that it was built for; None for the one of .venv.
    "tflite-runtime==2.14.0": "numpy<2",
    "ai-edge-litert==1.0.0": "numpy<2",
    "ai-edge-litert==1.1.2": None,
    "ai-edge-litert==1.2.0": None,
    "ai-edge-litert==1.3.0": None,
    "ai-edge-litert==1.4.0": None,
    "ai-edge-litert==2.1.0": None,
}


def install(folder=FOLDER):
    """Installs all that there are for this Python in `folder`, if they are not there."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for runtime, numpy in NEEDS.items():
        if (folder / runtime).is_dir():
            continue
        where = ["--target", folder / runtime, "--no-deps", "--only-binary", ":all:"]
        packages = [runtime, numpy] if numpy else [runtime]
        if subprocess.run([*pip, *where, *packages], check=False).returncode:
            print(f"{runtime} cannot be installed.")


def answers(runtime, file, signatures, texts):
    """Returns for each text a dict of outputs by name for each signature; skips without `runtime`.

    Args:
        runtime: Of `NEEDS`.
        file: The `.tflite` file.
        signatures: list of names of signatures that take `source`.
        texts: list of byte strings, all for one process.
    """
    folder = FOLDER / runtime
    if not folder.is_dir():
        pytest.skip(f"There is no {runtime} in {FOLDER}.")
    package = runtime.partition("==")[0].replace("-", "_")
    done = subprocess.run(
        [sys.executable, answer_in_a_runtime.__file__, package, file, *signatures],
        input=json.dumps([text.hex() for text in texts]),
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    place, rows = json.loads(done.stdout)
    assert Path(place).is_relative_to(folder)
    return rows


if __name__ == "__main__":
    install()
