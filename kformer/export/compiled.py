"""Functions of ids compiled by XLA, for servers that were started with it.

XLA compiles anew for every shape, in seconds, when a shape first comes. So there are few: rows are
filled up to a power of two, and their lengths to one of some classes. What a row becomes does not
depend on either.

Axes: B batch, S length.
"""

import tensorflow as tf

from kformer.runtime import XLA, write_by_select

SHORTEST = 16  # Ids of the shortest class of lengths; each class has twice as many as the last.
# `XlaDynamicUpdateSlice`, the other way to write, is not in TensorFlow's public list of operations.
# XLA makes the same of both: 14.8 and 16.2 ms for a sentence, 129 and 132 ms for 32, tiny model.
COMPILED = XLA._replace(write=write_by_select)


def length_classes(most) -> list[int]:
    """The lengths that rows of at most `most` ids are filled up to: 16, 32, 64, ..., `most`."""
    lengths = []
    while SHORTEST << len(lengths) < most:
        lengths.append(SHORTEST << len(lengths))
    return [*lengths, most]


def compiled(function, padding_id, most):
    """Compiles a function of ids.

    Args:
        function: callable of an int32 tensor (B, S) to a structure of tensors (B, ...). A row of
            nothing but padding must do no harm.
        padding_id: What rows are filled up with, and the batch, too.
        most: The most ids that a row may have.

    Returns:
        callable of such a tensor, to such a structure; the rows in it may be longer.
    """
    program = tf.function(function, jit_compile=True)
    powers, lengths = [2**i for i in range(31)], length_classes(most)

    def run(ids):
        rows, length = tf.unstack(tf.shape(ids))
        more = [_class_of(rows, powers) - rows, _class_of(length, lengths) - length]
        filled = tf.pad(ids, [[0, more[0]], [0, more[1]]], constant_values=padding_id)
        return tf.nest.map_structure(lambda output: output[:rows], program(filled))

    return run


def _class_of(number, classes):
    """The least of the ascending `classes` that is not less than `number`, int32 ()."""
    return tf.gather(classes, tf.searchsorted(classes, tf.reshape(number, (1,))))[0]
