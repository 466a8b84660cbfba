"""The highest of many numbers, and their log-sum-exp, in the fastest form of each runtime.

A `top_k` is a callable (values, count) -> (highest, indices), as `keras.ops.top_k`: values float
(..., V), the highest first, equal ones in any order. A `log_sum_exp` is a callable
(values, highest) -> the logarithm of the sum of exp(value - maximum), float (..., 1).

Axes: R rows, V values, C chunks, M width of a chunk.
"""

import math
from typing import Any

import numpy as np
from keras import ops

from kformer.backend import gather

_LOWEST = float(np.finfo("float32").min)  # Below every score, also that of forbidden ids.
_FAR = 1e12  # Makes any difference of two float32 logits larger than an index.


def top_k_in_chunks(values: Any, count: int) -> tuple[Any, Any]:
    """A `top_k` for processors: sorting reads one number at a time, a maximum reads 16.

    The highest `count` values are in the `count` chunks with the highest maxima. So only the maxima
    of all chunks, and then the values of those chunks, are sorted: 637 numbers instead of 8,000 for
    V = 8,000 and a count of 8. A count of 1 needs no sorting at all.

    Args:
        values: float32 tensor (..., V), V static.
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
    candidates = gather(table, best_chunks + _multiples(rows, chunks))
    highest, place = find(ops.reshape(candidates, (-1, count * width)), count)
    chunk = best_chunks
    if count > 1:
        flat = ops.reshape(best_chunks, (-1,))
        chunk, place = gather(flat, place // width + _multiples(rows, count)), place % width
    return ops.reshape(highest, shape), ops.reshape(chunk * width + place, shape)


def log_sum_exp_in_chunks(values: Any, highest: Any) -> Any:
    """A `log_sum_exp` over the chunks of `top_k_in_chunks`.

    A compiler that merges equal operations computes the chunks' maxima once for both, and the
    passes over the values follow each other directly.

    Args:
        values: float32 tensor (..., V), V static.
        highest: float32 tensor (..., count), from `top_k_in_chunks` of the values.

    Returns:
        float32 tensor (..., 1), relative to the maximum of `values`.
    """
    *outer, size = ops.shape(values)
    width = _width(math.prod(outer), size, highest.shape[-1])
    chunks = -(-size // width)
    table = _table(values, width)
    maxima = _maxima(table)
    sums = ops.sum(ops.exp(table - maxima), axis=-1)
    if chunks > 1:
        maxima, sums = ops.reshape(maxima, (-1, chunks)), ops.reshape(sums, (-1, chunks))
        maximum = ops.max(maxima, axis=-1, keepdims=True)
        sums = ops.sum(sums * ops.exp(maxima - maximum), axis=-1)
    return ops.reshape(ops.log(sums), (*outer, 1))


def top_k_of_graph(values: Any, count: int) -> tuple[Any, Any]:
    """A `top_k` for TensorFlow's graphs, where a count of 1 is one pass over the values."""
    return _sorted(values, 1) if count == 1 else top_k_in_chunks(values, count)


def log_sum_exp_of_graph(values: Any, highest: Any) -> Any:
    """A `log_sum_exp` for all runtimes but LiteRT; `highest` holds the maximum of `values`."""
    maximum = ops.max(highest, axis=-1, keepdims=True)
    return ops.log(ops.sum(ops.exp(values - maximum), axis=-1, keepdims=True))


def _multiples(rows, step):
    """Returns 0, step, 2 step, ..., int32 (R, 1); a constant if the number of rows is static."""
    if isinstance(rows, int):
        return (np.arange(rows) * step).astype("int32")[:, np.newaxis]
    return ops.expand_dims(ops.arange(rows, dtype="int32") * step, -1)


def _width(rows, size, count):
    """Returns the width of a chunk that makes maxima and candidates together about the fewest.

    If possible, it divides the size and is a multiple of a processor's lanes. To find
    the maximum of a single row, whole passes over it take less time than chunks.
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
    """Returns the values by chunks, (..., V) -> (R * C, M), padded with the lowest number."""
    size = values.shape[-1]
    missing = -size % width
    if missing:
        values = ops.reshape(values, (-1, size))
        values = ops.pad(values, ((0, 0), (0, missing)), constant_values=_LOWEST)
    return ops.reshape(values, (-1, width))


def _maxima(table):
    return ops.max(table, axis=-1, keepdims=True)


def _highest(values, _):
    """Returns the highest and its first index, by minima and maxima alone."""
    highest = ops.max(values, axis=-1, keepdims=True)
    indices = np.arange(values.shape[-1], dtype="float32")  # Exact up to 2^24.
    distance = (values - highest) * -_FAR + indices  # `log_sum_exp` needs the same difference.
    return highest, ops.cast(ops.min(distance, axis=-1, keepdims=True), "int32")


def _sorted(values, count):
    highest, indices = ops.top_k(values, count)
    return highest, ops.cast(indices, "int32")
