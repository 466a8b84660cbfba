"""The highest of many numbers, and their log-sum-exp, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer.decoding.search.top_k import (
    log_sum_exp_in_chunks,
    log_sum_exp_of_graph,
    top_k_in_chunks,
    top_k_of_graph,
)


@pytest.mark.parametrize("top_k", [top_k_in_chunks, top_k_of_graph])
@given(st.integers(0, 10**6), st.integers(1, 300), st.data())
def test_the_highest_are_those_of_a_full_sort(top_k, seed, size, data):
    count = data.draw(st.integers(1, min(size, 9)))
    values = np.random.default_rng(seed).normal(size=(2, 3, size)).astype("float32")
    highest, indices = (np.array(x) for x in top_k(values, count))
    expected = np.argsort(-values, axis=-1)[..., :count]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(highest, np.take_along_axis(values, expected, axis=-1))


@pytest.mark.parametrize("log_sum_exp", [log_sum_exp_in_chunks, log_sum_exp_of_graph])
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 500), st.sampled_from([1, 8]))
def test_the_log_sum_exp_is_that_of_numpy(log_sum_exp, seed, rows, size, count):
    values = np.random.default_rng(seed).normal(0, 30, (rows, 2, size)).astype("float32")
    highest, _ = top_k_in_chunks(values, min(count, size))
    result = log_sum_exp(values, highest)
    assert result.shape == (rows, 2, 1)
    exact = values.astype("float64")
    exact -= exact.max(axis=-1, keepdims=True)
    expected = np.log(np.exp(exact).sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [8000, 32000, 5000, 7919])  # The last has no divisor.
@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("rows", [1, 4])
def test_the_highest_of_a_vocabulary_are_found(size, count, rows):
    values = np.random.default_rng(0).normal(size=(rows, size)).astype("float32")
    highest, indices = top_k_in_chunks(values, count)
    expected = np.argsort(-values, axis=-1)[:, :count]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(highest, np.take_along_axis(values, expected, axis=-1))


@pytest.mark.sample(2)
@pytest.mark.tensorflow("A test of its graphs.")
@pytest.mark.parametrize("count", [1, 3])
def test_a_graph_of_any_number_of_rows_finds_them_too(count):
    graph = tf.function(
        lambda values: top_k_of_graph(values, count),
        input_signature=[tf.TensorSpec([None, None, 101])],
    )
    for rows in (0, 1, 5):
        values = np.random.default_rng(rows).normal(size=(rows, 2, 101)).astype("float32")
        _, indices = graph(values)
        np.testing.assert_array_equal(indices, np.argsort(-values, axis=-1)[..., :count])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_of_equal_numbers_any_may_be_found_but_none_twice(count):
    _, indices = top_k_in_chunks(np.zeros((1, 101), "float32"), count)
    assert len({*np.array(indices)[0].tolist()}) == count
    assert (np.array(indices) < 101).all()


def test_numbers_of_any_magnitude_are_sorted():
    values = np.array([[-1e9, -3e38, 7.0, -1e9, 3e38]], "float32")
    for count, expected in [(1, [4]), (2, [4, 2])]:
        assert np.array(top_k_in_chunks(values, count)[1])[0].tolist() == expected


@pytest.mark.parametrize("size", [7, 11, 23, 101])
def test_padding_is_never_found_where_all_ids_but_one_are_forbidden(size):
    values = np.full((2, size), -1e9, "float32")
    values[:, -1] = 3
    _, indices = top_k_in_chunks(values, 3)
    assert (np.array(indices)[:, 0] == size - 1).all()
    assert (np.array(indices) < size).all()
