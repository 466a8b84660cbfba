"""Validation within an epoch, because an epoch of millions of pairs takes hours; and on more text.

The first validation text chooses the best model; the others are scored and shown beside it.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kformer.backend import attach_variables
from kformer.training.callbacks.translation_scores import ValidationCallback
from kformer.training.resumption.saving import EverySteps


class ValidateEvery(keras.callbacks.Callback):
    """Validates after every `steps` steps within an epoch; `fit` validates at the end of each.

    Each validation resets the metrics of training: the logs have their values since the previous
    validation.

    Args:
        steps: Steps between two validations; 0 for none within an epoch.
        data: `tf.data.Dataset` of the validation text. With None, the callbacks are called without
            validation scores.
        batches: Number of batches in an epoch.
        callbacks: Callbacks in their order. Their method `on_validation`, if any, is called after
            each validation; other methods are called as in `fit`.
        from_start: Whether to validate the model before the first step, too, as epoch 0. The logs
            then have NaN for the metrics of training.
    """

    def __init__(
        self,
        steps: int,
        data: Any,
        batches: int,
        callbacks: Sequence[keras.callbacks.Callback],
        from_start: bool = False,
    ):
        super().__init__()
        self._every = EverySteps(steps)
        self._data = data
        self._batches = batches
        self._callbacks = [callback for callback in callbacks if hasattr(callback, "on_validation")]
        self._before = 0  # Batches of the epoch that earlier processes did.
        self._done = 0
        self._start_is_due = from_start and data is not None

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        self._every.begin(self.model)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._epoch = epoch
        self._before, self._done = self._done, 0
        if self._start_is_due:
            self._validate({})
            self._start_is_due = False

    def on_train_batch_end(self, batch: int, logs: dict[str, Any]):
        self._done = self._before + batch + 1
        if self._every.due(self.model) and self._done < self._batches:  # Otherwise `fit` does it.
            self._validate(dict(logs))

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self._before = self._done = 0

    def _validate(self, logs):
        attach_variables(self.model)
        if self._data is not None:
            scores = self.model.evaluate(
                self._data, verbose=0, return_dict=True, callbacks=self._callbacks
            )
            logs |= {f"val_{name}": value for name, value in scores.items()}
            logs = dict.fromkeys(scores, math.nan) | logs
        for callback in self._callbacks:
            callback.on_validation(self._epoch + self._done / self._batches, logs)
        self.model.reset_metrics()

    def get_state(self):
        """Returns the state for a checkpoint."""
        return {"done": self._done, "start_is_due": self._start_is_due}

    def set_state(self, state: Any):
        """Restores the state of `get_state`."""
        self._done = state["done"]
        self._start_is_due = state.get("start_is_due", False)  # Early states lack it.


class MoreValidation(ValidationCallback):
    """Scores another validation text after each validation, by the metrics of the model.

    Inside `kformer.training.WithAverage`, it scores the averaged weights.

    Args:
        name: Of the text: its loss becomes "val_NAME_loss" in the logs.
        data: `tf.data.Dataset` of the text.
        uncounted: Metric whose value is not shown, such as the number of tokens.
        scores: Callbacks that add scores of the same text to the logs, as `TranslationScores`.
    """

    def __init__(self, name: str, data: Any, uncounted: str, scores: Sequence = ()):
        super().__init__()
        self.name = name
        self._data = data
        self._uncounted = uncounted
        self._scores = scores

    def on_validation(self, epoch: float, logs: dict):
        """Adds the scores to the logs."""
        attach_variables(self.model)
        scores = self.model.evaluate(self._data, verbose=0, return_dict=True)
        del scores[self._uncounted]
        scores = {f"val_{score}": value for score, value in scores.items()}
        for callback in self._scores:
            callback.on_validation(epoch, scores)
        for score, value in scores.items():
            logs[f"val_{self.name}_{score.removeprefix('val_')}"] = value


class MeanOfTexts(ValidationCallback):
    """Replaces the scores of the first of several validation texts by the means over all of them.

    The scores of the first text are then named as those of the others: "val_NAME_loss".

    Args:
        names: Of the texts, as for `MoreValidation`, whose callbacks come before this one.
    """

    def __init__(self, names: Sequence[str]):
        super().__init__()
        self.names = names

    def on_validation(self, epoch: float, logs: dict):
        """Changes the scores in the logs."""
        first, *following = self.names
        prefixes = tuple(f"val_{name}_" for name in self.names)
        scores = [
            name for name in logs if name.startswith("val_") and not name.startswith(prefixes)
        ]
        for score in scores:
            kind = score.removeprefix("val_")
            names = [f"val_{name}_{kind}" for name in following]
            if all(name in logs for name in names):  # Not the number of tokens.
                logs[f"val_{first}_{kind}"] = logs[score]
                logs[score] = float(np.mean([logs[score], *(logs[name] for name in names)]))


def names_of_texts(files: Sequence[str | Path]) -> list[str]:
    """Returns a name for each file: its own without endings, numbered where two would be equal."""
    stems = [Path(file).name.lstrip(".").split(".")[0] for file in files]
    return [
        stem if stems.count(stem) == 1 else f"{stem}_{stems[: place + 1].count(stem)}"
        for place, stem in enumerate(stems)
    ]
