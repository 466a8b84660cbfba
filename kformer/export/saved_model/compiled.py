"""Functions of ids compiled by XLA, for servers that were started with it.

XLA compiles anew for every shape, in seconds, when a shape first comes. So there are few: batches
are filled up to one of five sizes, rows to one of the lengths 16, 32, 64 and so on. For sources of
up to 256 ids, and with long rows in small batches, as in `signatures`, that makes 22
shapes. What a row becomes does not depend on how it is filled up.

Axes: B batch, S length.
"""

import tensorflow as tf

from kformer.decoding.buffers import SliceBuffers
from kformer.decoding.runtime import XLA

BATCH_CLASSES = (1, 4, 16, 32, 64)  # Rows of a batch; more are not compiled for at once.
SHORTEST = 16  # Ids of the shortest class of lengths; each class has twice as many as the last.


class SelectedBuffers(SliceBuffers):
    """Writes a slice with operations that are all in TensorFlow's public list.

    `SliceBuffers` needs `XlaDynamicUpdateSlice`, which is not. XLA makes nearly the same of
    both: 14.8 ms (of the others) and 16.2 for a sentence, 129 and 132 for 32, tiny model.
    """

    def index(self, buffer, start, size):
        slots = tf.range(tf.shape(buffer)[2])
        return tf.reshape((slots >= start) & (slots < start + size), (1, 1, -1, 1))

    def write(self, buffer, rows, index):
        times = tf.shape(buffer)[2] // rows.shape[2]
        return tf.where(index, tf.tile(rows, tf.stack([1, 1, times, 1])), buffer)


COMPILED = XLA._replace(buffers=SelectedBuffers())


def length_classes(most) -> list[int]:
    """The lengths that rows of at most `most` ids are filled up to: 16, 32, 64, ..., `most`."""
    lengths = []
    while SHORTEST << len(lengths) < most:
        lengths.append(SHORTEST << len(lengths))
    return [*lengths, most]


def shapes(most, max_ids) -> list[tuple[int, int]]:
    """All shapes (B, S) there are, if a batch has no more rows than `max_ids` divided by S.

    Args:
        most: The most ids of a row.
        max_ids: The most of a batch, but for what it is filled up with.
    """
    found = []
    for length in length_classes(most):
        rows = min(max(1, max_ids // length), BATCH_CLASSES[-1])
        largest = next(batch for batch in BATCH_CLASSES if batch >= rows)
        found += [(batch, length) for batch in BATCH_CLASSES if batch <= largest]
    return found


def compiled(function, padding_id, most):
    """Compiles a function of ids.

    Args:
        function: callable of an int32 tensor (B, S), B at most 64, to a structure of tensors
            (B, ...). A row of nothing but padding must do no harm.
        padding_id: What rows are filled up with, and the batch, too.
        most: The most ids that a row may have.

    Returns:
        callable of such a tensor, to such a structure; the rows in it may be longer.
    """
    program = tf.function(function, jit_compile=True, autograph=False)
    lengths = length_classes(most)

    def run(ids):
        rows, length = tf.unstack(tf.shape(ids))
        more = [class_of(rows, BATCH_CLASSES) - rows, class_of(length, lengths) - length]
        filled = tf.pad(ids, [[0, more[0]], [0, more[1]]], constant_values=padding_id)
        return tf.nest.map_structure(lambda output: output[:rows], program(filled))

    return run


def class_of(number, classes):
    """Returns the least of the ascending `classes` that is not less than `number`, int32 ()."""
    place = tf.searchsorted(tf.constant(classes), tf.reshape(number, (1,)))
    return tf.gather(classes, place)[0]
