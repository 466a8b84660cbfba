"""A language so small that seconds of training make its translations right, and text in it."""

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

WORDS = {
    "der hund": "the dog",
    "die katze": "the cat",
    "ein kind": "a child",
    "mein bruder": "my brother",
    "wir": "we",
    "sucht": "seeks",
    "ruft": "calls",
    "malt": "paints",
    "sieht": "sees",
    "das haus": "the house",
    "den baum": "the tree",
    "ein bild": "a picture",
    "uns": "us",
    ".": ".",
}
_NAMES = list(WORDS)
_ORDERS = list(itertools.product(_NAMES[:5], _NAMES[5:9], _NAMES[9:13], ["."]))
random.Random(0).shuffle(_ORDERS)
SOURCES = [" ".join(order) for order in _ORDERS]
TARGETS = [" ".join(WORDS[word] for word in order) for order in _ORDERS]
HELD_OUT = slice(64, 80)  # Of the 80 sentences that there are.
SHORT = 29  # More ids than any of them has.
LONGER = 40  # Ids for which a file has three branches, and positions that are slices of others.

RECIPE = {  # As options of `kformer train`.
    "--recipe": "quick",
    "--vocab-size": 308,
    "--d-model": 32,
    "--d-ff": 64,
    "--epochs": 7,
    "--tokens-per-batch": 512,
    "--warmup-steps": 200,
    "--learning-rate-scale": 0.5,
    "--max-length": 24,
    "--label-smoothing": 0,
}


def write(folder):
    """Writes parallel text; returns paths by name: "train.de" and so on."""
    paths = {}
    for part, chosen, times in [("train", slice(64), 20), ("valid", HELD_OUT, 1)]:
        for language, lines in [("de", SOURCES), ("en", TARGETS)]:
            path = paths[f"{part}.{language}"] = folder / f"{part}.{language}"
            path.write_text("".join(f"{line}\n" for line in lines[chosen]) * times, "utf-8")
    return paths


class Run(NamedTuple):
    """What `kformer train` did."""

    folder: Path
    files: dict  # name -> Path
    result: subprocess.CompletedProcess


def train(folder) -> Run:
    """Trains a translator, by the command, in `folder`/run."""
    files = write(folder)
    options = [
        "--source",
        files["train.de"],
        "--target",
        files["train.en"],
        "--valid-source",
        files["valid.de"],
        "--valid-target",
        files["valid.en"],
        "--output",
        folder / "run",
        "--norm-first",
        *itertools.chain(*RECIPE.items()),
    ]
    return Run(folder / "run", files, succeed("train", *options))


def succeed(*arguments) -> subprocess.CompletedProcess:
    """Runs `kformer` as `run_command` does, and raises an error if it failed."""
    result = run_command(*arguments)
    assert result.returncode == 0, result.stderr
    return result


def run_command(*arguments, stdin="", python=(), **kwargs):
    """Runs `kformer` as a user does, in a process of its own.

    Args:
        stdin: What it reads.
        python: Options of Python itself.
    """
    result = subprocess.run(
        [sys.executable, *python, "-m", "kformer", *map(str, arguments)],
        input=stdin.encode(),
        capture_output=True,
        env={name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"},
        check=False,
        **kwargs,
    )
    # Not by `text=True`, which would hide what ends the lines.
    result.stdout, result.stderr = result.stdout.decode(), result.stderr.decode()
    return result
