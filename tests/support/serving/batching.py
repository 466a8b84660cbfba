"""Merges requests as TensorFlow Serving's batching does; for the stand-in, see there."""

import queue
import threading
import time
from concurrent.futures import Future
from contextlib import suppress

import numpy as np
from tensorflow.errors import InvalidArgumentError, UnavailableError


def batched(
    run,
    max_batch_size,
    batch_timeout_micros=1000,
    allowed_batch_sizes=(),
    max_enqueued_batches=100,
    num_batch_threads=1,
):
    """Returns `run` for many threads, whose rows come to it together.

    Args:
        run: callable from arrays by name, a row for each text, to such arrays.
        max_batch_size: Most rows of a request, and of a batch.
        batch_timeout_micros: How long the first waits for others; without rows, it waits for some.
        allowed_batch_sizes: To which the last row is repeated; none for no padding.
        max_enqueued_batches: Most requests that wait.
        num_batch_threads: Batches at the same time.

    Raises:
        tensorflow.errors.OpError: What a server would answer; so does the function returned.
    """
    if allowed_batch_sizes and allowed_batch_sizes[-1] != max_batch_size:
        message = "Last entry in allowed_batch_sizes must match max_batch_size; last entry was "
        message += f"{allowed_batch_sizes[-1]}; expected {max_batch_size}"
        raise InvalidArgumentError(None, None, message)
    tasks = queue.Queue(max_enqueued_batches)

    def submit(inputs):
        size = len(next(iter(inputs.values())))
        if size > max_batch_size:
            message = f"Task size {size} is larger than maximum input batch size {max_batch_size}"
            raise InvalidArgumentError(None, None, message)
        future = Future()
        try:
            tasks.put_nowait((inputs, size, future))
        except queue.Full:
            message = "The batch scheduling queue to which this task was submitted is full"
            raise UnavailableError(None, None, message) from None
        return future.result()

    def work(task=None):
        while True:
            batch, task = [task or tasks.get()], None
            end = time.monotonic() + batch_timeout_micros / 1e6
            with suppress(queue.Empty):
                while (size := sum(own for _, own, _ in batch)) < max_batch_size:
                    left = max(0, end - time.monotonic())
                    task = tasks.get(timeout=left if size else None)  # Without rows it waits.
                    if size + task[1] > max_batch_size:
                        break  # It begins the next batch.
                    batch, task = [*batch, task], None
            answer(batch, sum(own for _, own, _ in batch))

    def answer(batch, size):
        larger = [allowed for allowed in allowed_batch_sizes if allowed >= size]
        padding = min(larger, default=size) - size if size else 0
        merged, start = {}, 0
        try:
            for name in batch[0][0]:
                rows = np.concatenate([inputs[name] for inputs, _, _ in batch])
                merged[name] = np.concatenate([rows, np.repeat(rows[-1:], padding, axis=0)])
            outputs = run(merged)
            assert {len(rows) for rows in outputs.values()} == {size + padding}
        except Exception as error:
            for _, _, future in batch:
                future.set_exception(error)
            return
        for _, own, future in batch:
            future.set_result({name: rows[start : start + own] for name, rows in outputs.items()})
            start += own

    for _ in range(num_batch_threads):
        threading.Thread(target=work, daemon=True).start()
    return submit
