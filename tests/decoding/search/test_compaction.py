"""Compaction: rows that have ended leave the batch, and the results stay the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import Beam, Greedy, Sample
from kformer.decoding.search.compaction import compact_at_half, compact_in_halves
from kformer.decoding.search.constraints import MinLength, NoRepeat, Prefix
from support.scripted import (
    END,
    FunctionStep,
    V,
    random_looks,
    random_votes,
    rows,
    scripted,
    search,
)

S = 5
LENGTH = 7
batches = st.lists(st.integers(0, LENGTH), min_size=1, max_size=12)  # Largest lengths of rows.
pytestmark = pytest.mark.tensorflow("No rows leave a batch on other backends.")
ways = pytest.mark.parametrize("compact_batch", [compact_at_half, compact_in_halves])


def constraints_of(max_lengths):
    random = np.random.default_rng(len(max_lengths))
    prefix = random.integers(0, V, (len(max_lengths), 3)).astype("int32")
    prefix[prefix == END] = 1
    return [Prefix(prefix, then=[NoRepeat(4), MinLength(np.array(max_lengths, "int32") // 3, END)])]


def random_keys(max_lengths):
    size = (len(max_lengths), LENGTH)
    return np.random.default_rng(1).integers(2**32, size=size, dtype="uint32")


SEARCHES = {
    "greedy": lambda max_lengths: Greedy(),
    "beam": lambda max_lengths: Beam(3, n_best=2),
    "coverage": lambda max_lengths: Beam(2, coverage_penalty=0.3),
    "greedy, constrained": lambda max_lengths: Greedy(constraints=constraints_of(max_lengths)),
    "beam, constrained": lambda max_lengths: Beam(3, constraints=constraints_of(max_lengths)),
    "sample": lambda max_lengths: Sample(random_keys(max_lengths), temperature=1.5),
}


@pytest.mark.prove
@ways
@pytest.mark.parametrize("name", SEARCHES)
@given(max_lengths=batches)
@settings(max_examples=10)
def test_the_results_are_those_without_compaction(name, compact_batch, max_lengths):
    votes = random_votes(len(max_lengths), seed=sum(max_lengths), length=LENGTH)
    looks = None
    if name == "coverage":
        looks = random_looks(len(max_lengths), S, seed=sum(max_lengths), length=LENGTH)
    compacted, whole = (
        rows(search(SEARCHES[name](max_lengths), votes, max_lengths, looks, way))
        for way in (compact_batch, None)
    )
    for one, other in zip(compacted, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def batch_sizes(searcher, votes, max_lengths, compact_batch):
    """The number of rows of each step."""
    step, cache = scripted(votes, searcher.beam_size)
    sizes = []

    def counted(ids, *others):
        sizes.append(len(ids))
        return step(ids, *others)

    counting = FunctionStep(counted, compact_batch)
    searcher(counting, cache, np.array(max_lengths, "int32"), LENGTH)
    return sizes


@pytest.mark.prove
@ways
@given(max_lengths=batches)
@settings(max_examples=10)
def test_more_than_half_of_the_rows_of_every_step_are_running(compact_batch, max_lengths):
    votes = random_votes(len(max_lengths), length=LENGTH)
    votes[..., END] = -99  # All rows reach their largest lengths.
    for searcher in (Greedy(), Beam(2)):
        sizes = batch_sizes(searcher, votes, max_lengths, compact_batch)
        assert len(sizes) == max(max_lengths)
        min_rows = 0 if compact_batch is compact_at_half else 4  # Fewer are not halved.
        for position, size in enumerate(sizes):
            running = sum(length > position for length in max_lengths)
            assert running <= size
            assert size < 2 * running or size <= min_rows


def test_a_batch_of_no_rows_takes_no_step():
    assert batch_sizes(Greedy(), random_votes(0, length=LENGTH), [], compact_at_half) == []
