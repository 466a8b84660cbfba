"""The commands that race; the files they read are those of `write_models`."""

import os
import sys
from pathlib import Path

from benchmarks.commands.command import OUTPUT
from benchmarks.decoding.contenders import RIVAL


def tflite(precision: str, batched: bool) -> str:
    """Returns the name of a `.tflite` file, for one sentence at a time or for batches, too."""
    return f"{precision}{'-batched' if batched else ''}.tflite"


def commands(folder: Path, beam_size: int, precisions) -> dict[str, list[str]]:
    """Returns the command of each contender by its name, which begins with its precision.

    Args:
        folder: Where the models are.
        beam_size: Only the `.keras` file and the rival are told; the others have it in them.
        precisions: Of PRECISIONS, those wanted.
    """
    kformer = [sys.executable, "-m", "kformer", "translate"]
    files = ["--input", "source", "--output", OUTPUT]
    search = ["--beam-size", str(beam_size), "--length-penalty", "0"]
    found = {}
    for precision in precisions:
        if precision == "float32":
            keras = [*kformer, "model.keras", *files, *search]
            found["float32 .keras"] = keras
            found["float32 .keras by --engine"] = [*keras, "--engine", RIVAL]
            found["float32 SavedModel"] = [*kformer, "saved", *files]
        found[f"{precision} folder"] = [*kformer, f"{RIVAL}-{precision}", *files]
        for batched in (False, True):
            name = f"{precision} .tflite{' of batches' if batched else ''}"
            found[name] = [*kformer, tflite(precision, batched), *files]
        for workers, threads in _ways(os.cpu_count()):
            name = f"{precision} {RIVAL}, {workers} x {threads}"
            module = "benchmarks.commands.ctranslate2_translate"
            numbers = map(str, (beam_size, workers, threads))
            found[name] = [sys.executable, "-m", module, precision, OUTPUT, *numbers]
    return found


def _ways(cores):
    """Pairs of workers and threads of each."""
    return dict.fromkeys([(1, 1), (1, cores), (cores, 1)])
