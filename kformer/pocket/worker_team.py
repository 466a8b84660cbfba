"""A pool of workers for one `.tflite` file, which all threads of a process share."""

import collections
import contextlib
import os
import threading
import weakref
from collections.abc import Callable

from kformer.pocket.held_file import HeldFile
from kformer.pocket.workers import CompiledWorker, InterpreterWorker, ProcessWorker
from kformer.threads import in_parallel

_FEW = 32  # Texts that one worker translates before others would have started.
# Bytes from which a file is run in processes. For 1,000 captions in int8, the tiny model (5 MB)
# takes 1.5 s in threads and 1.6 s in processes; the base model (52 MB) takes 13.5 s and 3.7 GB in
# threads, 8.1 s and 1.6 GB in processes, and 2.1 s or 0.7 s for its first text.
_LARGE = 20_000_000


class Team:
    """A pool of up to `size` workers: processes for a large file, otherwise interpreters.

    Calls of several threads share the workers: each job has a worker to itself. For a few texts,
    the main thread runs a large file in this process, unless there are processes already. In a fork
    of this process, the team starts workers anew.

    Args:
        path: `HeldFile`, the `.tflite` file.
        signature: A signature that it must have.
        size: Maximum number of workers.

    Raises:
        ValueError: The file is no TFLite model with this signature.
    """

    def __init__(self, path: HeldFile, signature: str, size: int):
        self._path, self._signature, self._size = path, signature, size
        self._large = path.stat().st_size >= _LARGE
        self._begin()
        if not self._large:
            self.first.load()
        _TEAMS.add(self)

    def _begin(self):
        self._free: collections.deque = collections.deque()
        self._running = 0
        self._changed = threading.Condition()
        self._first: InterpreterWorker | None = None
        self._compiled: CompiledWorker | None = None

    @property
    def first(self) -> InterpreterWorker:
        """The worker for single calls, which need not wait for a job."""
        with self._changed:
            if self._first is None:
                self._first = InterpreterWorker(self._path, self._signature)
                if not self._large:
                    self._free.append(self._first)
                    self._running += 1
            return self._first

    def map(self, function: Callable, jobs: list, texts: int):
        """Yields `function(worker, job)` for each job, in order."""

        def run(job):
            with self._worker() as worker:
                return function(worker, job)

        size = self._size if texts > _FEW else 1
        is_main = threading.current_thread() is threading.main_thread()
        if self._large and size == 1 and is_main and not self._running:
            worker = self._compiled = self._compiled or CompiledWorker(self._path)
            yield from (function(worker, job) for job in jobs)
        else:
            self._compiled = None  # Processes answer from here on, and its memory is theirs.
            yield from in_parallel(run, jobs, size)

    @contextlib.contextmanager
    def _worker(self):
        """Lends a worker; if all are lent, starts another, or waits if `size` are running."""
        with self._changed:
            self._changed.wait_for(lambda: self._free or self._running < self._size)
            worker = self._free.pop() if self._free else None  # The last to work is the warmest.
            self._running += worker is None
        try:
            worker = worker or self._started()
            yield worker
        finally:
            with self._changed:
                if worker is not None and worker.usable:
                    self._free.append(worker)
                else:
                    self._running -= 1
                self._changed.notify()

    def _started(self):
        if self._large:
            return ProcessWorker(self._path)
        return InterpreterWorker(self._path, self._signature)


_TEAMS: weakref.WeakSet = weakref.WeakSet()
_OF_PARENT: list = []  # Another thread may have been in these at the fork: not even to be deleted.


def _forked():
    for team in list(_TEAMS):
        _OF_PARENT.append(vars(team).copy())
        team._begin()


if hasattr(os, "register_at_fork"):  # Not on Windows, which cannot fork.
    os.register_at_fork(after_in_child=_forked)
