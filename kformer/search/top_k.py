"""Ways to find the highest of many numbers, for runtimes that need their own.

Each is a callable (values, count) -> (highest, indices), as `keras.ops.top_k`: values float
(..., V); the highest first; of equal ones, any.

Axes: R rows, V values, C chunks, M width of a chunk.
"""

import math

import numpy as np
from keras import ops

from kformer.gather import rows_of

_LOWEST = float(np.finfo("float32").min)  # Below every score, also of what must not be chosen.
_FAR = 1e12  # Makes any difference of two float32 logits larger than an index.


def top_k_in_chunks(values, count):
    """For processors: sorting reads numbers one by one, but a maximum reads 16 at once.

    The highest `count` are in the `count` chunks with the highest maxima: so only the maxima of
    all chunks, and then the numbers in those few, need be sorted. With V = 8,000 and 8 to find,
    that is 506 numbers instead of 8,000. One to find needs no sorting at all.

    Args:
        values: float32 tensor (..., V), V static.
        count: How many, at most V.
    """
    if count == 1:
        return _highest(values)
    *outer, size = ops.shape(values)
    width = max(1, math.isqrt(size // count))  # Least maxima and candidates together.
    chunks = -(-size // width)
    if chunks <= count:
        return _sorted(values, count)
    values = ops.reshape(values, (-1, size))
    if chunks * width > size:
        values = ops.pad(values, ((0, 0), (0, chunks * width - size)), constant_values=_LOWEST)
    values = ops.reshape(values, (-1, chunks, width))
    _, best_chunks = _sorted(ops.max(values, axis=-1), count)  # (R, count)
    rows = math.prod(outer)
    first = _multiples(rows, chunks)
    candidates = rows_of(ops.reshape(values, (-1, width)), best_chunks + first)
    highest, place = _sorted(ops.reshape(candidates, (-1, count * width)), count)
    first = _multiples(rows, count)
    chunk = rows_of(ops.reshape(best_chunks, (-1,)), place // width + first)
    shape = (*outer, count)
    return ops.reshape(highest, shape), ops.reshape(chunk * width + place % width, shape)


def top_k_of_graph(values, count):
    """For TensorFlow's graphs: there, one to find costs one pass; arguments as above."""
    return _sorted(values, 1) if count == 1 else top_k_in_chunks(values, count)


def _multiples(rows, step):
    """0, step, 2 step, ...: int32 (R, 1), a constant if the number of rows is known."""
    if isinstance(rows, int):
        return (np.arange(rows) * step).astype("int32")[:, np.newaxis]
    return ops.expand_dims(ops.arange(rows, dtype="int32") * step, -1)


def _highest(values):
    """The highest and the first index that has it, by minima and maxima alone."""
    highest = ops.max(values, axis=-1, keepdims=True)
    indices = np.arange(values.shape[-1], dtype="float32")  # Exact up to 2^24.
    distance = (highest - values) * _FAR + indices
    return highest, ops.cast(ops.min(distance, axis=-1, keepdims=True), "int32")


def _sorted(values, count):
    highest, indices = ops.top_k(values, count)
    return highest, ops.cast(indices, "int32")
