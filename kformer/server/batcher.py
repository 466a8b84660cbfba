"""The queue of a model: sentences of many requests are translated together, in fair turns."""

import asyncio
import collections
import math
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kformer.server.refusals import Refusal

_SMOOTHING = 0.9  # Of the mean speed: the weight of what was measured before.
# The threads of all queues: one that has just worked answers sooner than one that has slept. They
# start while all others work, and never reach their maximum, so no model waits for another.
_THREADS = ThreadPoolExecutor(10_000, "kformer-model")


class Batcher:
    """Answers the rows of texts of many requests with one model.

    While the model works, rows wait; then the next batch takes one row of each waiting request,
    one more of each, and so on, so that a long request never delays a short one by more than its
    share. A row that finds the model idle starts at once: there is no window of time to wait for.

    It belongs to one event loop.

    Args:
        answer: Function from a list of rows and a key to as many answers. It is called in threads.
        batch_size: Maximum number of rows of a call.
        calls: Maximum number of calls at the same time.
        capacity: Maximum number of characters that wait or are being answered.
        waited: Called with the seconds that a row has waited, for each row.
    """

    def __init__(
        self,
        answer: Callable[[list[tuple[str, ...]], Hashable], Sequence],
        batch_size: int,
        calls: int,
        capacity: int,
        waited: Callable[[float], object] = lambda _seconds: None,
    ):
        self._answer, self._waited = answer, waited
        self._batch_size, self._calls, self._capacity = batch_size, calls, capacity
        self._requests: collections.deque[_Request] = collections.deque()
        self._running: set[asyncio.Task] = set()
        self._speed = 1000.0  # Characters a second, for `Retry-After`.
        self.characters = 0  # That wait or are being answered.

    async def submit(self, rows: Sequence[tuple[str, ...]], key: Hashable) -> list:
        """Returns the answers to some rows.

        If the caller is cancelled, the rows that have not started are forgotten.
        """
        if not rows:
            return []
        request = _Request(rows, key)
        if self.characters and self.characters + request.characters > self._capacity:
            raise Refusal(
                429,
                f"At most {self._capacity:,} characters may wait. Received: {request.characters:,} "
                f"characters, while {self.characters:,} wait.",
                retry_after=min(60, math.ceil(self.characters / self._speed)),
            )
        self.characters += request.characters
        self._requests.append(request)
        self._start()
        try:
            return await request.answers
        finally:
            if request.waiting:
                self._requests.remove(request)
                self.characters -= sum(_cost(row) for _, row in request.waiting)
                request.waiting.clear()

    async def close(self):
        """Waits for the calls that have started."""
        await asyncio.gather(*self._running, return_exceptions=True)

    def _start(self):
        while self._requests and len(self._running) < self._calls:
            task = asyncio.ensure_future(self._run(self._next_batch()))
            self._running.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task):
        self._running.discard(task)
        self._start()

    def _next_batch(self):
        """Returns the next rows as pairs of a request and the index of a row, all of one key."""
        key, batch, passed_over = self._requests[0].key, [], []
        number = sum(len(request.waiting) for request in self._requests if request.key == key)
        idle = self._calls - len(self._running)
        size = min(self._batch_size, math.ceil(number / idle))
        while len(batch) < size and self._requests:
            request = self._requests.popleft()
            if request.key != key:
                passed_over.append(request)
                continue
            batch.append((request, request.waiting.popleft()[0]))
            if request.waiting:
                self._requests.append(request)
        self._requests.extendleft(reversed(passed_over))
        return batch

    async def _run(self, batch):
        requests = {request for request, _ in batch}
        rows = [request.rows[i] for request, i in batch]
        began = time.monotonic()
        for request, _ in batch:
            self._waited(began - request.arrived)
        try:
            answers = await self._call(rows, batch[0][0].key)
        except Exception as error:
            if len(requests) > 1:  # One must not fail for another.
                for single in requests:
                    await self._run([pair for pair in batch if pair[0] is single])
                return
            batch[0][0].fail(error)
        else:
            for (request, i), answer in zip(batch, answers, strict=True):
                request.put(i, answer)
        characters = sum(map(_cost, rows))
        self.characters -= characters
        speed = characters / max(time.monotonic() - began, 1e-3)
        self._speed = _SMOOTHING * self._speed + (1 - _SMOOTHING) * speed

    def _call(self, rows, key):
        return asyncio.get_running_loop().run_in_executor(_THREADS, self._answer, rows, key)


class _Request:
    """The rows of a request, and the future of their answers."""

    def __init__(self, rows: Sequence[tuple[str, ...]], key: Hashable):
        self.rows, self.key, self.arrived = rows, key, time.monotonic()
        self.waiting = collections.deque(enumerate(rows))
        self.characters = sum(map(_cost, rows))
        self.answers: asyncio.Future[list] = asyncio.get_running_loop().create_future()
        self._answers: list[Any] = [None] * len(rows)
        self._missing = len(rows)

    def put(self, i: int, answer: Any):
        """Stores the answer to a row; the last one completes the future."""
        self._answers[i] = answer
        self._missing -= 1
        if not self._missing and not self.answers.done():
            self.answers.set_result(self._answers)

    def fail(self, error: Exception):
        """Ends the request with an error."""
        if not self.answers.done():
            self.answers.set_exception(error)


def _cost(row):
    """Returns the characters that a row counts as; a blank text counts, too."""
    return sum(map(len, row)) + 1
