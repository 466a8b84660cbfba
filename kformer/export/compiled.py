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


def compiled(function, padding_id, *longest):
    """Compiles a function of ids.

    Args:
        function: callable of int32 tensors (B, any), to a structure of tensors (B, ...). A row of
            nothing but padding must do no harm.
        padding_id: What the rows are filled up with, and the batch, too.
        *longest: For each argument the most ids that its rows may have.

    Returns:
        callable of such tensors, to such a structure; only rows' lengths may be longer in it.
    """
    program = tf.function(function, jit_compile=True)

    def run(*arguments):
        rows = tf.shape(arguments[0])[0]
        batch = _power_of_two(rows)
        filled = [
            _filled(ids, batch, _class_of(tf.shape(ids)[1], length_classes(most)), padding_id)
            for ids, most in zip(arguments, longest, strict=True)
        ]
        return tf.nest.map_structure(lambda output: output[:rows], program(*filled))

    return run


def _filled(ids, rows, length, padding_id):
    more = [rows, length] - tf.shape(ids)
    return tf.pad(ids, tf.stack([tf.zeros_like(more), more], axis=1), constant_values=padding_id)


def _power_of_two(number):
    return _class_of(number, [2**i for i in range(31)])


def _class_of(number, classes):
    """The least of the ascending `classes` that is not less than `number`, int32 ()."""
    return tf.gather(classes, tf.searchsorted(classes, tf.reshape(number, (1,))))[0]
