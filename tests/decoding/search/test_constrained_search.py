"""Whole searches with a coverage penalty or constraints, against searches by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import Beam, Greedy, Sample
from kformer.decoding.search.constraints import MinLength, NoRepeat, Prefix, RepetitionPenalty
from kformer.decoding.search.continuations import NEG_INF
from support.scripted import (
    END,
    START,
    T,
    V,
    beam_by_hand,
    greedy_by_hand,
    log_softmax,
    logits,
    padded,
    random_looks,
    random_votes,
    rows,
    search,
)

S = 5  # The last of them is padding.
seeds = st.integers(0, 10**6)


def forbid(log_probabilities, which):
    return np.where(which, -np.inf, log_probabilities)


def no_end_before(minimum):
    is_end = np.arange(V) == END
    return lambda logits, ids: forbid(log_softmax(logits), is_end & (len(ids) < minimum))


def only(prefix):
    def constrain(logits, ids):
        after, t = log_softmax(logits), len(ids)
        return forbid(after, np.arange(V) != prefix[t]) if t < len(prefix) else after

    return constrain


def no_bigram_twice(logits, ids):
    seen = {tuple(ids[i : i + 2]) for i in range(len(ids) - 1)}
    return forbid(log_softmax(logits), [tuple([*ids, i][-2:]) in seen for i in range(V)])


def penalise_repetition(logits, ids):
    """As `RepetitionPenaltyLogitsProcessor` of transformers, before the softmax."""
    seen = np.isin(np.arange(V), ids)
    lower = np.where(logits < 0, logits * 1.7, logits / 1.7)
    return log_softmax(np.where(seen, lower, logits))


def prefix_then_bigrams(logits, ids):
    return only([1, 1, 1])(logits, ids) if len(ids) < 3 else no_bigram_twice(logits, ids)


def prefix_then_penalty(logits, ids):
    return only([1, 1])(logits, ids) if len(ids) < 2 else penalise_repetition(logits, ids)


def row(values):
    return np.array([values], "int32")


CONSTRAINTS = {
    "minimum": (MinLength(np.array([3], "int32"), END), no_end_before(3)),
    "prefix": (Prefix(row([1, 1, 2])), only([1, 1, 2])),
    "prefix that breaks the constraint after it": (
        Prefix(row([1, 1, 1]), then=[NoRepeat(2)]),
        prefix_then_bigrams,
    ),
    "no bigram twice": (NoRepeat(2), no_bigram_twice),
    "repetition penalty": (RepetitionPenalty(1.7), penalise_repetition),
    "prefix without the penalty after it": (
        Prefix(row([1, 1]), then=[RepetitionPenalty(1.7)]),
        prefix_then_penalty,
    ),
}
each_constraint = pytest.mark.parametrize(
    ("constraint", "constrain"), CONSTRAINTS.values(), ids=CONSTRAINTS.keys()
)


def assert_found(found, expected, n_best):
    ids, scores, ended = (part[0] for part in rows(found))
    for n, (its_ended, its_score, its_ids) in enumerate(expected):
        assert ids[n].tolist() == padded(its_ids, T)
        assert scores[n] == pytest.approx(its_score, abs=1e-4)
        assert ended[n] == its_ended
    assert (scores[len(expected) : n_best] == NEG_INF).all()


@settings(max_examples=min(50, settings.default.max_examples))
@given(seeds, st.integers(1, T), st.sampled_from([0.2, 1.0, 3.0]), st.data())
def test_a_beam_prefers_what_covers_its_source(seed, max_length, coverage_penalty, data):
    beam_size = data.draw(st.integers(1, 5))
    n_best = data.draw(st.integers(1, beam_size))
    votes, looks = random_votes(1, seed), random_looks(1, S, seed)
    beam = Beam(beam_size, 0.6, n_best, coverage_penalty)
    expected = beam_by_hand(
        votes[0],
        max_length,
        beam_size,
        0.6,
        n_best,
        coverage_penalty=coverage_penalty,
        looks=looks[0],
    )
    assert_found(search(beam, votes, [max_length], looks), expected, n_best)


@pytest.mark.prove
@settings(max_examples=min(30, settings.default.max_examples))
@given(seeds, st.lists(st.integers(0, T), min_size=2, max_size=4))
def test_the_coverage_of_a_row_does_not_depend_on_other_rows(seed, max_lengths):
    votes, looks = random_votes(len(max_lengths), seed), random_looks(len(max_lengths), S, seed)
    beam = Beam(3, n_best=2, coverage_penalty=1.0)
    together = rows(search(beam, votes, max_lengths, looks))
    for i, max_length in enumerate(max_lengths):
        part = slice(i, i + 1)
        alone = rows(search(beam, votes[part], [max_length], looks[part]))
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one[i], other[0], atol=1e-5)


def test_coverage_decides_between_two_equally_likely_sequences():
    votes = np.zeros((1, T, V, V))
    votes[0, 0, :, [0, 1]] = 9  # After 0 or 1 the end comes;
    votes[0, 1:, :, END] = 30
    looks = np.zeros((1, T, V, S))
    looks[0, 0, :] = [0.97, 0.01, 0.01, 0.01, 0]
    looks[0, 1:, 0] = looks[0, 0, 0]  # but after reading 0, the attention stays where it was.
    looks[0, 1:, 1] = [0.01, 0.33, 0.33, 0.33, 0]
    ids, _, _ = rows(search(Beam(2, 0.6, 2, coverage_penalty=0.5), votes, [T], looks))
    assert ids[0, 0].tolist() == [1, END, 0, 0]


@pytest.mark.prove
@each_constraint
@settings(max_examples=min(25, settings.default.max_examples))
@given(seed=seeds, max_length=st.integers(1, T))
def test_greedy_search_obeys(constraint, constrain, seed, max_length):
    votes = random_votes(1, seed)
    ids, scores, _ = rows(search(Greedy(constraints=[constraint]), votes, [max_length]))
    expected_ids, expected_score = greedy_by_hand(votes[0], max_length, constrain)
    assert ids.tolist() == [[padded(expected_ids, T)]]
    assert scores[0, 0] == pytest.approx(expected_score, abs=1e-4)


@pytest.mark.prove
@each_constraint
@settings(max_examples=min(25, settings.default.max_examples))
@given(seed=seeds, max_length=st.integers(1, T), data=st.data())
def test_a_beam_obeys(constraint, constrain, seed, max_length, data):
    beam_size = data.draw(st.integers(1, 5))
    n_best = data.draw(st.integers(1, beam_size))
    votes = random_votes(1, seed)
    beam = Beam(beam_size, 0.6, n_best, constraints=[constraint])
    expected = beam_by_hand(votes[0], max_length, beam_size, 0.6, n_best, constrain=constrain)
    assert_found(search(beam, votes, [max_length]), expected, n_best)


@pytest.mark.prove
@pytest.mark.parametrize("searcher", [Greedy, Beam, Sample], ids=lambda one: one.__name__)
def test_a_penalty_ends_a_loop_whose_log_probability_is_nearly_0(searcher):
    """Id 1 has a logit of 96, the end id of 32: divided by 4, the first is less than the second."""
    votes = np.zeros((1, T, V, V))
    votes[0, 0, START, [1, END]] = 96, 32
    keys = [np.zeros((1, T), "uint32")] if searcher is Sample else []
    for penalty, expected in ((1, [1] * T), (4, [1, END, 0, 0])):
        constraints = [RepetitionPenalty(penalty)]
        ids, _, _ = rows(search(searcher(*keys, constraints=constraints), votes, [T]))
        assert ids[0, 0].tolist() == expected


@pytest.mark.prove
@each_constraint
@settings(max_examples=min(25, settings.default.max_examples))
@given(seed=seeds)
def test_sampling_obeys(constraint, constrain, seed):
    votes = random_votes(1, seed)
    keys = np.random.default_rng(seed).integers(2**32, size=(1, T), dtype="uint32")
    ids, scores, _ = rows(search(Sample(keys, constraints=[constraint]), votes, [T]))
    drawn = ids[0, 0].tolist()
    drawn = drawn[: drawn.index(END) + 1] if END in drawn else drawn
    total = 0.0
    for t, i in enumerate(drawn):
        so_far = drawn[:t]
        total += constrain(logits(votes[0], so_far), so_far)[i]
    assert scores[0, 0] == pytest.approx(total, abs=1e-4)


def test_a_row_with_fewer_sequences_than_n_best_marks_the_missing_ones():
    """All ids but the last are forced, so there are V sequences, one of them ended."""
    constraint = Prefix(row([1, 1, 2]))
    votes = random_votes(1)
    _, scores, ended = rows(search(Beam(6, n_best=6, constraints=[constraint]), votes, [T]))
    assert (scores[0] > NEG_INF / 2).sum() == V
    assert ended[0].sum() == 1
