"""How the stand-in merges requests: as TensorFlow Serving's batching is documented to do."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

from support.serving.batching import batched


class Recorder:
    """What is run: doubles numbers, and remembers the batches."""

    def __init__(self, wait=0.0):
        self.batches, self._wait = [], wait

    def __call__(self, inputs):
        self.batches.append(inputs["x"].tolist())
        time.sleep(self._wait)
        if -1 in inputs["x"]:
            raise tf.errors.InternalError(None, None, "minus one")
        return {"y": 2 * inputs["x"], "z": inputs["x"][:, None] + np.zeros((1, 3))}


def ask(submit, requests):
    """Sends all requests at the same time; returns their answers in order."""
    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(lambda x: submit({"x": np.array(x, int)}), requests))


def test_requests_at_the_same_time_become_one_batch_and_get_their_own_rows():
    recorder = Recorder()
    submit = batched(recorder, 64, batch_timeout_micros=300_000)
    requests = [[1, 2], [3], [4, 5, 6]]
    for x, answer in zip(requests, ask(submit, requests), strict=True):
        assert answer["y"].tolist() == [2 * value for value in x]
        assert answer["z"].shape == (len(x), 3)
    assert [sorted(batch) for batch in recorder.batches] == [[1, 2, 3, 4, 5, 6]]


def test_a_batch_is_padded_to_an_allowed_size_by_repeating():
    recorder = Recorder()
    submit = batched(recorder, 8, allowed_batch_sizes=[2, 4, 8])
    assert submit({"x": np.array([7, 8, 9])})["y"].tolist() == [14, 16, 18]
    assert recorder.batches == [[7, 8, 9, 9]]


def test_a_request_without_rows_waits_for_another():
    recorder = Recorder()
    submit = batched(recorder, 8, batch_timeout_micros=1000)
    with ThreadPoolExecutor(1) as pool:
        empty = pool.submit(submit, {"x": np.array([], int)})
        time.sleep(0.3)
        assert not empty.done() and recorder.batches == []
        assert submit({"x": np.array([7])})["y"].tolist() == [14]
        assert empty.result()["y"].tolist() == []


def test_the_largest_allowed_size_must_be_the_largest_of_a_request():
    with pytest.raises(tf.errors.InvalidArgumentError, match="last entry was 4; expected 10"):
        batched(Recorder(), 10, allowed_batch_sizes=[4])


def test_a_full_batch_does_not_wait_and_none_is_over_the_limit():
    recorder = Recorder()
    submit = batched(recorder, 4, batch_timeout_micros=500_000)
    start = time.monotonic()
    assert submit({"x": np.arange(4)})["y"].tolist() == [0, 2, 4, 6]
    assert time.monotonic() - start < 0.4
    answers = ask(submit, [[i] * 3 for i in range(6)])
    assert [answer["y"].tolist() for answer in answers] == [[2 * i] * 3 for i in range(6)]
    assert max(map(len, recorder.batches)) <= 4
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"5 is larger than maximum .* size 4"):
        submit({"x": np.arange(5)})


def test_more_than_may_wait_are_refused():
    submit = batched(Recorder(wait=0.3), 1, max_enqueued_batches=2)
    outcomes = []

    def one():
        try:
            outcomes.append(submit({"x": np.array([1])})["y"].tolist())
        except tf.errors.UnavailableError as error:
            outcomes.append(error.message)

    threads = [threading.Thread(target=one) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [2] in outcomes
    assert any("queue to which this task was submitted is full" in str(one) for one in outcomes)


def test_an_error_reaches_all_of_its_batch_and_no_other():
    submit = batched(Recorder(), 64, batch_timeout_micros=100_000)
    errors = []

    def one(x):
        with pytest.raises(tf.errors.InternalError, match="minus one"):
            submit({"x": np.array(x)})
        errors.append(x)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, [[1], [-1]]))
    assert sorted(errors) == [[-1], [1]]
    assert submit({"x": np.array([3])})["y"].tolist() == [6]
