"""The numbers of a search: what they mean, and which are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer import SearchOptions
from kformer.search_options import EXTRA_LENGTH

lengths = st.integers(2, 99)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"beam_size": 0}, "at least 1"),
        ({"n_best": 0}, "at least 1"),
        ({"max_length": 0}, "at least 1"),
        ({"repetition_penalty": 0.9}, "at least 1"),
        ({"length_penalty": -0.5}, "0 or more"),
        ({"length_penalty": float("nan")}, "0 or more"),
        ({"length_penalty": float("inf")}, "0 or more"),
        ({"coverage_penalty": -1}, "0 or more"),
        ({"min_length": -1}, "0 or more"),
        ({"min_length_ratio": -0.1}, "0 or more"),
        ({"max_length_ratio": 0}, "positive"),
        ({"no_repeat_ngram": -1}, "0 or more"),
        ({"temperature": 0}, "positive"),
        ({"top_k": -1}, "0 or more"),
        ({"top_p": 0}, r"in \(0, 1\]"),
        ({"top_p": 1.5}, r"in \(0, 1\]"),
        ({"seed": -1}, "0 or more"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(wrong, rule):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"`{name}` must be {rule}. Received: {name}={value}"):
        SearchOptions(**wrong)


@pytest.mark.parametrize(
    ("wrong", "received"),
    [
        ({"beam_size": 3, "n_best": 4}, "beam_size=3, n_best=4"),
        ({"sample": True, "beam_size": 2}, "sample=True, beam_size=2"),
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
def test_numbers_that_do_not_go_together_are_refused(wrong, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        SearchOptions(**wrong)


@given(lengths, lengths, st.floats(0.1, 9))
def test_the_smallest_of_the_limits_counts(source_length, max_length, ratio):
    assert SearchOptions().limit(source_length) == source_length + EXTRA_LENGTH
    assert SearchOptions(max_length=max_length).limit(source_length) == max_length
    by_ratio = SearchOptions(max_length_ratio=ratio).limit(source_length)
    assert by_ratio == max(1, int(ratio * source_length))
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


def test_what_varies_from_call_to_call_does_not_change_the_graph():
    one = SearchOptions(sample=True, seed=7, min_length=1, max_length=9, max_length_ratio=2.0)
    assert one.graph() == SearchOptions(sample=True)
    assert SearchOptions(beam_size=2).graph() != SearchOptions(beam_size=3).graph()
