"""Functions of ids compiled by XLA, for servers that were started with it.

XLA compiles for every new shape, which takes seconds. So there are few: batches are padded to one
of five sizes, rows to one of the lengths 16, 32, 64 and so on. With the chunks of `signatures`
and sources of up to 256 ids, that makes 22 shapes. The padding does not change a row's result.

Axes: B batch, S length.
"""

import tensorflow as tf

from kformer.decoding.buffers import SliceBuffers
from kformer.decoding.runtime import XLA

BATCH_CLASSES = (1, 4, 16, 32, 64)  # Sizes to which batches are padded.
SHORTEST = 16  # The shortest padded length, in ids; each further one is twice as long.


class SelectedBuffers(SliceBuffers):
    """Writes a slice with public TensorFlow operations only.

    `SliceBuffers` needs `XlaDynamicUpdateSlice`, which is not public. With the tiny model it
    takes 14.8 ms for a sentence and 129 ms for 32, this class 16.2 ms and 132 ms.
    """

    def index(self, buffer, start, size):
        slots = tf.range(tf.shape(buffer)[2])
        return tf.reshape((slots >= start) & (slots < start + size), (1, 1, -1, 1))

    def write(self, buffer, rows, index):
        times = tf.shape(buffer)[2] // rows.shape[2]
        return tf.where(index, tf.tile(rows, tf.stack([1, 1, times, 1])), buffer)


COMPILED = XLA._replace(buffers=SelectedBuffers())


def length_classes(most) -> list[int]:
    """Returns the lengths to which rows of at most `most` ids are padded: 16, 32, ..., `most`."""
    lengths = []
    while SHORTEST << len(lengths) < most:
        lengths.append(SHORTEST << len(lengths))
    return [*lengths, most]


def shapes(most, max_ids) -> list[tuple[int, int]]:
    """Returns all padded shapes (B, S) of batches with at most `max_ids` / S rows.

    Args:
        most: Maximum number of ids of a row.
        max_ids: Maximum number of ids of a batch before rows are added as padding.
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
            (B, ...). It must accept rows of nothing but padding.
        padding_id: Id that fills up rows and batches.
        most: Maximum number of ids of a row.

    Returns:
        callable with the same inputs and outputs; output rows may be longer.
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
    """Returns the smallest of the ascending `classes` that is at least `number`, int32 ()."""
    place = tf.searchsorted(tf.constant(classes), tf.reshape(number, (1,)))
    return tf.gather(classes, place)[0]
