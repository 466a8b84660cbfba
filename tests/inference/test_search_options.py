"""Search options: what they mean, and which values are refused."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer import SearchOptions
from kformer.inference.search_options import EXTRA_LENGTH

lengths = st.integers(2, 99)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"beam_size": 0}, "at least 1"),
        ({"beam_size": 5000}, "at most 256"),
        ({"n_best": 0}, "at least 1"),
        ({"n_best": 10**6}, "at most 1000"),
        ({"no_repeat_ngram": 10**5}, "at most 100"),
        ({"max_length": 0}, "at least 1"),
        ({"repetition_penalty": 0.9}, "at least 1"),
        ({"max_length": 10**6}, "at most 100000"),
        ({"length_penalty": -0.5}, "at least 0"),
        ({"length_penalty": float("nan")}, "finite"),
        ({"length_penalty": float("inf")}, "finite"),
        ({"temperature": 1e39}, "finite, in float32"),
        ({"coverage_penalty": -1}, "at least 0"),
        ({"min_length": -1}, "at least 0"),
        ({"min_length_ratio": -0.1}, "at least 0"),
        ({"max_length_ratio": 0}, "greater than 0"),
        ({"no_repeat_ngram": -1}, "at least 0"),
        ({"temperature": 0}, "greater than 0"),
        ({"temperature": 1e-39}, "greater than 0"),
        ({"top_k": -1}, "at least 0"),
        ({"top_p": 0}, "greater than 0"),
        ({"top_p": 1.5}, "at most 1"),
        ({"seed": -1}, "at least 0"),
    ],
)
def test_numbers_out_of_range_are_refused(wrong, rule):
    ((name, value),) = wrong.items()
    with pytest.raises(
        ValueError, match=f"`{name}` must be {rule}.*{name}={re.escape(str(value))}"
    ):
        SearchOptions(**wrong)


INTEGERS = (
    "beam_size",
    "n_best",
    "top_k",
    "seed",
    "min_length",
    "max_length",
    "no_repeat_ngram",
)


@pytest.mark.parametrize("field", dataclasses.fields(SearchOptions), ids=lambda field: field.name)
def test_values_of_another_type_are_refused(field):
    wrong = ["4", [4], {}, SearchOptions(), float("nan") if field.name in INTEGERS else "nan"]
    wrong += [2.0, 3.7, np.float32(2), True] if field.name in INTEGERS else []
    wrong += [1, 0, "yes"] if field.name in ("sample", "narrowing") else []
    wrong += [None] if field.default is not None else []
    for value in wrong:
        with pytest.raises(TypeError) as raised:
            SearchOptions(**{field.name: value})
        assert str(raised.value).startswith(f"`{field.name}` must be ")
        assert f"Received: {field.name}={value!r:.99}." in str(raised.value)


def test_numbers_of_numpy_equal_those_of_python():
    options = SearchOptions(
        np.int64(3), np.float32(0.5), n_best=np.uint8(2), max_length=np.int32(9)
    )
    assert options == SearchOptions(3, 0.5, n_best=2, max_length=9)
    assert str(options) == str(SearchOptions(3, 0.5, n_best=2, max_length=9))


@pytest.mark.parametrize(
    ("wrong", "received"),
    [
        ({"beam_size": 3, "n_best": 4}, "beam_size=3, n_best=4"),
        ({"sample": True, "beam_size": 2}, "sample=True, beam_size=2"),
        ({"beam_size": 2, "n_best": 3}, "beam_size=2, n_best=3"),
        ({"coverage_penalty": 0.2}, "coverage_penalty=0.2, beam_size=1"),
        ({"temperature": 0.5}, "temperature=0.5, sample=False"),
        ({"seed": 1}, "seed=1, sample=False"),
        ({"min_length": 7, "max_length": 7}, "min_length=7, max_length=7"),
        (
            {"min_length_ratio": 2.0, "max_length_ratio": 1.5},
            "min_length_ratio=2.0, max_length_ratio=1.5",
        ),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(wrong, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        SearchOptions(**wrong)


@given(lengths, lengths, st.floats(0.1, 9))
def test_the_smallest_of_the_largest_lengths_counts(source_length, max_length, ratio):
    assert SearchOptions().limit(source_length) == source_length + EXTRA_LENGTH
    assert SearchOptions(max_length=max_length).limit(source_length) == max_length
    by_ratio = SearchOptions(max_length_ratio=ratio).limit(source_length)
    assert by_ratio == max(1, int(ratio * source_length))
    assert SearchOptions(max_length_ratio=1e38).limit(source_length) == 100_000
    both = SearchOptions(max_length=max_length, max_length_ratio=ratio)
    assert both.limit(source_length) == min(max_length, by_ratio)


@given(lengths, st.integers(0, 99), st.integers(1, 99))
def test_a_prefix_always_fits(source_length, prefix_length, max_length):
    options = SearchOptions(max_length=max_length)
    assert options.limit(source_length, prefix_length) == max(max_length, prefix_length + 1)


@given(lengths, st.integers(0, 99), st.floats(0, 9), st.integers(1, 99))
def test_the_largest_of_the_minimums_counts_and_leaves_room_for_the_end(
    source_length, min_length, ratio, limit
):
    options = SearchOptions(min_length=min_length, min_length_ratio=ratio)
    minimum = options.minimum(source_length, limit)
    assert minimum < limit
    assert minimum == limit - 1 or minimum >= max(min_length, ratio * (source_length - 1))
    assert options.has_minimum == (min_length > 0 or ratio > 0)


def test_options_that_vary_between_calls_do_not_change_the_graph():
    one = SearchOptions(sample=True, seed=7, min_length=1, max_length=9, max_length_ratio=2.0)
    assert one.graph() == SearchOptions(sample=True)
    assert SearchOptions(beam_size=2).graph() != SearchOptions(beam_size=3).graph()
