"""Whether two runs ended alike."""

import json

import numpy as np

import kformer


def assert_same_run(folder, other, changes=()):
    """Compares all that the runs left, to the bit; `run.json` but for the list of `changes`."""
    names = [{str(path.relative_to(one)) for path in one.rglob("*")} for one in (folder, other)]
    assert names[0] == names[1]
    record = read(folder / "run.json")
    assert record.pop("changes", []) == list(changes)
    assert record == read(other / "run.json")
    history, other_history = read(folder / "history.json"), read(other / "history.json")
    del history["tokens/s"], other_history["tokens/s"]
    assert history == other_history
    np.testing.assert_equal(weights_of(folder), weights_of(other))


def weights_of(folder):
    """Those of the best translator, and of the last checkpoint, with the optimizer's."""
    (path,) = (folder / "checkpoints").glob("epoch-*.npz")
    with np.load(path) as file:
        arrays = [file[name] for name in sorted(file.files) if name != "state.json"]
    return [*kformer.load(folder / "translator.keras").transformer.get_weights(), *arrays]


def read(path):
    return json.loads(path.read_text("utf-8"))
