"""The memory of a server: models are loaded when they are used, and the least used unloaded."""

import contextlib
import ctypes
import dataclasses
import functools
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil

from kformer.server.refusals import Refusal

_SPARE = 0.1  # Of the limit, which is free after models were unloaded.
_PATIENCE_SECONDS = 5.0  # That a call waits until another model is idle.
_RETRY_SECONDS = 5  # After which a model may be idle that leaves its memory to another one.


@dataclasses.dataclass
class ModelCounts:
    """Counts of loads, unloads and waiting texts of all models that had one name.

    Attributes:
        loads, unloads: How often one was loaded and unloaded.
        rows: Number of texts that have waited in the queue.
        seconds: How long they have waited.
    """

    loads: int = 0
    unloads: int = 0
    rows: int = 0
    seconds: float = 0.0

    def waited(self, seconds: float):
        """Counts a text that has waited."""
        self.rows += 1
        self.seconds += seconds


class ModelMemory:
    """The models that are loaded in this process and those that it started.

    Args:
        most: Number of bytes over which models that nobody uses are unloaded, the least recently
            used first; None for no limit. What a model needs is known after its first answer, so
            for a while there may be more.
    """

    def __init__(self, most: int | None = None):
        self.most, self.calls = most, 0  # Of all models, now.
        self._lock, self._making_room = threading.Lock(), threading.Lock()
        self._has_ended = threading.Condition(self._lock)  # A call.
        self._loaded: dict[HeldModel, None] = {}  # The least recently used first.

    def begin(self, held: "HeldModel"):
        """Counts a call of a model, which stays loaded until `end`."""
        with self._lock:
            self.calls += 1
            held.calls += 1
            if held in self._loaded:
                self._loaded[held] = self._loaded.pop(held)

    def end(self, held: "HeldModel"):
        """Ends a call of a model."""
        with self._lock:
            self.calls -= 1
            held.calls -= 1
            self._has_ended.notify_all()

    def keep(self, held: "HeldModel"):
        """Knows a model that has been loaded."""
        with self._lock:
            if not held.is_replaced:
                self._loaded[held] = None

    def release(self, held: "HeldModel"):
        """Leaves a model to those that use it: when the last one is gone, it is, too."""
        with self._lock:
            held.is_replaced = True
            self._loaded.pop(held, None)

    def make_room(self, held: "HeldModel"):
        """Unloads other models until one that is to be loaded has room.

        Raises:
            Refusal: Those that are loaded are all in use, and stay so for a while.
        """
        last = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < last:
            if self._unload_over_limit(held.bytes) or not self._loaded:
                return  # With no other one, there would never be more room.
            with self._has_ended:
                self._has_ended.wait(last - time.monotonic())
        assert self.most is not None
        raise Refusal(
            503,
            f"The models in use fill the {self.most / 1e6:,.0f} MB of memory of this server. "
            f"Received: a request for {held.name}, which is not loaded.",
            retry_after=_RETRY_SECONDS,
        )

    def keep_to_limit(self):
        """Unloads models that nobody uses until the memory is under its limit."""
        self._unload_over_limit(0)

    def _unload_over_limit(self, more):
        """Unloads idle models for so many bytes more; returns whether there is room for them."""
        with self._making_room:  # What one has deleted must be given back before it is measured.
            return self.most is None or self._has_unloaded(more)

    def _has_unloaded(self, more):
        while (over := used_bytes() + more - self.most) > 0:
            # A few at once: to give memory back takes longer than to load a small model.
            if not self._unload_idle(over + _SPARE * self.most):
                return False
        return True

    def _unload_idle(self, size):
        """Unloads the least recently used models of about `size` bytes; returns how many."""
        with self._lock:
            idle = [held for held in self._loaded if not held.calls]
        number = 0
        while idle and size > 0:
            held = idle.pop(0)
            size -= held.bytes
            number += self._forget(held)
        if number:
            give_back()
        return number

    def unload(self, held: "HeldModel"):
        """Unloads a model, unless somebody uses it."""
        if self._forget(held):
            give_back()

    def _forget(self, held):
        with self._lock:
            if held.calls or held not in self._loaded:
                return False
            del self._loaded[held]
            held.model = None
            held.counts.unloads += 1
            return True


class HeldModel:
    """A model that is loaded when it is used.

    Args:
        name: For messages.
        load: Returns the model.
        memory: `ModelMemory` that unloads it.
        counts: `ModelCounts`.

    Attributes:
        model: The model; None while it is not loaded.
        bytes: Number of bytes that it took, where that was measured.
        calls: Number of calls that use it now.
        is_loading: Whether it is being loaded.
        is_replaced: Whether another one has its place.
    """

    def __init__(
        self, name: str, load: Callable[[], Any], memory: ModelMemory, counts: ModelCounts
    ):
        self.name, self._load, self._memory = name, load, memory
        self._loading = threading.Lock()
        self._has_answered, self._before = False, 0
        self.model: Any = None
        self.bytes, self.calls, self.counts = 0, 0, counts
        self.is_loading = self.is_replaced = False

    @contextlib.contextmanager
    def used(self) -> Iterator[Any]:
        """Lends the model, which stays loaded meanwhile.

        Raises:
            Refusal: There is no room for it now.
        """
        self._memory.begin(self)
        try:
            with self._loading:  # One call loads it; others wait.
                if self.model is None:
                    self._load_now()
            yield self.model
            if self._has_answered:
                return
            self._has_answered = True  # Its first answer took memory, too.
            self._measure()
            self._memory.keep_to_limit()
        finally:
            self._memory.end(self)

    def unload(self):
        """Unloads it, unless somebody uses it."""
        self._memory.unload(self)

    def replace(self):
        """Leaves it to the requests that have begun, as another one has its place."""
        self._memory.release(self)

    def _measure(self):
        """Measures what was taken since the loading began, unless others may have taken some."""
        if self._memory.most is not None and self._memory.calls == 1:
            _child_bytes.cache_clear()  # A large model has started a process.
            self.bytes = max(self.bytes, used_bytes() - self._before)

    def _load_now(self):
        self._memory.make_room(self)
        self.is_loading = True
        self._before = used_bytes()
        try:
            self.model = self._load()
        except FileNotFoundError as error:
            if not self.counts.loads:
                raise
            raise Refusal(
                503,
                f"The files of {self.name} must stay while it is served. "
                f"Received: {error.filename or 'a missing file'}.",
                retry_after=_RETRY_SECONDS,
            ) from error
        finally:
            self.is_loading = False
        self._measure()
        self.counts.loads += 1
        self._has_answered = False
        self._memory.keep(self)


def used_bytes() -> int:
    """Returns the bytes of memory of this process and of those that it started."""
    return psutil.Process().memory_info().rss + _child_bytes(int(time.monotonic()))


@functools.lru_cache(maxsize=1)
def _child_bytes(_second):
    """Returns the bytes of the processes that this one started: to list them takes a while."""
    total = 0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # It has ended.
            total += child.memory_info().rss
    return total


def give_back():
    """Returns the memory of deleted objects to the operating system, so that it is seen as free."""
    gc.collect()
    _child_bytes.cache_clear()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # Of a C library that is not GNU's.
            ctypes.CDLL(None).malloc_trim(0)
