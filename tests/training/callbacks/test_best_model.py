"""`KeepBest`, with scripted scores instead of a model."""

import json
import math
from pathlib import Path

import pytest

from kformer.training import KeepBest


class Saved(list):
    """A translator that only records the paths that it was saved to."""

    def save(self, path):
        self.append(path)


@pytest.mark.parametrize(
    ("scores", "saved"),
    [
        ([5.0, 3.0, 4.0, 2.0], [0, 1, 3]),
        ([5.0, 5.0], [0]),
        ([math.nan, 7.0, math.nan, 6.0], [1, 3]),
        ([math.inf, math.nan], []),
    ],
)
def test_every_new_best_epoch_is_saved(scores, saved):
    translator = Saved()
    callback = KeepBest(translator, Path("best.keras"))
    epochs = []
    for epoch, score in enumerate(scores):
        before = len(translator)
        callback.on_epoch_end(epoch, {"val_loss": score, "loss": 9.0})
        epochs += [epoch] * (len(translator) - before)
    assert epochs == saved
    assert set(translator) <= {Path("best.keras")}


@pytest.mark.parametrize("logs", [None, {}, {"perplexity": 9.0}])
def test_without_validation_every_epoch_is_saved(logs):
    translator = Saved()
    callback = KeepBest(translator, "last.keras")
    for epoch in range(3):
        callback.on_epoch_end(epoch, logs)
    assert translator == ["last.keras"] * 3


def test_any_number_in_the_logs_may_be_monitored():
    translator = Saved()
    callback = KeepBest(translator, "best.keras", monitor="loss")
    for loss in (1.0, 2.0):
        callback.on_epoch_end(0, {"loss": loss, "val_loss": 1 / loss})
    assert len(translator) == 1


@pytest.mark.parametrize(
    ("mode", "scores", "saved"),
    [("max", [1.0, 3.0, 2.0, math.nan, 4.0], [0, 1, 4]), ("min", [3.0, 1.0, 2.0], [0, 1])],
)
def test_the_best_score_is_remembered_across_processes(mode, scores, saved):
    state = KeepBest(Saved(), "best.keras", "val_bleu", mode).get_state()
    epochs = []
    for epoch, score in enumerate(scores):  # Each epoch in a new process.
        callback = KeepBest(translator := Saved(), "best.keras", "val_bleu", mode)
        callback.set_state(json.loads(json.dumps(state)))
        callback.on_epoch_end(epoch, {"val_bleu": score})
        state = callback.get_state()
        epochs += [epoch] * len(translator)
    assert epochs == saved


def test_the_mode_must_be_min_or_max():
    with pytest.raises(ValueError, match="Received: mode='low'"):
        KeepBest(Saved(), "best.keras", mode="low")
