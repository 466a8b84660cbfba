"""The line of progress."""

import sys

import pytest

from kformer.training import Progress
from kformer.training.callbacks import progress as module


class Clock:
    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


LOGS = {"loss": 2.34567, "tokens/s": 12345.6}


def run_epoch(progress, clock, epoch, batches, seconds):
    progress.on_epoch_begin(epoch)
    for batch in range(batches):
        clock.now += seconds
        progress.on_train_batch_end(batch, LOGS)


def test_without_a_terminal_there_is_a_line_per_minute_and_per_epoch(clock, capsys):
    progress = Progress(batches=100, epochs=3)
    run_epoch(progress, clock, 0, 100, seconds=1.5)
    progress.on_epoch_end(0, {**LOGS, "val_loss": 3.0})
    assert capsys.readouterr().out.splitlines() == [
        "epoch 1/3 40/100  loss 2.346  12,346 tokens/s  0:06:30 left",
        "epoch 1/3 80/100  loss 2.346  12,346 tokens/s  0:05:30 left",
        "epoch 1/3 done  loss 2.346  12,346 tokens/s  val_loss 3  0:05:00 left",
    ]


def test_a_terminal_has_one_line_that_fits(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "41")
    progress = Progress(batches=4, epochs=1)
    run_epoch(progress, clock, 0, 2, seconds=10)
    assert capsys.readouterr().out == (
        "\x1b[2Kepoch 1/1 1/4  loss 2.346  12,346 tokens\r"
        "\x1b[2Kepoch 1/1 2/4  loss 2.346  12,346 tokens\r"
    )
    progress.on_epoch_end(0, {"loss": 2.0})
    assert capsys.readouterr().out == "\x1b[2Kepoch 1/1 done  loss 2  0:00:00 left\n"


def test_a_resumed_run_counts_the_time_so_far(clock, capsys):
    progress = Progress(batches=10, epochs=2)
    run_epoch(progress, clock, 0, 5, seconds=10)
    state = progress.get_state()
    clock.now += 1e6  # The machine was off.
    progress = Progress(batches=10, epochs=2)
    progress.set_state(state)
    run_epoch(progress, clock, 0, 5, seconds=20)
    progress.on_epoch_end(0, LOGS)
    assert capsys.readouterr().out.splitlines() == [
        "epoch 1/2 8/10  loss 2.346  12,346 tokens/s  0:02:40 left",
        "epoch 1/2 done  loss 2.346  12,346 tokens/s  0:02:30 left",
    ]


def test_the_time_left_excludes_tracing(clock, capsys):
    progress = Progress(batches=10, epochs=2)
    clock.now += 20.0  # The first pass over the text.
    progress.on_epoch_begin(0)
    clock.now += 80.0
    progress.on_train_batch_end(0, LOGS)
    for batch in range(1, 10):
        clock.now += 7.0
        progress.on_train_batch_end(batch, LOGS)
    progress.on_test_batch_begin(0)
    clock.now += 50.0
    progress.on_test_batch_end(0)
    progress.on_test_batch_begin(1)
    clock.now += 9.0
    progress.on_test_batch_end(1)
    progress.on_epoch_end(0, LOGS)
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "epoch 1/2 1/10  loss 2.346  12,346 tokens/s"  # Nothing is timed yet.
    assert last.endswith("done  loss 2.346  12,346 tokens/s  0:01:20 left")  # 10 * (63 + 9) / 9.


def test_the_time_left_excludes_tracing_in_a_resumed_run(clock, capsys):
    progress = Progress(batches=10, epochs=1)
    run_epoch(progress, clock, 0, 5, seconds=3)
    state = progress.get_state()
    progress = Progress(batches=10, epochs=1)
    progress.set_state(state)
    progress.on_epoch_begin(0)
    clock.now += 100.0
    progress.on_train_batch_end(0, LOGS)
    assert capsys.readouterr().out == "epoch 1/1 6/10  loss 2.346  12,346 tokens/s  0:00:12 left\n"
