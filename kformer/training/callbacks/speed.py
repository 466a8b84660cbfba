"""Training speed, in tokens per second."""

import time

from kformer.training.callbacks.validation import ValidationCallback


class TokensPerSecond(ValidationCallback):
    """Adds `tokens/s` to the logs: real target tokens of training per second of wall time.

    The mean is taken since the beginning of the epoch, or since the last validation within it.

    The model must be compiled with the metric `kformer.training.Tokens`, whose counts this
    replaces in the logs.

    Args:
        counted: Name of that metric, if it counts something else, as "texts".
    """

    def __init__(self, counted: str = "tokens") -> None:
        super().__init__()
        self.counted = counted
        self._before = 0.0  # Seconds that earlier processes spent on the epoch.
        self._start = None  # None between a validation and the next batch.

    def on_epoch_begin(self, epoch, logs=None):
        self._start = time.perf_counter() - self._before
        self._before = self._speed = 0.0

    def on_train_batch_begin(self, batch, logs=None):
        if self._start is None:  # After a validation within the epoch.
            self._start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if self.counted not in logs:
            raise ValueError(
                "Compile the model with the metric `kformer.training.Tokens()`, so that tokens "
                f"can be counted. Received: metrics {sorted(logs)}."
            )
        self._speed = logs.pop(self.counted) / (time.perf_counter() - self._start)
        logs[f"{self.counted}/s"] = self._speed

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Adds the speed since the previous validation to the logs."""
        logs.pop(self.counted, None)
        logs.pop(f"val_{self.counted}", None)
        logs[f"{self.counted}/s"] = self._speed
        self._start = None

    def get_state(self) -> float:
        """Returns the seconds since the epoch began; see `kformer.training.objective.stateful`."""
        return 0.0 if self._start is None else time.perf_counter() - self._start

    def set_state(self, state: float):
        """Restores the state of `get_state`: the next epoch began that many seconds ago."""
        self._before = state
