"""Callbacks: speed in the logs, the best translator on disk, and when to stop."""

import math
import time

import keras

from kformer.training.run.folder import write_json


class Diverged(FloatingPointError):
    """Training ended, for the loss or the weights are no longer finite.

    Attributes:
        received: What was found, and at which step.
    """

    rule = "The loss and the weights must stay finite."

    def __init__(self, model, received: str):
        self.received = f"{received} at step {int(model.optimizer.iterations)}"
        super().__init__(
            f"{self.rule} A lower learning rate, a longer warm-up or float32 may help. "
            f"Received: {self.received}."
        )


class StopWhenDiverged(keras.callbacks.Callback):
    """Ends training by an error at the first batch whose loss is infinite or not a number.

    Raises:
        Diverged: Says at which step.
    """

    def on_train_batch_end(self, batch, logs=None):
        if not math.isfinite(logs["loss"]):  # A mean over the epoch, which never recovers.
            raise Diverged(self.model, f"loss={logs['loss']}")


class TokensPerSecond(keras.callbacks.Callback):
    """Adds `tokens/s` to the logs: real target tokens of training, by the clock.

    They count from the begin of the epoch, or from a validation within it.

    The model must be compiled with the metric `kformer.training.Tokens`, whose counts this
    replaces in the logs.
    """

    def __init__(self):
        super().__init__()
        self._before = 0.0  # Seconds of the epoch in an earlier process.
        self._start = None  # Between epochs.

    def on_epoch_begin(self, epoch, logs=None):
        self._start = time.perf_counter() - self._before
        self._before = self._speed = 0.0

    def on_train_batch_begin(self, batch, logs=None):
        if self._start is None:  # After a validation within the epoch.
            self._start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if "tokens" not in logs:
            raise ValueError(
                "Compile the model with the metric `kformer.training.Tokens()`, so that tokens "
                f"can be counted. Received: metrics {sorted(logs)}."
            )
        self._speed = logs.pop("tokens") / (time.perf_counter() - self._start)
        logs["tokens/s"] = self._speed

    def on_epoch_end(self, epoch, logs=None):
        self.on_validation(epoch + 1, logs)

    def on_validation(self, epoch, logs=None):
        """Puts the speed since the validation before into the logs."""
        logs.pop("tokens", None)
        logs.pop("val_tokens", None)
        logs["tokens/s"] = self._speed
        self._start = None

    def get_state(self):
        """Returns the seconds since the epoch began; see `kformer.training.objective.stateful`."""
        return 0.0 if self._start is None else time.perf_counter() - self._start

    def set_state(self, state):
        """Makes the next epoch one that began so many seconds ago."""
        self._before = state


class _Monitor(keras.callbacks.Callback):
    """Tracks the best score of all validations so far."""

    def __init__(self, monitor, mode):
        super().__init__()
        if mode not in ("min", "max"):
            raise ValueError(f"`mode` must be 'min' or 'max'. Received: mode={mode!r}.")
        self.monitor = monitor
        self.mode = mode
        self.best = math.inf if mode == "min" else -math.inf

    def on_epoch_end(self, epoch, logs=None):
        self.on_validation(epoch + 1, logs)

    def is_best(self, score) -> bool:
        """Returns whether `score` is better than all before, and remembers it."""
        better = score < self.best if self.mode == "min" else score > self.best
        self.best = score if better else self.best
        return better

    def get_state(self):
        """Returns what is to be remembered; see `kformer.training.objective.stateful`."""
        return {"monitor": self.monitor, "best": self.best}

    def set_state(self, state):
        """Restores what `get_state` returned; nothing, where another score was monitored then."""
        if state.get("monitor", self.monitor) == self.monitor:
            vars(self).update(state)


class KeepBest(_Monitor):
    """Saves the translator after each validation that is better than all before it.

    Args:
        translator: `kformer.Translator` of the model in training.
        path: The `.keras` file, always whole: written beside and renamed.
        monitor: The score to choose by. Where the logs lack it, it saves each time. (Not the
            perplexity: with label smoothing it rises while the translations still get better.)
        mode: "min" if a low score is good, "max" if a high one is.
    """

    def __init__(self, translator, path, monitor: str = "val_loss", mode: str = "min"):
        super().__init__(monitor, mode)
        self.translator = translator
        self.path = path
        self.scores = {}  # All that are known of what was saved.

    def on_validation(self, epoch, logs=None):
        """Saves the translator, if it is the best."""
        score = (logs or {}).get(self.monitor)
        if score is None or self.is_best(score):
            self.scores = {name: value for name, value in (logs or {}).items() if "val_" in name}
            self.translator.save(self.path)

    def get_state(self):
        """Returns what is to be remembered; see `kformer.training.objective.stateful`."""
        return {**super().get_state(), "scores": self.scores}

    def set_state(self, state):
        """Restores what `get_state` returned.

        Where another score was monitored then, the translator that was saved has to be beaten by
        its value of this one, if that is known.
        """
        super().set_state(state)
        self.scores = state.get("scores", {})
        self.best = self.scores.get(self.monitor, self.best)


class EarlyStopping(_Monitor):
    """Ends training after `patience` validations in a row without a better score than all before.

    Args:
        patience: Number of validations, at least 1. (One an epoch, unless there are more; see
            `ValidateEvery`.)
        monitor: The score, which must be in the logs.
        mode: "min" if a low score is good, "max" if a high one is.
    """

    def __init__(self, patience: int, monitor: str = "val_loss", mode: str = "min"):
        super().__init__(monitor, mode)
        if patience < 1:
            raise ValueError(f"`patience` must be positive. Received: patience={patience}.")
        self.patience = patience
        self.waited = 0  # Validations.

    def on_validation(self, epoch, logs=None):
        """Stops training when `patience` validations in a row brought no improvement."""
        if self.monitor not in (logs or {}):
            raise ValueError(
                "The score to stop by must be in the logs; that of validation needs validation "
                f"data. Received: monitor={self.monitor!r}, logs of {sorted(logs or {})}."
            )
        self.waited = 0 if self.is_best(logs[self.monitor]) else self.waited + 1
        if self.waited >= self.patience:
            self.model.stop_training = True

    def get_state(self):
        """Returns what is to be remembered; see `kformer.training.objective.stateful`."""
        return {**super().get_state(), "waited": self.waited}


class KeepHistory(keras.callbacks.Callback):
    """Collects the logs of every validation, and writes them after each.

    Args:
        path: The JSON file, always whole: of each number, a list with a value for every epoch, and
            for every validation within one. "epoch" is the number of passes done, as 1.25, and
            "step" that of updates of the weights.

    Attributes:
        history: The same as a dict.
    """

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.history = {}

    def on_epoch_end(self, epoch, logs=None):
        self.on_validation(epoch + 1, logs)

    def on_validation(self, epoch, logs=None):
        """Adds a value to each list."""
        step = int(self.model.optimizer.iterations)
        for name, value in {"epoch": epoch, "step": step, **(logs or {})}.items():
            self.history.setdefault(name, []).append(value)
        write_json(self.path, self.history)

    def get_state(self):
        """Returns the history; see `kformer.training.objective.stateful`."""
        return self.history

    def set_state(self, state):
        """Restores what `get_state` returned."""
        self.history = state
