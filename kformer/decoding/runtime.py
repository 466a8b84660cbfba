"""What a search does differently on each runtime, and nothing else."""

from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import ops

from kformer.decoding.buffers import BuffersInPlace, SlicesOfBuffers, buffers_of_backend
from kformer.decoding.search.columns import select_column, update_column
from kformer.decoding.search.compaction import leave_at_half
from kformer.decoding.search.top_k import (
    log_sum_exp_in_chunks,
    log_sum_exp_of_graph,
    top_k_in_chunks,
    top_k_of_graph,
)


class Runtime(NamedTuple):
    """How a runtime is best used.

    Attributes:
        buffers: How the past is kept, see `kformer.decoding.buffers`.
        top_k: (values, count) -> (highest, indices), see `kformer.decoding.search.top_k`.
        log_sum_exp: (values, highest) -> logarithms, see there.
        write: (values, new, position) -> values, see `kformer.decoding.search.columns`.
        block: Positions that are written into a small buffer of their own, before all of them go
            to the large one at once: where a loop copies what it changes, that should be small.
            None for no such buffer.
        rooms: Positions that the past has room for at first, and then; in the end, it has for all.
            Where every step reads, and copies, all of that room, most need not be so large.
        sums: Whether a single query meets the keys in sums, see `kformer.decoding.step_attention`.
        leave: How rows that have ended leave a batch, see `kformer.decoding.search.compaction`;
            None: they stay.
    """

    buffers: BuffersInPlace | SlicesOfBuffers
    top_k: Callable
    log_sum_exp: Callable = log_sum_exp_of_graph
    write: Callable = select_column
    block: int | None = None
    rooms: tuple[int, ...] = ()
    sums: bool = False
    leave: Callable | None = None


GRAPH = Runtime(  # As in Python and in TF Serving.
    buffers_of_backend(),
    top_k_of_graph,
    leave=leave_at_half if keras.backend.backend() == "tensorflow" else None,
)
XLA = Runtime(SlicesOfBuffers(), ops.top_k)  # It writes in place.
LITERT = Runtime(
    SlicesOfBuffers(), top_k_in_chunks, log_sum_exp_in_chunks, update_column, block=4, sums=True
)
