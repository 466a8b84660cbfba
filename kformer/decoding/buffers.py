"""Buffers of keys and values: how each runtime writes into them.

Axes: B batch, H heads, N slots, R slots that are written at once, W width of a head.
"""

from typing import Any

from keras import ops

from kformer.backend import is_tensorflow


class SliceBuffers:
    """Writes a slice, in one operation of LiteRT, XLA and JAX, which TF Serving does not have."""

    def empty(self, shape: tuple, any_number: Any) -> Any:
        """Returns a new buffer of `shape` (B, H, N, W), whose values have no meaning.

        It is filled with `any_number`, a float scalar tensor that is computed when the graph runs:
        an exported file would store every zero of a constant buffer.
        """
        if is_tensorflow():
            import tensorflow as tf  # LiteRT broadcasts one number at a time.

            return tf.fill(shape, any_number)
        return ops.broadcast_to(any_number, shape)

    def index(self, buffer: Any, start: Any, size: int) -> Any:
        """Returns the index to `write` `size` slots at `start`, a multiple of `size`."""
        return ops.stack([0, 0, start, 0])

    def write(self, buffer: Any, rows: Any, index: Any) -> Any:
        """Returns `buffer` (B, H, N, W) with `rows` (B, H, R, W) at `index`; N % R is 0."""
        return ops.slice_update(buffer, index, rows)


class InPlaceBuffers:
    """Writes into the buffer itself, with operations that only TensorFlow has.

    Other ways copy the whole buffer at every step, which takes most of its time with 32 rows. The
    old buffer must not be read again. Steps ensure that, because what a step writes depends on all
    that the last one read; blocks do not, so they need `SliceBuffers`. See there for the methods.
    """

    def empty(self, shape: tuple, any_number: Any) -> Any:
        import tensorflow as tf  # On this backend alone.

        # A stateful operation: no optimizer merges two buffers into one.
        return tf.raw_ops.Empty(shape=ops.stack(shape), dtype=any_number.dtype, init=True)

    def index(self, buffer: Any, start: Any, size: int) -> Any:
        batch, heads, slots, _ = ops.shape(buffer)
        # The buffer as a matrix, whose rows hold `size` slots each.
        return ops.arange(batch * heads) * (slots // size) + start // size

    def write(self, buffer: Any, rows: Any, index: Any) -> Any:
        import tensorflow as tf

        row = rows.shape[2] * rows.shape[3]
        updated = tf.raw_ops.InplaceUpdate(
            x=ops.reshape(buffer, (-1, row)), i=index, v=ops.reshape(rows, (-1, row))
        )
        return tf.reshape(updated, tf.shape(buffer))
