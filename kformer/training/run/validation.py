"""Validation within an epoch, because an epoch of millions of pairs takes hours."""

import keras

from kformer.backend import attach_variables
from kformer.training.resumption.every_steps import EverySteps


class ValidateEvery(keras.callbacks.Callback):
    """Validates after every `steps` steps within an epoch; `fit` validates at the end of each.

    Each validation resets the metrics of training: the logs have their values since the previous
    validation.

    Args:
        steps: Steps between two validations; 0 for none within an epoch.
        data: `tf.data.Dataset` of the validation text. With None, the callbacks are called without
            validation scores.
        batches: Number of batches in an epoch.
        callbacks: Callbacks in their order. Those with a method `on_validation` are called after
            each validation (see `ValidationCallback`), and like in `fit` at its beginning and end.
    """

    def __init__(self, steps: int, data, batches: int, callbacks):
        super().__init__()
        self._every = EverySteps(steps)
        self._data = data
        self._batches = batches
        self._callbacks = [one for one in callbacks if hasattr(one, "on_validation")]
        self._before = 0  # Batches of the epoch that earlier processes did.
        self._done = 0

    def on_train_begin(self, logs=None):
        self._every.begin(self.model)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._before, self._done = self._done, 0

    def on_train_batch_end(self, batch, logs=None):
        self._done = self._before + batch + 1
        if self._every.due(self.model) and self._done < self._batches:  # Otherwise `fit` does it.
            self._validate(dict(logs))

    def on_epoch_end(self, epoch, logs=None):
        self._before = self._done = 0

    def _validate(self, logs):
        attach_variables(self.model)
        if self._data is not None:
            scores = self.model.evaluate(
                self._data, verbose=0, return_dict=True, callbacks=self._callbacks
            )
            logs |= {f"val_{name}": value for name, value in scores.items()}
        for callback in self._callbacks:
            callback.on_validation(self._epoch + self._done / self._batches, logs)
        self.model.reset_metrics()

    def get_state(self):
        """Returns the state for a checkpoint; see `kformer.training.objective.stateful`."""
        return {"done": self._done}

    def set_state(self, state):
        """Restores the state of `get_state`."""
        self._done = state["done"]
