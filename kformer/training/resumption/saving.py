"""The callback that writes checkpoints while `fit` runs, and ends training between two batches."""

import time
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kformer.backend import attach_variables, step_of
from kformer.training.callbacks.stopping import Diverged
from kformer.training.callbacks.weight_average import get_states
from kformer.training.resumption.checkpoint import Checkpoint, write_checkpoint
from kformer.training.resumption.interruption import Interrupted, Interruption
from kformer.training.resumption.variables import assign, to_arrays


class EverySteps:
    """Counter of steps: whether another `steps` steps are done after a batch; never with 0.

    A step is an update of the weights. With gradient accumulation it takes several batches.
    """

    def __init__(self, steps: int):
        self._steps = steps
        self._step = 0

    def begin(self, model: keras.Model):
        """Call this when training begins or resumes; nothing is due at that step."""
        self._step = step_of(model)

    def due(self, model: keras.Model) -> bool:
        """Returns whether the steps are done; call this after every batch."""
        if not self._steps:
            return False
        before, self._step = self._step, step_of(model)
        return self._step != before and self._step % self._steps == 0


_SHARE = 20  # Writing checkpoints takes at most 1 / 20 of the time.


class Together:
    """How the processes of a run save and stop together; here there is one process.

    Attributes:
        writes: Whether this process writes the checkpoints.
    """

    writes = True

    def meet(
        self, late: bool, signal_number: int | None, now: bool = False
    ) -> tuple[bool, int | None]:
        """Returns whether to save now, and the number of a signal that came to any process.

        All processes must call it after the same batches, and get the same answer.

        Args:
            late: Whether this process has a checkpoint due.
            now: Whether the processes must exchange their values at once.
        """
        return late, signal_number


class Stopped(Exception):
    """A callback has ended training within an epoch."""


class Saving(keras.callbacks.Callback):
    """Writes checkpoints, and ends training after a signal; must be the last callback.

    Args:
        folder: Folder of the checkpoints.
        every_seconds, every_steps: As for `resumable_fit`.
        stateful_callbacks: The other callbacks, whose states are saved.
        interruption: `Interruption` that is entered.
        together: As for `resumable_fit`.
        batches: Number of batches in an epoch.
        epochs: Number of epochs.
        is_new: Whether the run has no checkpoint yet.
    """

    def __init__(
        self,
        folder: str | Path,
        every_seconds: float,
        every_steps: int,
        stateful_callbacks: list,
        interruption: Interruption,
        together: Together,
        batches: int,
        epochs: int,
        is_new: bool,
    ):
        super().__init__()
        self.folder = folder
        self.every_seconds = every_seconds
        self.every_steps = EverySteps(every_steps)
        self.stateful_callbacks = stateful_callbacks
        self.interruption = interruption
        self.together = together
        self.batches = batches
        self.epochs = epochs
        self.is_new = is_new
        self._due = time.monotonic() + self.every_seconds
        self._begin: tuple[int, dict] = 0, {}

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        if self.is_new:  # Before anything else is written, so that a full disk shows at once.
            self._save(0, 0)
        self.is_new = False
        self.every_steps.begin(self.model)

    def begin_after(self, batch: int, arrays: dict):
        """Makes the next epoch begin after `batch` batches, with the metrics in `arrays`."""
        self._begin = batch, arrays

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._epoch = epoch
        self._skipped, arrays = self._begin
        if self._skipped:  # `fit` has reset the metrics.
            assign({"metrics": self.model.metrics_variables}, arrays)
        self._begin = 0, {}

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        done, due = self._skipped + batch + 1, self.every_steps.due(self.model)
        if done < self.batches:  # `on_epoch_end` follows the last batch.
            stopped = self.model.stop_training
            late, signal_number = self.together.meet(
                time.monotonic() >= self._due, self.interruption.signal_number
            )
            if due or stopped or late or signal_number:
                self._save(self._epoch, done)
            if stopped:
                raise Stopped
            self._end_if_interrupted(signal_number, self._epoch, done)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self._save(epoch + 1, 0)
        _, signal_number = self.together.meet(False, self.interruption.signal_number, now=True)
        if epoch + 1 < self.epochs and not self.model.stop_training:
            self._end_if_interrupted(signal_number, epoch + 1, 0)

    def _save(self, epoch, batch):
        began = time.monotonic()
        attach_variables(self.model)
        groups = {"model": self.model.variables, "optimizer": self.model.optimizer.variables}
        if batch:
            groups["metrics"] = self.model.metrics_variables
        arrays = to_arrays(groups)
        for name, array in arrays.items():
            if name.startswith("model/") and not np.all(np.isfinite(array)):
                raise Diverged(self.model, "weights that are not")
        state = {
            "callbacks": get_states(self.stateful_callbacks),
            "stopped": self.model.stop_training and not self._is_out_of_time(),
        }
        if self.together.writes:
            write_checkpoint(self.folder, Checkpoint(epoch, batch, arrays, state))
        for callback in self.stateful_callbacks:
            if hasattr(callback, "on_checkpoint"):
                callback.on_checkpoint()
        now = time.monotonic()
        if self.every_seconds:
            self._due = now + max(self.every_seconds, _SHARE * (now - began))

    def _is_out_of_time(self):
        """Whether `StopInTime` ended training, which can go on in more time."""
        return any(
            getattr(callback, "is_out_of_time", False) for callback in self.stateful_callbacks
        )

    def _end_if_interrupted(self, signal_number, epoch, batch):
        if signal_number:
            where = position(epoch, batch, self.batches)
            raise Interrupted(f"Stopped {where}; all is saved.", signal_number)


def position(epoch: int, batch: int, batches: int) -> str:
    """Describes how far training is, for messages."""
    if not batch:
        return f"after epoch {epoch}" if epoch else "from the first step"
    return f"in epoch {epoch + 1}, after batch {batch} of {batches}"
