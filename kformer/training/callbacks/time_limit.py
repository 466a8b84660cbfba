"""Ends training in time."""

from collections.abc import Callable

from kformer.arguments import check_number
from kformer.training.callbacks.validation import ValidationCallback


class StopInTime(ValidationCallback):
    """Ends training after the last validation that comes before a limit of time.

    It ends when the time to another validation, as long as that to this one, would exceed the
    limit. It has no state, so that a run can be resumed with it or without it.

    Args:
        max_hours: Hours of training, over 0.
        seconds: Callable () -> seconds that the run took so far, in all processes.
    """

    def __init__(self, max_hours: float, seconds: Callable[[], float]):
        super().__init__()
        self.max_hours = check_number("max_hours", max_hours, above=0)
        self._seconds = seconds
        self._last = 0.0

    def on_train_begin(self, logs=None):
        self._last = self._seconds()

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Ends training if another validation would come too late."""
        now = self._seconds()
        if now + (now - self._last) > 3600 * self.max_hours:
            self.model.stop_training = True
        self._last = now
