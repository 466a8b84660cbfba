"""The export report in a SavedModel: what it holds, and what it was checked against."""

from pathlib import Path

import tensorflow as tf

import kformer
from kformer.export.saved_model.graph.signatures import input_specs
from kformer.export.saved_model.versions import REPORT
from kformer.files import json_text

FORMAT = 1


def write_report(version, functions, settings, warmup_requests, checked=None):
    """Writes `assets.extra/kformer.json` in the folder of a version.

    Args:
        version: Folder of the version.
        functions: The signatures, concrete functions by name.
        settings: dict of the export's arguments and limits.
        warmup_requests: Number of warm-up requests.
        checked: dict of the check's results, or None.
    """
    version = Path(version)
    report = {
        "format": FORMAT,
        "kformer": kformer.__version__,
        "tensorflow": tf.__version__,
        **settings,
        "signatures": {name: _described(function) for name, function in functions.items()},
        "warmup_requests": warmup_requests,
        "bytes": sizes(version),
        "checked": checked,
    }
    path = version / REPORT
    path.parent.mkdir(exist_ok=True)  # The report is written again after the check.
    path.write_text(json_text(report), "utf-8")


def _described(function):
    return {
        "inputs": {spec.name: _kind(spec) for spec in input_specs(function)},
        "outputs": {name: _kind(tensor) for name, tensor in function.structured_outputs.items()},
    }


def _kind(tensor):
    return {"dtype": tensor.dtype.name, "shape": tensor.shape.as_list()}


def sizes(folder) -> dict[str, int]:
    """Returns the bytes of graph and tokenizers, of the weights, and of all except the report."""
    found = {"graph": 0, "weights": 0}
    parts = {"saved_model.pb": "graph", "variables": "weights"}
    total = 0
    for file in folder.rglob("*"):
        if file.is_file() and file != folder / REPORT:
            size = file.stat().st_size
            total += size
            part = parts.get(file.relative_to(folder).parts[0])
            if part:
                found[part] += size
    return {**found, "all": total}
