"""Runs jobs on several workers at the same time."""

import queue
from pathlib import Path

from kformer.decoding.parallel import in_parallel
from kformer.pocket.workers import InterpreterWorker, ProcessWorker

_FEW = 32  # Texts that one worker translates before others would have started.
# Bytes of a file that is run in processes. In int8, 1,000 captions take 1.5 s in threads and 1.6 s
# in processes with tiny, 5 MB; with base, 52 MB, 13.5 s and 3.7 GB, or 8.1 s and 1.6 GB. One text
# with base takes 2.1 s from the start, or 0.7 s.
_LARGE = 20_000_000


class Team:
    """A pool of up to `size` workers: processes for a large file, otherwise threads.

    Args:
        path: The `.tflite` file.
        signature: A signature that it must have.
        size: Maximum number of workers.

    Attributes:
        first: `InterpreterWorker`, for single calls while no job runs.

    Raises:
        ValueError: The file is no TFLite model with this signature.
    """

    def __init__(self, path: Path, signature: str, size: int):
        self._path, self._signature, self._size = path, signature, size
        self.first = InterpreterWorker(path, signature)
        self._workers = []
        self._large = path.stat().st_size >= _LARGE
        if not self._large:
            self.first.load()
            self._workers.append(self.first)

    def prepare(self, count: int):
        """Starts the workers that pay off for so many texts."""
        for _ in range(len(self._workers), self._size if count > _FEW else 1):
            self._workers.append(
                ProcessWorker(self._path)
                if self._large
                else InterpreterWorker(self._path, self._signature)
            )

    def map(self, function, jobs):
        """Yields `function(worker, job)` for each job, in order.

        Raises:
            ChildProcessError: A process ended; the next `prepare` starts new ones.
        """
        free = queue.SimpleQueue()
        for worker in self._workers:
            free.put(worker)

        def run(job):
            worker = free.get()
            try:
                return function(worker, job)
            finally:
                free.put(worker)

        try:
            yield from in_parallel(run, jobs, len(self._workers))
        except ChildProcessError:
            self._workers = []
            raise
