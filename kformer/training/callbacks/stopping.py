"""Callbacks that end training early: without improvement, when it diverges, or in time."""

import math
from collections.abc import Callable
from typing import Any

import keras

from kformer.arguments import check_integer, check_number
from kformer.backend import step_of
from kformer.training.callbacks.best_model import BestScore
from kformer.training.callbacks.translation_scores import ValidationCallback


class StopWithoutImprovement(BestScore):
    """Ends training after `patience` validations in a row without a new best score.

    Unlike `keras.callbacks.EarlyStopping`, it counts validations within an epoch, too (see
    `ValidateEvery`), and `resumable_fit` saves and restores its state.

    Args:
        patience: Number of validations, at least 1.
        monitor: Name of the score; it must be in the logs.
        mode: "min" if lower scores are better, "max" if higher ones are.

    Examples:
        >>> import keras
        >>> from kformer.training import StopWithoutImprovement
        >>> stop = StopWithoutImprovement(patience=2)
        >>> stop.set_model(keras.Sequential())
        >>> for epoch, loss in enumerate([2.0, 1.5, 1.7, 1.6], start=1):
        ...     stop.on_validation(epoch, {"val_loss": loss})
        >>> stop.model.stop_training
        True
    """

    def __init__(self, patience: int, monitor: str = "val_loss", mode: str = "min"):
        super().__init__(monitor, mode)
        self.patience = check_integer("patience", patience, least=1)
        self.waited = 0  # Validations since the best one.

    def on_validation(self, epoch: float, logs: dict):
        """Stops training if the last `patience` validations brought no improvement."""
        if self.monitor not in logs:
            raise ValueError(
                "The logs must contain the monitored score; validation scores need validation "
                f"data. Received: monitor={self.monitor!r}, logs of {sorted(logs)}."
            )
        self.waited = 0 if self.is_best(logs[self.monitor]) else self.waited + 1
        if self.waited >= self.patience:
            self.model.stop_training = True

    def get_state(self) -> dict:
        """Returns the state for a checkpoint."""
        return {**super().get_state(), "waited": self.waited}

    def set_state(self, state: dict):
        """Restores the state of `get_state`.

        In a run that continues although its patience was over, the validations count anew.
        """
        super().set_state(state)
        if self.waited >= self.patience:
            self.waited = 0


class Diverged(FloatingPointError):
    """Training ended because the loss or the weights are no longer finite.

    Attributes:
        received: The value that is not finite, and the step.
    """

    rule = "The loss and the weights must stay finite."

    def __init__(self, model: keras.Model, received: str):
        self.received = f"{received} at step {step_of(model)}"
        super().__init__(
            f"{self.rule} A lower learning rate, a longer warm-up or float32 may help. "
            f"Received: {self.received}."
        )


class StopWhenDiverged(keras.callbacks.Callback):
    """Raises an error after the first batch whose loss is infinite or not a number.

    Raises:
        Diverged: The loss is not finite; the message names the step.

    Examples:
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import StopWhenDiverged
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse", jit_compile=False)
        >>> x, y = np.full((8, 1), np.inf), np.ones((8, 1))
        >>> model.fit(x, y, verbose=0, callbacks=[StopWhenDiverged()])
        Traceback (most recent call last):
            ...
        kformer.training.callbacks.stopping.Diverged: The loss and the weights must stay finite. ...
    """

    def on_train_batch_end(self, batch: int, logs: dict[str, Any]):
        if not math.isfinite(logs["loss"]):  # A mean over the epoch, which never recovers.
            raise Diverged(self.model, f"loss={logs['loss']}")


class StopInTime(ValidationCallback):
    """Ends training after the last validation that comes before a limit of time.

    It ends when the time to another validation, as long as that to this one, would exceed the
    limit. It has no state, so that a run can be resumed with it or without it: `resumable_fit`
    does not count such an end as the end of the run.

    Args:
        max_hours: Hours of training, over 0.
        seconds: Callable () -> seconds that the run took so far, in all processes.

    Attributes:
        is_out_of_time: Whether it has ended training.
    """

    def __init__(self, max_hours: float, seconds: Callable[[], float]):
        super().__init__()
        self.max_hours = check_number("max_hours", max_hours, above=0)
        self._seconds = seconds
        self._last = 0.0
        self.is_out_of_time = False

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        self._last = self._seconds()

    def on_validation(self, epoch: float, logs: dict):
        """Ends training if another validation would come too late."""
        now = self._seconds()
        if not self.model.stop_training and now + (now - self._last) > 3600 * self.max_hours:
            self.model.stop_training = self.is_out_of_time = True
        self._last = now
