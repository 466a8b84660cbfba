"""Whether two runs ended alike."""

import json

import numpy as np

import kformer


def assert_same_run(folder, other, changes=(), model="translator.keras"):
    """Compares all that the runs left, to the bit; `run.json` but for the list of `changes`."""
    names = [{str(path.relative_to(one)) for path in one.rglob("*")} for one in (folder, other)]
    assert names[0] == names[1]
    record = read(folder / "run.json")
    assert record.pop("changes", []) == list(changes)
    assert record == read(other / "run.json")
    history, other_history = read(folder / "history.json"), read(other / "history.json")
    for one in (history, other_history):
        one.pop("tokens/s", None), one.pop("texts/s", None)
    assert history == other_history
    np.testing.assert_equal(weights_of(folder, model), weights_of(other, model))


def weights_of(folder, model="translator.keras"):
    """Those of the best model, and of the last checkpoint, with the optimizer's."""
    (path,) = (folder / "checkpoints").glob("epoch-*.npz")
    with np.load(path) as file:
        arrays = [file[name] for name in sorted(file.files) if name != "state.json"]
    return [*kformer.load(folder / model).network.get_weights(), *arrays]


def read(path):
    return json.loads(path.read_text("utf-8"))
