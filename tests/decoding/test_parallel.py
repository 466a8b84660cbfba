"""Batches side by side: all done, in order, and no more than cores."""

import threading
import time

import pytest

from kformer.decoding import parallel
from kformer.decoding.parallel import in_parallel


@pytest.fixture(params=[1, 2, 5])
def cores(request, monkeypatch):
    monkeypatch.setattr(parallel, "_most_at_once", lambda: request.param)
    return request.param


def test_results_come_in_the_order_of_the_batches(cores):
    def slower_first(number):
        time.sleep(0.01 * (7 - number))
        return number**2

    assert list(in_parallel(slower_first, list(range(7)))) == [n**2 for n in range(7)]
    assert list(in_parallel(slower_first, [])) == []


def test_as_many_run_at_a_time_as_there_are_cores(cores):
    running, most, lock = 0, 0, threading.Lock()

    def count(_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    assert len(list(in_parallel(count, [None] * 11))) == 11
    assert most == cores


def test_an_error_ends_what_has_not_begun(cores):
    begun = []

    def fail(number):
        begun.append(number)
        time.sleep(0.01)
        raise ValueError(f"batch {number}")

    with pytest.raises(ValueError, match="batch 0"):
        list(in_parallel(fail, list(range(1000))))
    assert len(begun) < 1000
