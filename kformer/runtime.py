"""What a search does differently on each runtime, and nothing else.

Axes: B batch, K beams, H heads, W width of a head, N slots.
"""

from collections.abc import Callable
from typing import NamedTuple

from keras import ops

from kformer.search.top_k import top_k_in_chunks


def write_by_select(buffer, rows, start):
    """Writes `rows` (B, H, K, W) at slot `start` of `buffer` (B, H, N, W); any runtime can.

    N and `start` are multiples of K.
    """
    size, width = ops.shape(buffer)[2], rows.shape[2]
    places = ops.reshape(ops.arange(size, dtype="int32"), (1, 1, -1, 1))
    if width == 1:
        return ops.where(ops.equal(places, start), rows, buffer)
    here = (places >= start) & (places < start + width)
    return ops.where(here, ops.tile(rows, (1, 1, size // width, 1)), buffer)


def write_by_slice(buffer, rows, start):
    """As `write_by_select`, in one operation that LiteRT and XLA have, and TF Serving has not."""
    return ops.slice_update(buffer, (0, 0, start, 0), rows)


class Runtime(NamedTuple):
    """How a runtime is best used.

    Attributes:
        write: (buffer, rows, start) -> buffer, see `write_by_select`.
        top_k: (values, count) -> (highest, indices), see `kformer.search.top_k`.
        block: Positions that are written into a small buffer of their own, before all of them go
            to the large one at once: a loop copies whatever it changes, so it should be small.
            None for no such buffer.
    """

    write: Callable
    top_k: Callable
    block: int | None


GRAPH = Runtime(write_by_select, ops.top_k, 16)  # TensorFlow's own operations, as in TF Serving.
XLA = Runtime(write_by_slice, ops.top_k, None)  # It writes in place.
LITERT = Runtime(write_by_slice, top_k_in_chunks, 16)
