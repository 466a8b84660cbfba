"""How decoding differs between runtimes, and nothing else."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from keras import ops

from kformer.backend import check_process, is_tensorflow
from kformer.decoding.buffers import InPlaceBuffers, SliceBuffers
from kformer.decoding.parallel import available_cores, in_parallel
from kformer.decoding.search.columns import select_column, update_column
from kformer.decoding.search.compaction import compact_at_half
from kformer.decoding.search.top_k import (
    log_sum_exp_in_chunks,
    log_sum_exp_of_graph,
    top_k_in_chunks,
    top_k_of_graph,
)


class Runtime(NamedTuple):
    """The fastest way to decode on a runtime.

    Attributes:
        buffers: How keys and values are cached, see `kformer.decoding.buffers`.
        top_k: (values, count) -> (highest, indices), see `kformer.decoding.search.top_k`.
        log_sum_exp: (values, highest) -> logarithms, see there.
        write: (values, new, position) -> values, see `kformer.decoding.search.columns`.
        block: Positions that are written into small buffers, before all of them are flushed to the
            main ones at once: where a loop copies what it changes, that should be small. None for
            no such buffers.
        capacities: Successive cache capacities, in positions, before that for all positions. Where
            every step reads, and copies, the whole cache, a small one is faster.
        elementwise_attention: Whether the attention of a single query is computed elementwise, see
            `kformer.decoding.step_attention`.
        compact_batch: How rows that have ended leave a batch, see
            `kformer.decoding.search.compaction`; None: they stay.
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
    """Yields `function(batch)` for every batch, in order, as many at once as pays off.

    Raises:
        RuntimeError: See `kformer.backend.check_process`.
    """
    check_process()
    yield from in_parallel(function, batches, max_parallel_batches())


def max_parallel_batches() -> int:
    """Returns how many batches to decode at once: the cores, or 1 if the backend spreads one."""
    if not is_tensorflow():
        return 1
    import tensorflow as tf

    return 1 if tf.config.list_physical_devices("GPU") else available_cores()
