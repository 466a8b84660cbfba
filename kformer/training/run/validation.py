"""Validation within a pass over the data: a pass over millions of pairs takes hours.

A callback that looks at validations has `on_validation(epoch, logs)`. It is called with the number
of passes done, as 1.25, where `on_epoch_end` would be called at the end of a pass.
"""

import keras

from kformer.training.resumption.every_steps import EverySteps


class ValidateEvery(keras.callbacks.Callback):
    """Validates after every `steps` steps within an epoch, beside `fit` at the end of each.

    The metrics of training begin anew after it: those in the logs of a validation are of the
    batches since the one before.

    Args:
        steps: From one validation to the next; 0 for none within an epoch.
        data: `tf.data.Dataset` to validate with; None, to show the callbacks the model alone.
        batches: Number of batches in an epoch.
        callbacks: Those that look at validations, in their order. Those that have
            `on_test_begin` are told of that, too, as by `fit`.
    """

    def __init__(self, steps: int, data, batches: int, callbacks):
        super().__init__()
        self._every = EverySteps(steps)
        self._data = data
        self._batches = batches
        self._callbacks = [one for one in callbacks if hasattr(one, "on_validation")]
        self._before = 0  # Batches of the epoch in an earlier process.
        self._done = 0

    def on_train_begin(self, logs=None):
        self._every.begin(self.model)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._before, self._done = self._done, 0

    def on_train_batch_end(self, batch, logs=None):
        self._done = self._before + batch + 1
        if self._every.due(self.model) and self._done < self._batches:  # Else `fit` does it.
            self._validate(dict(logs))

    def on_epoch_end(self, epoch, logs=None):
        self._before = self._done = 0

    def _validate(self, logs):
        if self._data is not None:
            scores = self.model.evaluate(
                self._data, verbose=0, return_dict=True, callbacks=self._callbacks
            )
            logs |= {f"val_{name}": value for name, value in scores.items()}
        for callback in self._callbacks:
            callback.on_validation(self._epoch + self._done / self._batches, logs)
        self.model.reset_metrics()

    def get_state(self):
        """Returns what is to be remembered; see `kformer.training.objective.stateful`."""
        return {"done": self._done}

    def set_state(self, state):
        """Restores what `get_state` returned."""
        self._done = state["done"]
