"""The table of validations, and the line of progress."""

import sys

import pytest

from kformer.training import Progress
from kformer.training.callbacks import training_progress as module


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


VALIDATED = {"loss": 6.4123, "accuracy": 0.02, "perplexity": 571.7, "tokens/s": 12345.6}
VALIDATED |= {"val_loss": 5.69, "val_accuracy": 0.0744, "val_perplexity": 295.9, "val_bleu": 1.234}


def test_without_a_terminal_there_is_a_line_per_minute_and_a_row_per_epoch(clock, capsys):
    progress = Progress(batches=100, epochs=3)
    run_epoch(progress, clock, 0, 100, seconds=1.5)
    progress.on_epoch_end(0, {**LOGS, "val_loss": 3.0})
    run_epoch(progress, clock, 1, 30, seconds=1.5)
    progress.on_validation(1.3, LOGS)
    assert capsys.readouterr().out.splitlines() == [
        "epoch 1/3  40/100  loss 2.346  0:06:30 left  12,346 tokens/s",
        "epoch 1/3  80/100  loss 2.346  0:05:30 left  12,346 tokens/s",
        "  epoch    loss  val loss  tokens/s      left",
        "    1/3   2.346         3    12,346   0:05:00",
        "  1.3/3   2.346              12,346   0:04:15",
    ]


@pytest.mark.parametrize(("columns", "shown"), [(60, 0), (80, 1), (100, 2), (None, 2)])
def test_each_direction_has_a_column_beside_their_mean_where_it_fits(
    clock, capsys, monkeypatch, columns, shown
):
    if columns is not None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(columns))
    directions = ["de-en", "en-de"]
    progress = Progress(10, 3, "val_bleu", texts=directions)
    progress.on_epoch_begin(0)
    scores_of_texts = {f"val_{name}_bleu": 5.0 + i for i, name in enumerate(directions)}
    progress.on_epoch_end(0, VALIDATED | scores_of_texts)
    head, row = capsys.readouterr().out.replace("\x1b[2K", "").splitlines()
    assert head.split()[6 : 6 + 1 + shown] == ["BLEU", *directions[:shown]]
    assert row.split()[4:][: 1 + shown] == ["1.234", "5", "6"][: 1 + shown]
    assert columns is None or max(map(len, (head, row))) <= columns


@pytest.mark.parametrize("columns", [*range(60, 85), 120, 200])
def test_the_table_has_every_score_and_never_wraps(clock, capsys, monkeypatch, columns):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    progress = Progress(batches=1000, epochs=100, is_best=lambda epoch: epoch != 2)
    for epoch, logs in enumerate([VALIDATED, VALIDATED, {**VALIDATED, "tokens/s": 1e5}]):
        run_epoch(progress, clock, epoch, 1000, seconds=5)
        progress.on_epoch_end(epoch, logs)
    *parts, rest = capsys.readouterr().out.split("\n")
    assert rest == ""
    head, *rows = [part.split("\x1b[2K")[-1] for part in parts]  # What stays on the screen.
    assert all(len(row) <= columns for row in (head, *rows))
    assert head.split() == [
        "epoch",
        "loss",
        "val",
        "loss",
        "val",
        "ppl",
        "BLEU",
        "tokens/s",
        "left",
    ]
    assert [row.split() for row in rows] == [
        ["1/100", "6.412", "5.69", "295.9", "1.234", "12,346", "137:30:00", "*"],
        ["2/100", "6.412", "5.69", "295.9", "1.234", "12,346", "136:06:40"],
        ["3/100", "6.412", "5.69", "295.9", "1.234", "100,000", "134:43:20", "*"],
    ]
    updates = [line for part in parts for line in part.split("\r") if "/1000" in line]
    assert updates and all(len(line.removeprefix("\x1b[2K")) < columns for line in updates)


@pytest.mark.parametrize(
    ("logs", "monitor", "head"),
    [
        ({"loss": 1.0, "accuracy": 0.5, "texts/s": 9.0}, "val_loss", "loss acc texts/s"),
        (
            {"loss": 1.0, "accuracy": 0.5, "val_loss": 2.0, "val_accuracy": 0.6, "texts/s": 9.0},
            "val_accuracy",
            "loss val loss val acc texts/s",
        ),
        (VALIDATED | {"val_chrf": 20.0}, "val_chrf", "loss val loss val ppl chrF tokens/s"),
        (VALIDATED | {"val_new": 3.0}, "val_new", "loss val loss val ppl val new tokens/s"),
    ],
)
def test_the_score_is_the_monitored_one_or_one_that_is_there(clock, capsys, logs, monitor, head):
    progress = Progress(batches=1, epochs=1, monitor=monitor)
    run_epoch(progress, clock, 0, 1, seconds=1)
    progress.on_epoch_end(0, logs)
    assert capsys.readouterr().out.splitlines()[0].split() == ["epoch", *head.split(), "left"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.3456, "12.35"), (0, "0"), (0.012345, "0.0123"), (0.00002, "2e-05"), (123456.7, "1.2e+05")],
)
def test_scores_fit_their_column_without_losing_what_matters(value, text):
    assert module._number("val_loss", value) == text


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
        "epoch 1/2  8/10  loss 2.346  0:02:40 left  12,346 tokens/s",
        "  epoch    loss  tokens/s      left",
        "    1/2   2.346    12,346   0:02:30",
    ]
    assert progress.seconds == 5 * 10 + 5 * 20


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
    assert first == "epoch 1/2  1/10  loss 2.346  12,346 tokens/s"  # Nothing is timed yet.
    assert last.split() == ["1/2", "2.346", "12,346", "0:01:20"]  # 10 * (63 + 9) / 9.


def test_the_time_left_excludes_tracing_in_a_resumed_run(clock, capsys):
    progress = Progress(batches=10, epochs=1)
    run_epoch(progress, clock, 0, 5, seconds=3)
    state = progress.get_state()
    progress = Progress(batches=10, epochs=1)
    progress.set_state(state)
    progress.on_epoch_begin(0)
    clock.now += 100.0
    progress.on_train_batch_end(0, LOGS)
    assert capsys.readouterr().out == "epoch 1/1  6/10  loss 2.346  0:00:12 left  12,346 tokens/s\n"
