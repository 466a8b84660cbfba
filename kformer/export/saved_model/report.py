"""The report of an export, kept in it: what it holds, and what it was checked against."""

import json
from pathlib import Path

import tensorflow as tf

import kformer

FORMAT = 1
FILE = "assets.extra/kformer.json"


def write_receipt(version, functions, settings, warmup_requests, checked=None):
    """Writes `assets.extra/kformer.json` in the folder of a version.

    Args:
        functions: The signatures, concrete functions by name.
        settings: dict of how it was exported.
        warmup_requests: How many there are.
        checked: dict of what the check found, or None.
    """
    version = Path(version)
    receipt = {
        "format": FORMAT,
        "kformer": kformer.__version__,
        "tensorflow": tf.__version__,
        **settings,
        "signatures": {name: _described(function) for name, function in functions.items()},
        "warmup_requests": warmup_requests,
        "bytes": sizes(version),
        "checked": checked,
    }
    path = version / FILE
    path.parent.mkdir(exist_ok=True)  # An earlier report is replaced.
    path.write_text(json.dumps(receipt, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _described(function):
    return {
        "inputs": {spec.name: _kind(spec) for spec in function.structured_input_signature[0]},
        "outputs": {name: _kind(tensor) for name, tensor in function.structured_outputs.items()},
    }


def _kind(tensor):
    return {"dtype": tensor.dtype.name, "shape": tensor.shape.as_list()}


def sizes(folder) -> dict[str, int]:
    """Bytes of the graph and tokenizers, of the weights, and of all but the report."""
    found = {"graph": 0, "weights": 0}
    parts = {"saved_model.pb": "graph", "variables": "weights"}
    total = 0
    for file in folder.rglob("*"):
        if file.is_file() and file != folder / FILE:
            size = file.stat().st_size
            total += size
            part = parts.get(file.relative_to(folder).parts[0])
            if part:
                found[part] += size
    return {**found, "all": total}
