"""`model.fit` that resumes exactly where an earlier process ended."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import keras
import tensorflow as tf

from kformer.backend import step_of
from kformer.training.callbacks.weight_average import set_states
from kformer.training.resumption.checkpoint import Checkpoint, newest_checkpoint
from kformer.training.resumption.interruption import Interruption
from kformer.training.resumption.saving import Saving, Stopped, Together, position
from kformer.training.resumption.variables import assign, build


class FitOptions(TypedDict, total=False):
    """Keyword arguments of `keras.Model.fit` that `resumable_fit` hands on."""

    verbose: str | int
    validation_data: Any
    validation_steps: int | None
    validation_batch_size: int | None
    validation_freq: int | Sequence[int]
    class_weight: dict[int, float] | None


def resumable_fit(
    model: keras.Model,
    batches: tf.data.Dataset,
    folder: str | Path,
    *,
    epochs: int,
    epoch: tf.Variable | None = None,
    every_seconds: float = 60.0,
    every_steps: int = 0,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    resumed: Callable[[int], None] | None = None,
    ignore_stop: bool = False,
    together: Together | None = None,
    **options: Unpack[FitOptions],
):
    """Trains like `model.fit`, and resumes from the newest complete checkpoint in `folder`.

    The result equals, bit for bit, an uninterrupted run on the same machine: weights, optimizer,
    dropout, metrics, and the states of callbacks (as `callbacks.weight_average` describes). This
    requires that a pass over `batches` depends only on its number, and that the optimizer does not
    change the weights when `fit` ends. `AveragedAdam` does not; Keras's `use_ema` does.

    SIGTERM and Ctrl-C end it after the current batch, with a checkpoint; a second one ends it at
    once.

    Args:
        model: A compiled `keras.Model`, in the state in which the run began.
        batches: `tf.data.Dataset` with a known number of batches. If it has a method
            `beginning_at`, as in `shards_dataset`, the batches before are not read again.
        folder: Folder for the checkpoints alone. One process at a time may use it.
        epochs: Passes over the data.
        epoch: `tf.Variable` to which the number of each pass is assigned before the pass, as for
            `translation_dataset`.
        every_seconds: Time between two checkpoints; more if writing one takes over a twentieth of
            it; 0 for one after every batch. In any case there is one before the first batch and
            one after every epoch.
        every_steps: Steps between two checkpoints, as in `ValidateEvery`; 0 for no limit.
        callbacks: Keras callbacks. Their method `on_checkpoint`, if any, is called after each
            checkpoint. If a callback sets `stop_training` after a batch, training ends there, not
            at the end of the epoch.
        resumed: Called with the number of the step at which training resumes, once the state is
            restored; not called for a new run.
        ignore_stop: Whether to continue a run that a callback, such as `StopWithoutImprovement`,
            had ended.
        together: How several processes save and stop together; see
            `kformer.training.parallel.meetings`.
        **options: Arguments of `model.fit`: `verbose`, `validation_data`, `validation_steps`,
            `validation_batch_size`, `validation_freq` and `class_weight`.

    Raises:
        Interrupted: A signal came. It is a `KeyboardInterrupt`, with the epoch and the
            batch in its message.
        Diverged: The weights are no longer finite; the last checkpoint is older. It is a
            `FloatingPointError`.
        OSError: A checkpoint could not be written; the last one is kept.
        ValueError: The number of `batches` is unknown; or the checkpoint is of another model or of
            other callbacks; or all checkpoints are damaged (`NoWholeCheckpoint`).
    """
    number = _number_of(batches)
    callbacks = [*callbacks]
    checkpoint = _restore(model, batches, folder, callbacks)
    if checkpoint and resumed:
        resumed(step_of(model))
    if checkpoint and checkpoint.state["stopped"] and not ignore_stop:
        print("Training had ended early there, by a callback: nothing is left to do.", flush=True)
        return
    numbering = [] if epoch is None else [_numbering(epoch)]
    with Interruption() as interruption:
        saving = Saving(
            folder,
            every_seconds,
            every_steps,
            callbacks,
            interruption,
            together or Together(),
            number,
            epochs,
            is_new=not checkpoint,
        )
        fit = functools.partial(
            model.fit,
            shuffle=False,  # Keras does not shuffle a data set anyway.
            callbacks=[*numbering, *callbacks, saving],
            **options,
        )
        try:
            _fit_from(checkpoint, model, fit, batches, epochs, saving)
        except Stopped:
            for callback in callbacks:
                callback.on_train_end()


def _number_of(batches):
    if (number := int(batches.cardinality())) < 1:
        raise ValueError(
            "`batches` must have a known, finite number. "
            f"Received: cardinality {number} (-1 is infinite, -2 is unknown)."
        )
    return number


def _numbering(epoch):
    """Returns a callback that assigns the number of each pass to the variable `epoch`."""
    return keras.callbacks.LambdaCallback(on_epoch_begin=lambda passes, logs: epoch.assign(passes))


def _fit_from(checkpoint, model, fit, batches, epochs, saving):
    """Fits the rest of the epoch of a checkpoint, and then the epochs that are left."""
    first, skipped = (checkpoint.epoch, checkpoint.batch) if checkpoint else (0, 0)
    if skipped:
        saving.begin_after(skipped, checkpoint.arrays)
        fit(_without(batches, skipped), initial_epoch=first, epochs=first + 1)
        first += 1
        if model.stop_training:
            return
    if first < epochs:
        fit(batches, initial_epoch=first, epochs=epochs)


def _without(batches, skipped):
    """Returns the batches after the first ones; a data set that can begin anywhere does."""
    begin = getattr(batches, "beginning_at", batches.skip)
    return begin(skipped)


def _restore(model, batches, folder, callbacks) -> Checkpoint | None:
    """Restores the newest checkpoint and returns it; None, if there is none."""
    checkpoint = newest_checkpoint(folder)
    if not checkpoint:
        if not (model.built and model.optimizer.built):
            build(model, batches)  # For the checkpoint before the first batch.
        return None
    where = position(checkpoint.epoch, checkpoint.batch, int(batches.cardinality()))
    print(f"Resuming {where}.", flush=True)
    build(model, batches)
    assign({"model": model.variables, "optimizer": model.optimizer.variables}, checkpoint.arrays)
    set_states(callbacks, checkpoint.state["callbacks"])
    return checkpoint
