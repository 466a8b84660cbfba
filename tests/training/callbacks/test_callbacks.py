"""Callbacks: a script instead of a model."""

import json
import math
import types
from pathlib import Path

import pytest

from kformer.training import EarlyStopping, KeepBest, TokensPerSecond
from kformer.training.callbacks import logs as module


class Saved(list):
    """A translator that only remembers where it was saved."""

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
def test_each_epoch_better_than_all_before_is_saved(scores, saved):
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


def test_another_number_may_be_the_one_to_be_low():
    translator = Saved()
    callback = KeepBest(translator, "best.keras", monitor="loss")
    for loss in (1.0, 2.0):
        callback.on_epoch_end(0, {"loss": loss, "val_loss": 1 / loss})
    assert len(translator) == 1


@pytest.mark.parametrize(
    ("mode", "scores", "saved"),
    [("max", [1.0, 3.0, 2.0, math.nan, 4.0], [0, 1, 4]), ("min", [3.0, 1.0, 2.0], [0, 1])],
)
def test_a_high_score_may_be_the_good_one_and_the_best_is_remembered(mode, scores, saved):
    state = KeepBest(Saved(), "best.keras", "val_bleu", mode).get_state()
    epochs = []
    for epoch, score in enumerate(scores):  # Each in a process of its own.
        callback = KeepBest(translator := Saved(), "best.keras", "val_bleu", mode)
        callback.set_state(json.loads(json.dumps(state)))
        callback.on_epoch_end(epoch, {"val_bleu": score})
        state = callback.get_state()
        epochs += [epoch] * len(translator)
    assert epochs == saved


@pytest.mark.parametrize(
    ("patience", "scores", "epochs"),
    [
        (1, [5.0, 4.0, 4.0, 1.0], 3),
        (2, [5.0, 6.0, 4.0, 6.0, 4.0, 1.0], 5),
        (2, [math.nan, math.nan, 4.0], 2),
        (3, [5.0, 6.0, 6.0, 4.0], None),
    ],
)
def test_training_stops_when_epochs_in_a_row_bring_nothing(patience, scores, epochs):
    callback = EarlyStopping(patience, "val_loss")
    callback.set_model(model := types.SimpleNamespace(stop_training=False))
    stopped = []
    for epoch, score in enumerate(scores, start=1):
        callback.on_epoch_end(epoch - 1, {"val_loss": score})
        stopped += [epoch] * model.stop_training
    assert (stopped or [None])[0] == epochs


def test_stopping_needs_a_score_a_direction_and_some_patience():
    with pytest.raises(ValueError, match=r"monitor='val_bleu', logs of \['loss'\]"):
        EarlyStopping(1, "val_bleu").on_epoch_end(0, {"loss": 1.0})
    with pytest.raises(ValueError, match="Received: patience=0"):
        EarlyStopping(0)
    with pytest.raises(ValueError, match="Received: mode='low'"):
        KeepBest(Saved(), "best.keras", mode="low")


def test_speed_goes_on_where_the_epoch_was(monkeypatch):
    clock = iter([100.0, 102.0, 102.0, 5000.0, 5002.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))
    callback = TokensPerSecond()
    callback.on_epoch_begin(0)
    callback.on_train_batch_end(0, {"tokens": 600.0})
    state, callback = callback.get_state(), TokensPerSecond()
    callback.set_state(state)
    callback.on_epoch_begin(0)
    callback.on_train_batch_end(0, logs := {"tokens": 1600.0})
    assert logs == {"tokens/s": 400.0}
    callback.on_epoch_end(0, {})
    assert callback.get_state() == 0


def test_speed_is_the_tokens_of_the_epoch_by_the_seconds_since_it_began(monkeypatch):
    clock = iter([100.0, 102.0, 110.0, 500.0, 501.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))
    callback = TokensPerSecond()
    callback.on_epoch_begin(0)
    logs = {"loss": 1.0, "tokens": 600.0}
    callback.on_train_batch_end(0, logs)
    assert logs == {"loss": 1.0, "tokens/s": 300.0}
    callback.on_train_batch_end(1, {"tokens": 1200.0})
    logs = {"loss": 1.0, "tokens": 1200.0, "val_loss": 2.0, "val_tokens": 70.0}
    callback.on_epoch_end(0, logs)
    assert logs == {"loss": 1.0, "val_loss": 2.0, "tokens/s": 120.0}
    callback.on_epoch_begin(1)
    logs = {"tokens": 70.0}
    callback.on_train_batch_end(0, logs)
    assert logs == {"tokens/s": 70.0}


def test_speed_needs_the_metric_that_counts():
    callback = TokensPerSecond()
    callback.on_epoch_begin(0)
    with pytest.raises(ValueError, match=r"Received: metrics \['accuracy', 'loss'\]"):
        callback.on_train_batch_end(0, {"loss": 1.0, "accuracy": 0.5})
