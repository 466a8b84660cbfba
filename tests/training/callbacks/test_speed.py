"""Tokens per second, with a scripted clock."""

import pytest

from kformer.training import TokensPerSecond
from kformer.training.callbacks import training_log as speed


def test_the_seconds_of_an_interrupted_epoch_count(monkeypatch):
    clock = iter([100.0, 102.0, 102.0, 5000.0, 5002.0])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(clock))
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


def test_speed_is_tokens_per_second_since_the_epoch_began(monkeypatch):
    clock = iter([100.0, 102.0, 110.0, 500.0, 501.0])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(clock))
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


def test_speed_needs_the_metric_that_counts_tokens():
    callback = TokensPerSecond()
    callback.on_epoch_begin(0)
    with pytest.raises(ValueError, match=r"Received: metrics \['accuracy', 'loss'\]"):
        callback.on_train_batch_end(0, {"loss": 1.0, "accuracy": 0.5})
