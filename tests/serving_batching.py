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
    max_execution_batch_size=None,
    batch_timeout_micros=1000,
    allowed_batch_sizes=(),
    max_enqueued_batches=100,
):
    """Returns `run` for many threads, whose rows come to it together.

    Args:
        run: callable from arrays by name, a row for each text, to such arrays.
        max_batch_size: Most rows of a request.
        max_execution_batch_size: Most rows at once: larger requests are split; None for as many.
        batch_timeout_micros: How long the first waits for others.
        allowed_batch_sizes: To which the last row is repeated; none for no padding.
        max_enqueued_batches: Most requests that wait.

    Raises:
        tensorflow.errors.OpError: What a server would answer; so does the function returned.
    """
    tasks, at_once = queue.Queue(max_enqueued_batches), max_execution_batch_size or max_batch_size

    def submit(inputs):
        size = len(next(iter(inputs.values())))
        if size > max_batch_size:
            message = f"Task size {size} is larger than maximum input batch size {max_batch_size}"
            raise InvalidArgumentError(None, None, message)
        futures = []
        for start in range(0, max(size, 1), at_once):
            piece = {name: rows[start : start + at_once] for name, rows in inputs.items()}
            futures.append(Future())
            try:
                tasks.put_nowait((piece, len(next(iter(piece.values()))), futures[-1]))
            except queue.Full:
                message = "The batch scheduling queue to which this task was submitted is full"
                raise UnavailableError(None, None, message) from None
        outputs = [future.result() for future in futures]
        return {name: np.concatenate([one[name] for one in outputs]) for name in outputs[0]}

    def work(task=None):
        while True:
            batch, task = [task or tasks.get()], None
            end = time.monotonic() + batch_timeout_micros / 1e6
            with suppress(queue.Empty):
                while (size := sum(own for _, own, _ in batch)) < at_once:
                    task = tasks.get(timeout=max(0, end - time.monotonic()))
                    if size + task[1] > at_once:
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

    threading.Thread(target=work, daemon=True).start()
    return submit
