"""Buffers that keep what a step leaves for the next: how a runtime fills them.

Axes: B batch, H heads, N slots, R slots that are written at once, W width of a head.
"""

import keras
from keras import ops


class SlicesOfBuffers:
    """Writes a slice, in one operation of LiteRT, XLA and JAX, which TF Serving has not."""

    def empty(self, shape, any_number):
        """Returns a new buffer of `shape` (B, H, N, W); what is in it has no meaning.

        It is filled with `any_number`, a float scalar tensor that only the run knows: zeros would
        be stored in an exported file, all of them.
        """
        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf  # Keras would broadcast, in LiteRT a number after the other.

            return tf.fill(shape, any_number)
        return ops.broadcast_to(any_number, shape)

    def place(self, buffer, start, size):
        """Returns what `write` needs to write `size` slots at `start`, a multiple of `size`."""
        return ops.stack([0, 0, start, 0])

    def write(self, buffer, rows, place):
        """Returns `buffer` (B, H, N, W) with `rows` (B, H, R, W) at `place`; N % R is 0."""
        return ops.slice_update(buffer, place, rows)


class BuffersInPlace:
    """Writes into the buffer itself, with TensorFlow's own operations.

    All others copy the whole buffer at every step: with 32 rows, most of what a step takes. The old
    buffer must not be read again: what a step writes depends on all that the last one read. Blocks
    have no such order, and so need the other class. Methods are those of `SlicesOfBuffers`.
    """

    def empty(self, shape, any_number):
        import tensorflow as tf  # On this backend alone.

        # An operation with state: no optimizer makes one buffer of two.
        return tf.raw_ops.Empty(shape=ops.stack(shape), dtype=any_number.dtype, init=True)

    def place(self, buffer, start, size):
        batch, heads, slots, _ = ops.shape(buffer)
        # Of rows that hold `size` slots each.
        return ops.arange(batch * heads) * (slots // size) + start // size

    def write(self, buffer, rows, place):
        import tensorflow as tf

        row = rows.shape[2] * rows.shape[3]
        updated = tf.raw_ops.InplaceUpdate(
            x=ops.reshape(buffer, (-1, row)), i=place, v=ops.reshape(rows, (-1, row))
        )
        return tf.reshape(updated, tf.shape(buffer))


def buffers_of_backend():
    """Returns the fastest that Keras's backend has by itself."""
    tensorflow = keras.backend.backend() == "tensorflow"
    return BuffersInPlace() if tensorflow else SlicesOfBuffers()
