"""Pairs that are dropped from training, and why."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer.training import DroppedPairs, count_dropped_pairs, translation_dataset
from kformer.training.data.dropped_pairs import REASONS, PairFilter

lengths = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), max_size=40)


def reason(source, target, max_length, ratio):
    shorter, longer = sorted([source - 1, target - 1])  # Without the end ids.
    if shorter == 0:
        return "blank"
    if longer + 1 > max_length:
        return "too_long"
    if ratio is not None and longer - shorter > 8 and longer / shorter > ratio:
        return "unlike_lengths"
    return "kept"


@given(lengths, st.integers(2, 50), st.sampled_from([None, 1, 1.5, 2.0, 9.0]))
def test_a_pair_is_dropped_for_the_first_reason_that_applies(lengths, max_length, ratio):
    """In graph and with NumPy."""
    columns = [np.array([pair[side] for pair in lengths], np.int32) for side in range(2)]
    expected = [reason(*pair, max_length, ratio) for pair in lengths]
    find = PairFilter(max_length, ratio)
    for found in (find(*map(tf.constant, columns), library=tf).numpy(), find(*columns)):
        assert [REASONS[i] for i in found] == expected


@pytest.mark.prove
def test_the_counted_pairs_are_those_of_the_batches(write, tokenizer):
    pairs = [
        *[("ein bier", "a beer"), ("ja", "yes , that is so")] * 3,
        ("", "a beer"),
        ("ein", " "),
        ("ein " * 40, "a " * 40),
        *[("ein", "a beer and " * 4)] * 2,
    ]
    files = write(pairs)
    limits = {"max_length": 36, "max_length_ratio": 3.0}
    report = count_dropped_pairs(*files, tokenizer, **limits)
    assert report == DroppedPairs(kept=6, blank=2, too_long=1, unlike_lengths=2)
    dataset = translation_dataset(*files, tokenizer, **limits)
    assert sum(len(target) for _, target in dataset) == 6


@pytest.mark.parametrize("ratio", [0.5, 0, -1, float("nan")])
def test_the_ratio_is_at_least_one(ratio):
    with pytest.raises(ValueError, match=f"at least 1. Received: max_length_ratio={ratio}"):
        PairFilter(10, ratio)
