"""Ways to find the highest of many numbers, and the sum of all, for runtimes that need their own.

A `top_k` is a callable (values, count) -> (highest, indices), as `keras.ops.top_k`: values float
(..., V); the highest first; of equal ones, any. A `log_sum_exp` is a callable (values, highest)
-> the logarithm of the sum of all exp(value - maximum), float (..., 1).

Axes: R rows, V values, C chunks, M width of a chunk.
"""

import math

import numpy as np
from keras import ops

from kformer.backend import rows_of

_LOWEST = float(np.finfo("float32").min)  # Below every score, also of what must not be chosen.
_FAR = 1e12  # Makes any difference of two float32 logits larger than an index.


def top_k_in_chunks(values, count):
    """For processors: sorting reads numbers one by one, but a maximum reads 16 at once.

    The highest `count` are in the `count` chunks with the highest maxima: so only the maxima of
    all chunks, and then the numbers in those few, need be sorted. With V = 8,000 and 8 to find,
    that is 637 numbers instead of 8,000. One to find needs no sorting at all.

    Args:
        values: float32 tensor (..., V), V static.
        count: How many, at most V.
    """
    *outer, size = ops.shape(values)
    rows, shape = math.prod(outer), (*outer, count)
    find = _highest if count == 1 else _sorted
    width = _width(rows, size, count)
    chunks = -(-size // width)
    if chunks <= count:
        highest, indices = find(ops.reshape(values, (-1, size)), count)
        return ops.reshape(highest, shape), ops.reshape(indices, shape)
    table = _table(values, width)  # (R * chunks, M)
    _, best_chunks = find(ops.reshape(_maxima(table), (-1, chunks)), count)  # (R, count)
    candidates = rows_of(table, best_chunks + _multiples(rows, chunks))
    highest, place = find(ops.reshape(candidates, (-1, count * width)), count)
    chunk = best_chunks
    if count > 1:
        flat = ops.reshape(best_chunks, (-1,))
        chunk, place = rows_of(flat, place // width + _multiples(rows, count)), place % width
    return ops.reshape(highest, shape), ops.reshape(chunk * width + place, shape)


def log_sum_exp_in_chunks(values, highest):
    """The logarithm of the sum of all exponentials, of the chunks that `top_k_in_chunks` finds.

    A compiler that finds what is computed twice has their maxima once; and all passes over the
    numbers come one after the other.

    Args:
        values: float32 tensor (..., V), V static.
        highest: float32 tensor (..., count): what `top_k_in_chunks` found of these.

    Returns:
        float32 tensor (..., 1), less the maximum of the `values`.
    """
    *outer, size = ops.shape(values)
    width = _width(math.prod(outer), size, highest.shape[-1])
    chunks = -(-size // width)
    table = _table(values, width)
    maxima = _maxima(table)
    sums = ops.sum(ops.exp(table - maxima), axis=-1)
    if chunks > 1:
        maxima, sums = ops.reshape(maxima, (-1, chunks)), ops.reshape(sums, (-1, chunks))
        most = ops.max(maxima, axis=-1, keepdims=True)
        sums = ops.sum(sums * ops.exp(maxima - most), axis=-1)
    return ops.reshape(ops.log(sums), (*outer, 1))


def top_k_of_graph(values, count):
    """For TensorFlow's graphs: there, one to find costs one pass; arguments as above."""
    return _sorted(values, 1) if count == 1 else top_k_in_chunks(values, count)


def log_sum_exp_of_graph(values, highest):
    """The same, for all other runtimes; `highest` has the maximum."""
    most = ops.max(highest, axis=-1, keepdims=True)
    return ops.log(ops.sum(ops.exp(values - most), axis=-1, keepdims=True))


def _multiples(rows, step):
    """0, step, 2 step, ...: int32 (R, 1), a constant if the number of rows is known."""
    if isinstance(rows, int):
        return (np.arange(rows) * step).astype("int32")[:, np.newaxis]
    return ops.expand_dims(ops.arange(rows, dtype="int32") * step, -1)


def _width(rows, size, count):
    """The width of a chunk: about least work for maxima and candidates together.

    If it can be, so that the last chunk is full, and a multiple of what a processor reads at once.
    To find the one highest of a single row, a few more passes take less time than a search.
    """
    if count == 1 and isinstance(rows, int) and rows == 1:
        return size
    ideal = max(1, math.isqrt(5 * size // count))
    near = range(max(1, ideal // 2), 2 * ideal + 1)
    for lanes in (16, 8, 1):
        exact = [width for width in near if size % width == 0 and width % lanes == 0]
        if exact:
            return min(exact, key=lambda width: abs(width - ideal))
    return ideal


def _table(values, width):
    """All numbers in rows of chunks: (..., V) -> (R * C, M), filled up with the lowest."""
    size = values.shape[-1]
    missing = -size % width
    if missing:
        values = ops.reshape(values, (-1, size))
        values = ops.pad(values, ((0, 0), (0, missing)), constant_values=_LOWEST)
    return ops.reshape(values, (-1, width))


def _maxima(table):
    return ops.max(table, axis=-1, keepdims=True)


def _highest(values, _):
    """The highest and the first index that has it, by minima and maxima alone."""
    highest = ops.max(values, axis=-1, keepdims=True)
    indices = np.arange(values.shape[-1], dtype="float32")  # Exact up to 2^24.
    distance = (values - highest) * -_FAR + indices  # The difference, the sum of all needs too.
    return highest, ops.cast(ops.min(distance, axis=-1, keepdims=True), "int32")


def _sorted(values, count):
    highest, indices = ops.top_k(values, count)
    return highest, ops.cast(indices, "int32")
