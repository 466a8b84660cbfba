"""Rows of a table, by their numbers."""

import keras
from keras import ops


def gather(table, ids):
    """Returns `table[ids]` for `ids` that are all in [0, len(table)).

    `keras.ops.take` also takes negative numbers, at the price of three more operations: as much
    as a small model's layer, where a search calls it at every step.

    Args:
        table: tensor (M, ...).
        ids: int32 tensor of any shape.

    Returns:
        tensor (*ids.shape, ...).
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf  # Its own op does not wrap around.

        return tf.gather(table, ids)
    return ops.take(table, ids, axis=0)
