"""Several batches at a time, each on a core of its own."""

import os
from concurrent.futures import ThreadPoolExecutor

import keras


def in_parallel(function, batches):
    """Yields `function(batch)` for every batch, in their order; on as many threads as cores.

    TensorFlow leaves Python's lock while it computes, so threads are enough. The operations of a
    decoder's step are small: cores that share one batch mostly wait for each other.

    Args:
        function: callable; what it raises ends all that has not begun.
        batches: list.
    """
    workers = min(_most_at_once(), len(batches))
    if workers < 2:
        yield from map(function, batches)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(function, batches)
    finally:
        pool.shutdown(cancel_futures=True)


def _most_at_once():
    """The cores that this process may use; 1 where the backend has its own ways to use them."""
    if keras.backend.backend() != "tensorflow":
        return 1
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        return 1
    if hasattr(os, "sched_getaffinity"):  # Not on macOS.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
