"""A random order that is computed: a permutation of any size, another for every key."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kformer.training.shards.passes import key, permuted


def permutation(size, *numbers):
    sizes = np.full(size, size, np.int64)
    return permuted(np.arange(size), sizes, np.full(size, key(*numbers)))


@given(st.integers(1, 3000), st.integers(0, 2**64 - 1))
def test_every_place_is_taken_once(size, number):
    assert sorted(permutation(size, number).tolist()) == [*range(size)]


def test_places_of_several_permutations_are_computed_together():
    sizes = np.array([7, 3, 1, 1000, 7])
    keys = np.array([key(number) for number in (1, 2, 3, 4, 5)])
    together = permuted(np.array([6, 2, 0, 999, 6]), sizes, keys)
    alone = [permutation(size, i + 1)[size - 1] for i, size in enumerate(sizes)]
    assert together.tolist() == alone


def test_every_number_of_a_key_matters():
    orders = {tuple(permutation(50, *numbers)) for numbers in [(1, 2), (2, 1), (1, 3), (1,)]}
    assert len(orders) == 4


def test_it_looks_random():
    """Each place moves as far as at random, and neighbours part."""
    size = 4096
    order = permutation(size, 5)
    assert abs(np.abs(order - np.arange(size)).mean() / size - 1 / 3) < 0.02
    assert abs(np.abs(np.diff(order)).mean() / size - 1 / 3) < 0.02
    counts = np.array([permutation(6, number)[0] for number in range(1200)])
    assert np.bincount(counts, minlength=6).min() > 150
