"""Constraints against rules written out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.decoding.search.constraints import MinLength, NoRepeat, Prefix, RepetitionPenalty

B, K, T, V = 2, 3, 7, 5
END = 3
seeds = st.integers(0, 10**6)


def case(seed):
    """Log-probabilities (B, K, V), ids (B, K, T) and how many of them are chosen."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(B, K, V)).astype("float32")
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    position = int(random.integers(0, T))
    ids = random.integers(0, V, (B, K, T)).astype("int32")
    return log_probabilities, ids, position


def allowed(constraint, log_probabilities, ids, position):
    """Which ids are allowed; their log-probabilities must be unchanged."""
    after = np.array(constraint(log_probabilities, ids, position))
    may = after > -1e8
    np.testing.assert_array_equal(after[may], log_probabilities[may])
    return may


@given(seeds, st.integers(1, 4))
def test_no_n_gram_comes_twice(seed, n):
    log_probabilities, ids, position = case(seed)
    may = allowed(NoRepeat(n), log_probabilities, ids, position)
    for row, beam in np.ndindex(B, K):
        chosen = ids[row, beam, :position].tolist()
        grams = {tuple(chosen[i : i + n]) for i in range(len(chosen) - n + 1)}
        for candidate in range(V):
            gram = tuple([*chosen, candidate][-n:])
            assert may[row, beam, candidate] == (gram not in grams)


@given(seeds)
def test_a_repetition_penalty_is_that_of_transformers(seed):
    """`RepetitionPenaltyLogitsProcessor`: gathers, changes and scatters the logits of ids."""
    logits, ids, position = case(seed)
    logits = logits + np.float32(1.6)  # Some are positive.
    after = np.array(RepetitionPenalty(1.5).penalised(logits, ids, position))
    for row, beam in np.ndindex(B, K):
        expected, chosen = logits[row, beam].copy(), ids[row, beam, :position]
        gathered = expected[chosen]
        expected[chosen] = np.where(gathered < 0, gathered * 1.5, gathered / 1.5)
        np.testing.assert_allclose(after[row, beam], expected, rtol=1e-6)
    np.testing.assert_array_equal(RepetitionPenalty(1.5)(logits, ids, position), logits)


@given(seeds, st.lists(st.integers(0, T), min_size=B, max_size=B))
def test_the_end_id_is_forbidden_before_the_minimum(seed, minimum):
    log_probabilities, ids, position = case(seed)
    constraint = MinLength(np.array(minimum, "int32"), END)
    may = allowed(constraint, log_probabilities, ids, position)
    for row in range(B):
        assert may[row, :, END].all() == (position >= minimum[row])
        assert np.delete(may[row], END, axis=-1).all()


@given(seeds)
def test_a_prefix_is_the_only_choice_until_it_ends(seed):
    log_probabilities, ids, position = case(seed)
    prefix = np.array([[4, 1, 2], [2, 0, 0]], "int32")
    may = allowed(Prefix(prefix), log_probabilities, ids, position)
    for row in range(B):
        wanted = prefix[row, position] if position < 3 else 0
        expected = np.arange(V) == wanted if wanted else np.ones(V, bool)
        np.testing.assert_array_equal(may[row], np.tile(expected, (K, 1)))


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError, match="Received: n=0"):
        NoRepeat(0)
    with pytest.raises(ValueError, match=r"Received: penalty=0\.9"):
        RepetitionPenalty(0.9)
