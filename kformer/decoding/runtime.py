"""The differences between runtimes: buffers of keys and values, top-k, and how batches shrink.

Axes: B batch, H heads, N slots, R slots that are written at once, W width of a head.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from keras import ops

from kformer.backend import check_process, is_tensorflow
from kformer.decoding.search.compaction import compact_at_half
from kformer.decoding.search.search_loop import select_column, update_column
from kformer.decoding.search.top_k import (
    log_sum_exp_in_chunks,
    log_sum_exp_of_graph,
    top_k_in_chunks,
    top_k_of_graph,
)
from kformer.threads import available_cores, in_parallel


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
    old buffer must not be read again. Steps ensure that, because the values that a step writes
    depend on all values that the last one read; blocks do not, so they need `SliceBuffers`. The
    methods are described in `SliceBuffers`.
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


class Runtime(NamedTuple):
    """The fastest way to decode on a runtime.

    Attributes:
        buffers: Buffers of cached keys and values.
        top_k: (values, count) -> (highest, indices), from `kformer.decoding.search.top_k`.
        log_sum_exp: (values, highest) -> logarithms, from the same module.
        write: (values, new, position) -> values, from `kformer.decoding.search.search_loop`.
        block: Positions that are written into small buffers, before all of them are flushed to the
            main ones at once: small ones are fast where a loop copies the buffers that it changes.
            None for no such buffers.
        capacities: Successive cache capacities, in positions, before the capacity for all
            positions. A small cache is faster where every step reads, and copies, the whole cache.
        elementwise_attention: Whether the attention of a single query is computed elementwise, by
            `kformer.decoding.step_attention.ElementwiseAttention`.
        compact_batch: Function of `kformer.decoding.search.compaction` by which rows that have
            ended leave a batch; None: they stay.
    """

    buffers: InPlaceBuffers | SliceBuffers
    top_k: Callable
    log_sum_exp: Callable = log_sum_exp_of_graph
    write: Callable = select_column
    block: int | None = None
    capacities: tuple[int, ...] = ()
    elementwise_attention: bool = False
    compact_batch: Callable | None = None


GRAPH = Runtime(  # Python and TF Serving.
    InPlaceBuffers() if is_tensorflow() else SliceBuffers(),
    top_k_of_graph,
    compact_batch=compact_at_half if is_tensorflow() else None,
)
XLA = Runtime(SliceBuffers(), ops.top_k)  # XLA writes slices in place.
LITERT = Runtime(
    SliceBuffers(),
    top_k_in_chunks,
    log_sum_exp_in_chunks,
    update_column,
    block=4,
    elementwise_attention=True,
)


def each_batch(function: Callable, batches: list) -> Iterator:
    """Yields `function(batch)` for every batch, in order, as many at once as pays off."""
    check_process()
    yield from in_parallel(function, batches, max_parallel_batches())


def max_parallel_batches() -> int:
    """Returns how many batches to decode at once: the cores, or 1 if the backend spreads one."""
    if not is_tensorflow():
        return 1
    import tensorflow as tf

    return 1 if tf.config.list_physical_devices("GPU") else available_cores()
