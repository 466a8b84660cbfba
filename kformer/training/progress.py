"""How far training is, in a line."""

import datetime
import shutil
import sys
import time

import keras

_CLEAR_LINE = "\x1b[2K"


class Progress(keras.callbacks.Callback):
    """Prints the metrics, the tokens a second, and the time left of the whole run.

    A terminal has it in one line, and a last one for every epoch; elsewhere there is a line about
    every minute and for every epoch. Used with `verbose=0` in `fit`.

    Args:
        batches: Number of batches in an epoch.
        epochs: Number of epochs of the run, early stopping aside.
    """

    def __init__(self, batches: int, epochs: int):
        super().__init__()
        self.batches = batches
        self.epochs = epochs
        self._terminal = sys.stdout.isatty()
        self._pause = 0.2 if self._terminal else 60.0  # Seconds from one line to the next.
        self._start = self._shown = time.monotonic()
        self._before = 0  # Batches of the epoch in an earlier process.
        self._done = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._before, self._done = self._done, 0

    def on_train_batch_end(self, batch, logs=None):
        self._done = self._before + batch + 1
        if time.monotonic() - self._shown >= self._pause:
            self._show(f"{self._done}/{self.batches}", logs, "\r" if self._terminal else "\n")

    def on_epoch_end(self, epoch, logs=None):
        self._epoch, self._done = epoch + 1, 0
        self._show("done", logs, "\n")

    def _show(self, where, logs, end):
        self._shown = time.monotonic()
        share = (self._epoch + self._done / self.batches) / self.epochs
        left = (self._shown - self._start) * (1 / share - 1)
        epoch = self._epoch + bool(self._done)
        line = "  ".join(
            [
                f"epoch {epoch}/{self.epochs} {where}",
                *(
                    f"{value:,.0f} {name}" if name == "tokens/s" else f"{name} {value:.4g}"
                    for name, value in (logs or {}).items()
                ),
                f"{datetime.timedelta(seconds=round(left))} left",
            ]
        )
        if self._terminal:
            line = _CLEAR_LINE + line[: shutil.get_terminal_size().columns - 1]
        print(line, end=end, flush=True)

    def get_state(self):
        """Returns the time and the batches so far; see `kformer.training.stateful`."""
        return {"seconds": time.monotonic() - self._start, "done": self._done}

    def set_state(self, state):
        """Restores what `get_state` returned."""
        self._start = time.monotonic() - state["seconds"]
        self._done = state["done"]
