"""`KeepBest`, with scripted scores instead of a model."""

import json
import math
from pathlib import Path

import pytest

from kformer.training import KeepBest


class Saved(list):
    """A translator that only records the paths that it was saved to."""

    def save(self, path, include_optimizer=False):
        self.append(path)


@pytest.mark.parametrize("resumed", [False, True], ids=["in one go", "resumed at every epoch"])
@pytest.mark.parametrize(
    ("mode", "scores", "saved"),
    [
        ("min", [5.0, 3.0, 4.0, 2.0], [0, 1, 3]),
        ("min", [5.0, 5.0], [0]),
        ("min", [math.nan, 7.0, math.nan, 6.0], [1, 3]),
        ("min", [math.inf, math.nan], []),
        ("max", [1.0, 3.0, 2.0, math.nan, 4.0], [0, 1, 4]),
    ],
)
def test_every_new_best_epoch_is_saved(mode, scores, saved, resumed):
    translator = Saved()
    callback = KeepBest(translator, Path("best.keras"), "val_bleu", mode)
    epochs = []
    for epoch, score in enumerate(scores):
        before = len(translator)
        callback.on_epoch_end(epoch, {"val_bleu": score, "val_loss": 9.0})
        epochs += [epoch] * (len(translator) - before)
        if resumed:
            state = json.loads(json.dumps(callback.get_state()))
            callback = KeepBest(translator, Path("best.keras"), "val_bleu", mode)
            callback.set_state(state)
    assert epochs == saved
    assert set(translator) <= {Path("best.keras")}


@pytest.mark.parametrize("logs", [None, {}, {"perplexity": 9.0}])
def test_without_validation_every_epoch_is_saved(logs):
    translator = Saved()
    callback = KeepBest(translator, "last.keras")
    for epoch in range(3):
        callback.on_epoch_end(epoch, logs)
    assert translator == ["last.keras"] * 3


def test_the_mode_must_be_min_or_max():
    with pytest.raises(ValueError, match="Received: mode='low'"):
        KeepBest(Saved(), "best.keras", mode="low")
