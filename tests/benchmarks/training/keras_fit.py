"""What the two contenders on Keras share: the batches, and rounds as epochs of one `fit`."""

import keras
import numpy as np
import tensorflow as tf

from benchmarks.training.batches import Batch


def dataset(batches: list[Batch]) -> tf.data.Dataset:
    """Returns ((source, target_in), target_out), int32 (None, None) each, in the given order.

    Their shapes are open, as those of `kformer.training.translation_dataset` are.
    """
    shapes = np.array([[ids.shape for ids in batch] for batch in batches])  # (batches, 3, 2)
    stacked = np.zeros((len(batches), 3, *shapes.max(axis=(0, 1))), np.int32)
    for number, batch in enumerate(batches):
        for side, ids in enumerate(batch):
            stacked[number, side, : ids.shape[0], : ids.shape[1]] = ids

    def crop(ids, shapes):
        source, target_in, target_out = (
            ids[side, : shapes[side, 0], : shapes[side, 1]] for side in range(3)
        )
        return (source, target_in), target_out

    options = tf.data.Options()
    options.autotune.enabled = False  # The end of an iteration may wait seconds for its thread.
    data = tf.data.Dataset.from_tensor_slices((stacked, shapes)).map(crop).prefetch(2)
    return data.with_options(options)


class RoundAnEpoch(keras.callbacks.Callback):
    """Makes every epoch a round."""

    def __init__(self, rounds):
        super().__init__()
        self._rounds = rounds

    def on_epoch_begin(self, epoch, logs=None):
        self._rounds.begin()

    def on_train_batch_end(self, batch, logs=None):
        if batch == 0:
            self._first_loss = float(logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        self._rounds.end(loss=self._first_loss)


def fit(model: keras.Model, batches: list[Batch], rounds, callbacks=()):
    """Trains until no more rounds are wanted."""
    model.fit(
        dataset(batches),
        epochs=1_000_000,
        shuffle=False,
        verbose=2,  # A line for each epoch.
        callbacks=[*callbacks, RoundAnEpoch(rounds)],
    )
