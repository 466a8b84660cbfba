"""Validation with averaged weights, and the states of callbacks in checkpoints.

A callback with a state has two methods: `get_state()` returns it as a JSON-serializable value, and
`set_state(state)` restores it.
"""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import keras

from kformer.backend import attach_variables, copies, step_of


def get_states(callbacks: Iterable[keras.callbacks.Callback]):
    """Returns the class name and the state of each of `callbacks` that has a state."""
    return [[type(callback).__name__, callback.get_state()] for callback in _stateful(callbacks)]


def set_states(callbacks: Iterable[keras.callbacks.Callback], states: Sequence[Any]):
    """Restores the states that `get_states` returned."""
    callbacks = _stateful(callbacks)
    names = [type(callback).__name__ for callback in callbacks], [name for name, _ in states]
    if names[0] != names[1]:
        raise ValueError(
            "A run is resumed with the callbacks that it began with. "
            f"Received: {', '.join(names[0])}, where the checkpoint has {', '.join(names[1])}."
        )
    for callback, (_, state) in zip(callbacks, states, strict=True):
        callback.set_state(state)


def _stateful(callbacks):
    return [callback for callback in callbacks if hasattr(callback, "get_state")]


@contextlib.contextmanager
def averaged_weights(model: keras.Model):
    """Temporarily swaps in the averages of the model's `AveragedAdam`.

    At the end of the `with` block, the weights are restored exactly. Before the first step the
    weights are their own average.
    """
    if not getattr(model.optimizer, "averages", ()):
        raise ValueError(
            "The model must be compiled with an `AveragedAdam` whose `average_momentum` is not 0, "
            f"and be built. Received: optimizer={model.optimizer}."
        )
    attach_variables(model)
    if not step_of(model):
        yield
        return
    variables = model.trainable_variables  # Layers may have been frozen after the first step.
    weights = copies(variables)
    _assign(variables, copies(model.optimizer.averages_of(variables)))
    try:
        yield
    finally:
        _assign(variables, weights)


def _assign(variables, values):
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


class WithAverage(keras.callbacks.Callback):
    """Validates, and calls other callbacks after validation, with the averaged weights.

    The model must be compiled with an `AveragedAdam` that keeps an average.

    Args:
        callbacks: Callbacks that use the model after a validation, such as `KeepBest`. Only these
            methods are called: at the beginning and the end of training and of epochs, and
            `on_validation` (by `ValidateEvery`) and `on_checkpoint` (by `resumable_fit`).

    Examples:
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import AveragedAdam, KeepHistory, WithAverage
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile(AveragedAdam(0.01, average_momentum=0.9), "mse", jit_compile=False)
        >>> data, keep = (np.ones((8, 1)), np.ones((8, 1))), KeepHistory("history.json")
        >>> _ = model.fit(*data, validation_data=data, verbose=0, callbacks=[WithAverage([keep])])
        >>> sorted(keep.history)
        ['epoch', 'loss', 'step', 'val_loss']
    """

    def __init__(self, callbacks: Iterable[keras.callbacks.Callback] = ()):
        super().__init__()
        self.callbacks = list(callbacks)
        self._swapped = contextlib.ExitStack()

    def set_params(self, params: dict[str, Any]):
        super().set_params(params)
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: keras.Model):
        super().set_model(model)
        for callback in self.callbacks:
            callback.set_model(model)

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        for callback in self.callbacks:
            callback.on_train_begin(logs)

    def on_train_end(self, logs: dict[str, Any] | None = None):
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs)

    def on_test_begin(self, logs: dict[str, Any] | None = None):
        self._swapped.enter_context(averaged_weights(self.model))

    def on_test_end(self, logs: dict[str, Any] | None = None):
        self._swapped.close()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        with averaged_weights(self.model):
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, logs)

    def on_validation(self, epoch: float, logs: dict[str, Any]):
        """As `on_epoch_end`, of a validation within an epoch."""
        with averaged_weights(self.model):
            for callback in self.callbacks:
                callback.on_validation(epoch, logs)

    def on_checkpoint(self):
        """Calls `on_checkpoint` of the callbacks that have it."""
        for callback in self.callbacks:
            if hasattr(callback, "on_checkpoint"):
                callback.on_checkpoint()

    def get_state(self):
        """Returns the states of the callbacks for a checkpoint."""
        return get_states(self.callbacks)

    def set_state(self, state: Any):
        """Restores the states of `get_state`."""
        set_states(self.callbacks, state)
