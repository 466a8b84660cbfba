"""Rows that have ended leave the batch: less work, and the same answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import Beam, Greedy, Sample
from kformer.decoding.search import MinLength, NoRepeat, Prefix
from kformer.decoding.search.compaction import leave_at_half, leave_in_halves
from support.scripted import END, V, random_looks, random_votes, rows, scripted, search

S = 5
LENGTH = 7
batches = st.lists(st.integers(0, LENGTH), min_size=1, max_size=12)  # Limits of the rows.
ways = pytest.mark.parametrize("leave", [leave_at_half, leave_in_halves])


def constraints_of(limits):
    random = np.random.default_rng(len(limits))
    prefix = random.integers(0, V, (len(limits), 3)).astype("int32")
    prefix[prefix == END] = 1
    return [Prefix(prefix, then=[NoRepeat(4), MinLength(np.array(limits, "int32") // 3, END)])]


def random_keys(limits):
    size = (len(limits), LENGTH)
    return np.random.default_rng(1).integers(2**32, size=size, dtype="uint32")


SEARCHES = {
    "greedy": lambda limits: Greedy(),
    "beam": lambda limits: Beam(3, n_best=2),
    "coverage": lambda limits: Beam(2, coverage_penalty=0.3),
    "greedy, constrained": lambda limits: Greedy(constraints=constraints_of(limits)),
    "beam, constrained": lambda limits: Beam(3, constraints=constraints_of(limits)),
    "sample": lambda limits: Sample(random_keys(limits), temperature=1.5),
}


@ways
@pytest.mark.parametrize("name", SEARCHES)
@given(limits=batches)
@settings(max_examples=10)
def test_the_answers_are_those_of_a_batch_that_nobody_leaves(name, leave, limits):
    votes = random_votes(len(limits), seed=sum(limits), length=LENGTH)
    looks = None
    if name == "coverage":
        looks = random_looks(len(limits), S, seed=sum(limits), length=LENGTH)
    found = [
        rows(search(SEARCHES[name](limits), votes, limits, looks, way)) for way in (leave, None)
    ]
    for left, stayed in zip(*found, strict=True):
        np.testing.assert_allclose(left, stayed, rtol=1e-5, atol=1e-5)


def sizes_of_steps(searcher, votes, limits, leave):
    """How many rows each step had."""
    step, cache = scripted(votes, searcher.beam_size, leave=leave)
    sizes = []

    def counted(ids, *others):
        sizes.append(len(ids))
        return step(ids, *others)

    counted.leave, counted.keep_rows = leave, step.keep_rows
    searcher(counted, cache, np.array(limits, "int32"), LENGTH)
    return sizes


@ways
@given(limits=batches)
@settings(max_examples=10)
def test_more_than_half_of_every_steps_rows_have_not_ended(leave, limits):
    votes = random_votes(len(limits), length=LENGTH)
    votes[..., END] = -99  # All go on to their limits.
    for searcher in (Greedy(), Beam(2)):
        sizes = sizes_of_steps(searcher, votes, limits, leave)
        assert len(sizes) == max(limits)
        fewest = 0 if leave is leave_at_half else 4  # Halves of so few rows are not worth a loop.
        for position, size in enumerate(sizes):
            running = sum(limit > position for limit in limits)
            assert running <= size
            assert size < 2 * running or size <= fewest


def test_a_batch_of_no_rows_takes_no_step():
    assert sizes_of_steps(Greedy(), random_votes(0, length=LENGTH), [], leave_at_half) == []
