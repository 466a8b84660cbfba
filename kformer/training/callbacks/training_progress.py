"""Training progress: a line while an epoch lasts, and a row of a table for each validation."""

import math
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras

_CLEAR_LINE = "\x1b[2K"
_WIDE = 72  # Columns of a terminal from which two spaces part the columns of the table.
_SCORES = {"val_bleu": "BLEU", "val_chrf": "chrF", "val_f1": "val F1", "val_accuracy": "val acc"}
_WITHOUT_VALIDATION = {"perplexity": "ppl", "accuracy": "acc"}
_MARK = "*"  # Of the rows whose model was the best so far.


class Progress(keras.callbacks.Callback):
    """Prints a table with a row for each validation, and the time left of the whole run.

    The head of the table is printed once. On a terminal, a line below it shows how far the epoch
    is; it is updated, and always fits. Otherwise such a line is printed about every minute. Use it
    with `verbose=0` in `fit`.

    Args:
        batches: Number of batches in an epoch.
        epochs: Number of epochs of the run, without early stopping.
        monitor: Name of the score that chooses the best model; it has a column of its own.
        is_best: Callable (epoch) -> whether the model of the validation after so many epochs is
            the best so far; its row is marked.
        texts: Names of validation texts that have a column each, beside their mean; on a terminal,
            as many as fit.

    Examples:
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import Progress
        >>> model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="zeros")])
        >>> model.compile("sgd", "mse", jit_compile=False)
        >>> data = np.ones((8, 1)), np.ones((8, 1))
        >>> progress = Progress(batches=1, epochs=2)
        >>> _ = model.fit(*data, validation_data=data, epochs=2, verbose=0, callbacks=[progress])
          epoch    loss  val loss      left
            1/2       1    0.9216
            2/2  0.9216    0.8493   0:00:00
    """

    def __init__(
        self,
        batches: int,
        epochs: int,
        monitor: str = "val_loss",
        is_best: Callable[[float], bool] | None = None,
        texts: Sequence[str] = (),
    ):
        super().__init__()
        self.batches = batches
        self.epochs = epochs
        self._monitor, self._is_best, self._texts = monitor, is_best, texts
        self._terminal = sys.stdout.isatty()
        self._pause = 0.2 if self._terminal else 60.0  # Seconds between two lines.
        self._columns = None  # Of the table: titles by name in the logs.
        self._began = self._start = self._shown = time.monotonic()
        self._before = 0  # Batches of the epoch that earlier processes did.
        self._done = 0
        self._untimed = 0  # Batches done whose time is left out.
        # When tracing began, per kind of batch; None after the first batch of that kind.
        self._tracing = {"train": self._start}

    @property
    def seconds(self) -> float:
        """Seconds that the run took so far, in all processes."""
        return time.monotonic() - self._began

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._epoch = epoch
        self._before, self._done = self._done, 0

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        self._done = self._before + batch + 1
        self._untimed += self._leave_out("train")
        if time.monotonic() - self._shown >= self._pause:
            self._show_line(logs or {})

    def on_test_batch_begin(self, batch: int, logs: dict[str, Any] | None = None):
        self._tracing.setdefault("test", time.monotonic())

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        self._leave_out("test")

    def _leave_out(self, kind):
        """Excludes the time of tracing from the pace; returns whether there was any."""
        since, self._tracing[kind] = self._tracing.get(kind), None
        if since is not None:
            self._start += time.monotonic() - since
        return since is not None

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self._epoch, self._done = epoch + 1, 0
        self._show_row(epoch + 1, logs or {})

    def on_validation(self, epoch: float, logs: dict):
        """Shows the scores of a validation within the epoch, in a row of its own."""
        self._show_row(epoch, logs)

    def _show_line(self, logs):
        """Prints how far the epoch is: as much of it as the terminal has columns for."""
        self._shown = time.monotonic()
        speeds = [f"{value:,.0f} {name}" for name, value in logs.items() if name.endswith("/s")]
        left = self._left()
        parts = [
            f"epoch {self._epoch + 1}/{self.epochs}  {self._done}/{self.batches}",
            *([f"loss {logs['loss']:.4g}"] if "loss" in logs else ()),
            *([f"{left} left"] if left else ()),
            *speeds,
        ]
        if not self._terminal:
            print("  ".join(parts), flush=True)
            return
        most = shutil.get_terminal_size().columns - 1
        while len(parts) > 1 and len("  ".join(parts)) > most:
            parts.pop()
        print(_CLEAR_LINE + "  ".join(parts)[:most], end="\r", flush=True)

    def _show_row(self, epoch, logs):
        """Prints a row of the table, the first time below its head."""
        self._shown = time.monotonic()
        gap = " " * (1 + (shutil.get_terminal_size().columns >= _WIDE))
        if self._columns is None:
            self._print(self._head(logs, gap))
        number = f"{epoch:.4g}" if epoch % 1 else f"{epoch:.0f}"
        cells = [_cell(name, _number(name, logs.get(name))) for name in self._columns]
        row = [f"{f'{number}/{self.epochs}':>{self._first}}", *cells, f"{self._left() or '':>8}"]
        best = self._monitor in logs and self._is_best and self._is_best(epoch)
        self._print(gap.join(row) + f" {_MARK}" * bool(best))

    def _head(self, logs, gap):
        """Chooses the columns, and returns the head of the table; on a terminal, it fits."""
        most = shutil.get_terminal_size().columns - 2 if self._terminal else sys.maxsize
        for number in range(len(self._texts), -1, -1):
            self._columns = columns = _columns(logs, self._monitor, self._texts[:number])
            titles = map(_cell, columns, columns.values())
            head = gap.join([f"{'epoch':>{self._first}}", *titles, f"{'left':>8}"])
            if len(head) <= most:
                break
        return head

    def _print(self, line):
        print((_CLEAR_LINE if self._terminal else "") + line, flush=True)

    @property
    def _first(self):
        """The width of the first column."""
        return max(7, len(f"{self.epochs}/{self.epochs}"))

    def _left(self):
        """Returns the time that the other batches take at the pace so far; "" if none is known."""
        done = self._epoch * self.batches + self._done
        timed, left = done - self._untimed, self.epochs * self.batches - done
        if not timed and left:
            return ""
        seconds = round(left * (self._shown - self._start) / max(1, timed))
        return hours(seconds)

    def get_state(self) -> dict:
        """Returns the time and the batches so far, which checkpoints keep."""
        return {
            "seconds": time.monotonic() - self._start,
            "done": self._done,
            "untimed": self._untimed,
            "all_seconds": self.seconds,
        }

    def set_state(self, state: dict):
        """Restores the state of `get_state`."""
        now = time.monotonic()
        self._start = now - state["seconds"]
        self._began = now - state.get("all_seconds", state["seconds"])
        self._done, self._untimed = state["done"], state["untimed"]
        self._tracing = {"train": now}  # A new process traces anew.


def hours(seconds: float) -> str:
    """Returns a time as hours, minutes and seconds: "1:02:03", "123:00:00"."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _columns(logs, monitor, texts=()):
    """Returns the titles of the columns of scores by their names in the logs."""
    columns = {"loss": "loss"}
    if any(name.startswith("val_") for name in logs):
        columns |= {"val_loss": "val loss", "val_perplexity": "val ppl"}
        scores = [monitor, *_SCORES] if monitor not in columns else [*_SCORES]
        chosen = next((name for name in scores if name in logs), None)
        columns |= {chosen: _SCORES.get(chosen, chosen.replace("_", " "))} if chosen else {}
    else:
        columns |= _WITHOUT_VALIDATION
    columns |= {name: name for name in logs if name.endswith("/s")}
    if monitor in columns and texts:  # Beside their mean.
        names = [*columns]
        after = names.index(monitor) + 1
        kind = monitor.removeprefix("val_")
        by_text = {f"val_{text}_{kind}": text for text in texts}
        columns = {name: columns[name] for name in names[:after]} | by_text | columns
    return {name: title for name, title in columns.items() if name in logs}


def _cell(name, text):
    """Returns a cell of a column, right-aligned."""
    widths = {"loss": 6, "val_loss": 8, "val_perplexity": 7, "perplexity": 7}
    return f"{text:>{widths.get(name, 8 if name.endswith('/s') else 7)}}"


def _number(name, value):
    """Returns a score in at most seven characters."""
    if value is None or (math.isnan(value) and not name.startswith("val_")):  # In epoch 0.
        return ""
    if name.endswith("/s"):
        return f"{value:,.0f}"
    size = abs(value)
    if size >= 1e3 or (size and size < 0.1):
        form = ".1e" if size >= 1e5 else ".0f" if size >= 1e3 else ".4f" if size >= 1e-3 else ".0e"
        return f"{value:{form}}"
    return f"{value:.4g}"
