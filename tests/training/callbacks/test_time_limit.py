"""Training ends in time."""

import types

import pytest

from kformer.training.callbacks.stopping import StopInTime


@pytest.mark.parametrize(
    ("hours", "ends", "last"),
    [(1.0, [1000, 2000, 3000, 4000], 3000), (1.0, [1900, 3700], 1900), (0.1, [400, 800], 400)],
)
def test_no_validation_comes_after_the_limit_but_the_first(hours, ends, last):
    now = [0.0]
    stop = StopInTime(hours, lambda: now[0])
    stop.set_model(types.SimpleNamespace(stop_training=False))
    stop.on_train_begin()
    for epoch, seconds in enumerate(ends):
        now[0] = seconds
        stop.on_epoch_end(epoch, {})
        if stop.model.stop_training:
            break
    assert now[0] == last


def test_a_resumed_run_counts_the_time_before_it():
    now = [3000.0]
    stop = StopInTime(1.0, lambda: now[0])
    stop.set_model(types.SimpleNamespace(stop_training=False))
    stop.on_train_begin()
    now[0] = 3250.0
    stop.on_validation(1.5, {})
    assert not stop.model.stop_training
    now[0] = 3450.0
    stop.on_validation(2.0, {})
    assert stop.model.stop_training


@pytest.mark.parametrize("hours", [0, -1, float("nan")])
def test_the_limit_is_a_time(hours):
    with pytest.raises(ValueError, match=f"max_hours={hours}"):
        StopInTime(hours, lambda: 0.0)
