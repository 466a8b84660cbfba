"""Batches of about one length, and several batches at once, each on a core of its own.

Neither TensorFlow nor Keras is imported with this file, so that `kformer.pocket` may import it.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor


def longest_first(lengths: list[int]) -> list[int]:
    """Returns the indices of `lengths`, the longest first."""
    return sorted(range(len(lengths)), key=lambda i: -lengths[i])


def batches_by_length(lengths: list[int], batch_size: int) -> Iterator[list[int]]:
    """Yields batches of indices, the longest first, of rows of about one length."""
    order = longest_first(lengths)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def in_parallel(function: Callable, jobs: list, workers: int) -> Iterator:
    """Yields `function(job)` for every job, in their order, on a number of threads.

    TensorFlow and LiteRT release Python's lock while they compute, so threads are enough. The
    operations of a decoder's step are small: cores that share one batch mostly wait.

    Args:
        function: callable; if it raises, jobs that have not begun are cancelled.
    """
    workers = min(workers, len(jobs))
    if workers < 2:
        yield from map(function, jobs)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(function, jobs)
    finally:
        pool.shutdown(cancel_futures=True)


def available_cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Not on macOS.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def a_core_for_each_operation():
    """Has TensorFlow compute each operation on one core, and as many at once as there are cores.

    Then batches are decoded side by side, and a training step runs in parts, by
    `kformer.backend.in_parts`. Only a whole program may decide that, before TensorFlow computes for
    the first time; later calls do nothing.
    """
    import tensorflow as tf

    with contextlib.suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(available_cores())
