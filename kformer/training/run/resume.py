"""`model.fit` that goes on where it was broken off, as if it had not been."""

import time

import keras
import numpy as np
from keras import ops

from kformer.training.callbacks.divergence import Diverged
from kformer.training.objective.stateful import get_states, set_states
from kformer.training.run.checkpoint import Checkpoint, newest_checkpoint, write_checkpoint
from kformer.training.run.interruption import Interrupted, Interruption
from kformer.training.run.validation import EverySteps

_SHARE = 20  # Writing takes at most one part in so many of the time.


def resumable_fit(
    model,
    batches,
    folder,
    *,
    epochs: int,
    epoch=None,
    every_seconds: float = 60.0,
    every_steps: int = 0,
    callbacks=(),
    resumed=None,
    ignore_stop: bool = False,
    **kwargs,
):
    """Trains like `model.fit`, and goes on from the newest whole checkpoint in `folder`.

    What comes out is, to the bit, what an undisturbed run gives on the same machine: weights,
    optimizer, dropout, metrics, the memory of callbacks (see `objective.stateful`). For that, a
    pass over `batches` must depend on nothing but its number, and the optimizer must leave the
    weights alone when `fit` ends, as `AveragedAdam` does (and Keras's `use_ema` does not).

    SIGTERM and Ctrl-C end it after the batch, with a checkpoint; a second one ends it at once.

    Args:
        model: A compiled `keras.Model`, as it was when the run began.
        batches: `tf.data.Dataset` with a known number of batches.
        folder: Of the checkpoints, and nothing else. For one process at a time.
        epochs: Passes over the data.
        epoch: `tf.Variable` that is set to the number of each pass before it; see
            `translation_dataset`.
        every_seconds: From one checkpoint to the next; longer, where writing one takes more than
            a twentieth of that; 0 for one after every batch. There is one before the first batch
            and one after every epoch in any case.
        every_steps: The same in updates of the weights, as `ValidateEvery` has it; 0 for none.
        callbacks: Keras callbacks. Those that have `on_checkpoint` are told of each. Where one
            sets `stop_training` after a batch, training ends there, and not with the epoch.
        resumed: Called with the number of the step that training goes on from, once all is as it
            was there; not where it begins.
        ignore_stop: Whether to go on where a callback, such as `StopWithoutImprovement`, had ended
            training.
        **kwargs: More arguments of `model.fit`.

    Raises:
        Interrupted: A signal came; a `KeyboardInterrupt` that says how far training is.
        Diverged: The weights are no longer finite; the last checkpoint is of before. It is a
            `FloatingPointError`.
        OSError: A checkpoint could not be written; the last one is kept.
        ValueError: `batches` are of unknown number; or the checkpoint is one of another model, or
            of other callbacks, or all of them are damaged (`NoWholeCheckpoint`).
    """
    if (number := int(batches.cardinality())) < 1:
        raise ValueError(
            "`batches` must have a known, finite number. "
            f"Received: cardinality {number} (-1 is infinite, -2 is unknown)."
        )
    callbacks = [*callbacks]
    found = _go_on(model, batches, folder, callbacks)
    first, skipped = (found.epoch, found.batch) if found else (0, 0)
    if found and resumed:
        resumed(int(model.optimizer.iterations))
    if found and found.state["stopped"] and not ignore_stop:
        print("Training had ended early there, by a callback: nothing is left to do.", flush=True)
        return
    with Interruption() as interruption:
        intervals = every_seconds, EverySteps(every_steps)
        saving = _Saving(folder, intervals, callbacks, interruption, number, epochs)
        saving.begins = not found
        numbering = [_Numbering(epoch)] if epoch is not None else []

        def fit(part, first, last):
            model.fit(
                part,
                initial_epoch=first,
                epochs=last,
                shuffle=False,  # Keras would not shuffle a data set anyway.
                callbacks=[*numbering, *callbacks, saving],
                **kwargs,
            )

        try:
            if skipped:
                saving.begin_after(skipped, _metrics(found))
                fit(batches.skip(skipped), first, first + 1)
                first += 1
                if model.stop_training:
                    return
            if first < epochs:
                fit(batches, first, epochs)
        except _Stopped:
            for callback in callbacks:
                callback.on_train_end()


def _go_on(model, batches, folder, callbacks) -> Checkpoint | None:
    """Puts a run back to where its newest checkpoint is, and returns that; None, if none is."""
    found = newest_checkpoint(folder)
    if not found:
        if not (model.built and model.optimizer.built):
            _build(model, batches)  # For the checkpoint before the first batch.
        return None
    print(
        f"Going on {_position(found.epoch, found.batch, int(batches.cardinality()))}.", flush=True
    )
    _build(model, batches)
    _assign({"model": model.variables, "optimizer": model.optimizer.variables}, found.arrays)
    set_states(callbacks, found.state["callbacks"])
    return found


def _metrics(checkpoint):
    """Arrays of the metrics, which `fit` resets before it begins."""
    return {name: one for name, one in checkpoint.arrays.items() if name.startswith("metrics/")}


def _build(model, batches):
    """Makes the variables that Keras would make at the first batch."""
    smallest = keras.tree.map_structure(
        lambda spec: ops.zeros([size or 1 for size in spec.shape], spec.dtype.name),
        batches.element_spec,
    )
    x, y, weight = keras.utils.unpack_x_y_sample_weight(smallest)
    model.compute_metrics(x, y, model(x), weight)
    model.optimizer.build(model.trainable_variables)


def _assign(groups, arrays):
    """Gives the variables of some groups what `_arrays` returned for them."""
    named = {f"{name}/{i}": one for name, group in groups.items() for i, one in enumerate(group)}
    have = {name: array.shape for name, array in arrays.items() if name.split("/")[0] in groups}
    need = {name: tuple(variable.shape) for name, variable in named.items()}
    if have != need:
        differs = sorted(name for name in {*have, *need} if have.get(name) != need.get(name))[0]
        raise ValueError(
            "A checkpoint must be one of the same model, optimizer and metrics. Received: "
            f"{differs} of shape {have.get(differs)} for shape {need.get(differs)}."
        )
    for name, variable in named.items():
        variable.assign(arrays[name])


def _arrays(groups):
    """The values of the variables of some groups, by names such as "model/0"."""
    return {
        f"{name}/{i}": ops.convert_to_numpy(variable)
        for name, group in groups.items()
        for i, variable in enumerate(group)
    }


class _Stopped(Exception):
    """A callback has ended training within an epoch."""


class _Numbering(keras.callbacks.Callback):
    """Tells the data the number of the pass that is to begin."""

    def __init__(self, variable):
        super().__init__()
        self.variable = variable

    def on_epoch_begin(self, epoch, logs=None):
        self.variable.assign(epoch)


class _Saving(keras.callbacks.Callback):
    """Writes checkpoints, and ends training where a signal asks for it; the last of callbacks."""

    def __init__(self, folder, intervals, others, interruption, batches, epochs):
        super().__init__()
        self.folder = folder
        self.every_seconds, self.every_steps = intervals
        self.others = others
        self.interruption = interruption
        self.batches = batches  # In an epoch.
        self.epochs = epochs
        self.begins = False  # Whether there is no checkpoint yet.
        self._due = time.monotonic() + self.every_seconds
        self._begin = 0, {}

    def on_train_begin(self, logs=None):
        if self.begins:  # Before anything else is kept, so that a full disk shows at once.
            self._save(0, 0)
        self.begins = False
        self.every_steps.begin(self.model)

    def begin_after(self, batch, metrics):
        """Makes the next epoch one of which `batch` batches are done, and the metrics theirs."""
        self._begin = batch, metrics

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._skipped, metrics = self._begin
        if self._skipped:
            _assign({"metrics": self.model.metrics_variables}, metrics)
        self._begin = 0, {}

    def on_train_batch_end(self, batch, logs=None):
        done, due = self._skipped + batch + 1, self.every_steps.due(self.model)
        if done < self.batches:  # Else the end of the epoch is to come.
            stopped = self.model.stop_training
            late = time.monotonic() >= self._due
            if due or stopped or late or self.interruption.signal_number:
                self._save(self._epoch, done)
            if stopped:
                raise _Stopped
            self._leave(self._epoch, done)

    def on_epoch_end(self, epoch, logs=None):
        self._save(epoch + 1, 0)
        if epoch + 1 < self.epochs and not self.model.stop_training:
            self._leave(epoch + 1, 0)

    def _save(self, epoch, batch):
        began = time.monotonic()
        groups = {"model": self.model.variables, "optimizer": self.model.optimizer.variables}
        if batch:
            groups["metrics"] = self.model.metrics_variables
        arrays = _arrays(groups)
        for name, array in arrays.items():
            if name.startswith("model/") and not np.all(np.isfinite(array)):
                raise Diverged(self.model, "weights that are not")
        state = {"callbacks": get_states(self.others), "stopped": self.model.stop_training}
        write_checkpoint(self.folder, Checkpoint(epoch, batch, arrays, state))
        for callback in self.others:
            if hasattr(callback, "on_checkpoint"):
                callback.on_checkpoint()
        now = time.monotonic()
        if self.every_seconds:
            self._due = now + max(self.every_seconds, _SHARE * (now - began))

    def _leave(self, epoch, batch):
        if number := self.interruption.signal_number:
            where = _position(epoch, batch, self.batches)
            raise Interrupted(f"Stopped {where}; all is saved.", number)


def _position(epoch, batch, batches):
    if not batch:
        return f"after epoch {epoch}" if epoch else "from the first step"
    return f"in epoch {epoch + 1}, after batch {batch} of {batches}"
