"""Degenerate output is flagged in graph as in Python."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer.export.saved_model import text_in_graph as degenerate_in_graph
from kformer.inference import degenerate

guard = tf.function(
    degenerate_in_graph.degenerate_flags,
    input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)] * 2,
)
count = tf.function(
    degenerate_in_graph.repetitions,
    input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)],
)


def filled(rows):
    """Rows and their lengths; what follows a row is like what is in it, to be misleading."""
    length = max((len(row) for row in rows), default=0)
    array = np.full((len(rows), length), 4, np.int32)
    for i, row in enumerate(rows):
        array[i, : len(row)] = row
    return array, np.array([len(row) for row in rows], np.int32)


words = st.integers(4, 6)
loops = st.builds(
    lambda before, gram, times, after: (before + gram * times + after)[:90],
    st.lists(words, max_size=9),
    st.lists(words, min_size=1, max_size=7),
    st.integers(0, 20),
    st.lists(words, max_size=9),
)
pairs = st.lists(st.tuples(loops, loops), min_size=1, max_size=5)


@given(pairs)
def test_flags_are_those_of_python(rows):
    sources, targets = zip(*rows, strict=True)
    found = guard(*filled(sources), *filled(targets))
    for i, (source, target) in enumerate(rows):
        flags = tuple(name for name, raised in found.items() if raised[i])
        assert flags == degenerate.degenerate_flags(source, target)


@given(st.lists(loops, max_size=5))
def test_repetitions_are_those_of_python(rows):
    assert count(*filled(rows)).numpy().tolist() == [degenerate.repetitions(row) for row in rows]


@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_rows_and_none_at_all_do_no_harm(length):
    assert count(np.ones((3, length), np.int32), np.full(3, length, np.int32)).numpy().tolist() == [
        1,
        1,
        1,
    ]
    assert count(np.ones((0, length), np.int32), np.zeros(0, np.int32)).shape == (0,)


def test_it_counts_known_repetitions():
    """The tests above must not pass because there was nothing to find."""
    rows = [[5] * 9, [4, 5, 6, 7] * 3, [4, 5, 6, 7] * 2, [*range(30)]]
    assert count(*filled(rows)).numpy().tolist() == [9, 3, 1, 1]
