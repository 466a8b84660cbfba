"""Jobs run in parallel: all of them, in order, on the given number of threads."""

import threading
import time

import pytest

from kformer.threads import in_parallel

workers = pytest.mark.parametrize("workers", [1, 2, 5])


@workers
def test_results_come_in_the_order_of_the_jobs(workers):
    def slower_first(number):
        time.sleep(0.01 * (7 - number))
        return number**2

    assert list(in_parallel(slower_first, list(range(7)), workers)) == [n**2 for n in range(7)]
    assert list(in_parallel(slower_first, [], workers)) == []


@workers
def test_as_many_jobs_run_at_a_time_as_there_are_workers(workers):
    running, largest, lock = 0, 0, threading.Lock()

    def count(_):
        nonlocal running, largest
        with lock:
            running += 1
            largest = max(largest, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    assert len(list(in_parallel(count, [None] * 11, workers))) == 11
    assert largest == workers


@workers
def test_an_error_cancels_jobs_that_have_not_begun(workers):
    begun = []

    def fail(number):
        begun.append(number)
        time.sleep(0.01)
        raise ValueError(f"batch {number}")

    with pytest.raises(ValueError, match="batch 0"):
        list(in_parallel(fail, list(range(1000)), workers))
    assert len(begun) < 1000
