"""Training progress in one line, with the time left."""

import datetime
import shutil
import sys
import time

import keras

_CLEAR_LINE = "\x1b[2K"


class Progress(keras.callbacks.Callback):
    """Prints the metrics, the tokens per second, and the time left of the whole run.

    On a terminal it updates one line, and keeps one line per epoch. Otherwise it prints a line
    about every minute and after every epoch. Use it with `verbose=0` in `fit`.

    Args:
        batches: Number of batches in an epoch.
        epochs: Number of epochs of the run, without early stopping.
    """

    def __init__(self, batches: int, epochs: int):
        super().__init__()
        self.batches = batches
        self.epochs = epochs
        self._terminal = sys.stdout.isatty()
        self._pause = 0.2 if self._terminal else 60.0  # Seconds between two lines.
        self._start = self._shown = time.monotonic()
        self._before = 0  # Batches of the epoch that earlier processes did.
        self._done = 0
        self._untimed = 0  # Batches done whose time is left out.
        # When tracing began, per kind of batch; None after the first batch of that kind.
        self._tracing = {"train": self._start}

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._before, self._done = self._done, 0

    def on_train_batch_end(self, batch, logs=None):
        self._done = self._before + batch + 1
        self._untimed += self._leave_out("train")
        if time.monotonic() - self._shown >= self._pause:
            self._show(f"{self._done}/{self.batches}", logs, "\r" if self._terminal else "\n")

    def on_test_batch_begin(self, batch, logs=None):
        self._tracing.setdefault("test", time.monotonic())

    def on_test_batch_end(self, batch, logs=None):
        self._leave_out("test")

    def _leave_out(self, kind):
        """Excludes the time of tracing from the pace; returns whether there was any."""
        since, self._tracing[kind] = self._tracing.get(kind), None
        if since is not None:
            self._start += time.monotonic() - since
        return since is not None

    def on_epoch_end(self, epoch, logs=None):
        self._epoch, self._done = epoch + 1, 0
        self._show("done", logs, "\n")

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Shows the scores of a validation within the epoch, in a line of its own."""
        self._show(f"{self._done}/{self.batches} validated", logs, "\n")

    def _show(self, where, logs, end):
        self._shown = time.monotonic()
        done = self._epoch * self.batches + self._done
        timed, left = done - self._untimed, self.epochs * self.batches - done
        epoch = self._epoch + bool(self._done)
        line = "  ".join(
            [
                f"epoch {epoch}/{self.epochs} {where}",
                *(
                    f"{value:,.0f} {name}" if name.endswith("/s") else f"{name} {value:.4g}"
                    for name, value in (logs or {}).items()
                ),
                *([f"{self._seconds(left, timed)} left"] if timed or not left else ()),
            ]
        )
        if self._terminal:
            line = _CLEAR_LINE + line[: shutil.get_terminal_size().columns - 1]
        print(line, end=end, flush=True)

    def _seconds(self, left, timed):
        """Returns the time that `left` batches take, at the pace of the `timed` ones."""
        each = (self._shown - self._start) / max(1, timed)
        return datetime.timedelta(seconds=round(left * each))

    def get_state(self) -> dict:
        """Returns the time and the batches so far; see `kformer.training.objective.stateful`."""
        return {
            "seconds": time.monotonic() - self._start,
            "done": self._done,
            "untimed": self._untimed,
        }

    def set_state(self, state: dict):
        """Restores the state of `get_state`."""
        self._start = time.monotonic() - state["seconds"]
        self._done, self._untimed = state["done"], state["untimed"]
        self._tracing = {"train": time.monotonic()}  # A new process traces anew.
