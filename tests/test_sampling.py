"""Sampling: draws what the probabilities say, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from kformer import Greedy, Sample
from kformer.search import Step

END, V = 3, 7
seeds = st.integers(0, 10**6)


def draw(logits, uniform, **settings):
    """The first id of each row, where every row has the same logits."""

    def step(ids, position, visible, cache):
        return Step(ops.tile(ops.cast(logits, "float32"), (len(uniform), 1, 1)), cache, None)

    uniform = np.array(uniform, "float32")[:, None]
    found = Sample(uniform, **settings)(step, (), np.ones(len(uniform), "int32"))
    return np.array(found.ids)[:, 0, 0], np.array(found.scores)[:, 0]


def grid(count):
    """Numbers in [0, 1), evenly spread: each stands for the same share of all chance."""
    return (np.arange(count) + 0.5) / count


def softmax(logits):
    return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()


@given(seeds, st.sampled_from([0.5, 1.0, 2.0]))
def test_every_id_comes_as_often_as_it_is_probable(seed, temperature):
    logits = np.random.default_rng(seed).normal(size=V) * 2
    ids, _ = draw(logits, grid(2000), temperature=temperature)
    shares = np.bincount(ids, minlength=V) / 2000
    np.testing.assert_allclose(shares, softmax(logits / temperature), atol=2e-3)


@given(seeds, st.integers(1, V))
def test_only_the_likeliest_k_come(seed, k):
    logits = np.random.default_rng(seed).normal(size=V)
    ids, _ = draw(logits, grid(500), top_k=k)
    likeliest = np.argsort(-logits)[:k]
    expected = np.zeros(V)
    expected[likeliest] = softmax(logits[likeliest])
    np.testing.assert_allclose(np.bincount(ids, minlength=V) / 500, expected, atol=6e-3)


@given(seeds, st.floats(0.01, 1))
def test_only_the_fewest_that_reach_p_come(seed, p):
    logits = np.random.default_rng(seed).normal(size=V)
    probabilities = softmax(logits)
    order = np.argsort(-probabilities)
    sums = np.cumsum(probabilities[order])
    if np.abs(sums - p).min() < 1e-5:
        return  # Rounding decides.
    nucleus = order[: np.searchsorted(sums, p) + 1]
    expected = np.zeros(V)
    expected[nucleus] = probabilities[nucleus] / probabilities[nucleus].sum()
    ids, _ = draw(logits, grid(500), top_p=p)
    np.testing.assert_allclose(np.bincount(ids, minlength=V) / 500, expected, atol=6e-3)


def test_the_score_is_the_log_probability_whatever_the_temperature():
    logits = np.random.normal(size=V)
    ids, scores = draw(logits, grid(50), temperature=3.0, top_p=0.9)
    np.testing.assert_allclose(scores, np.log(softmax(logits))[ids], atol=1e-5)


def test_a_temperature_near_zero_is_greedy():
    logits = np.random.normal(size=V)
    assert set(draw(logits, grid(50), temperature=1e-3)[0]) == {logits.argmax()}
    assert set(draw(logits, grid(50), top_k=1)[0]) == {logits.argmax()}


def test_the_last_number_before_one_still_draws_an_id():
    ids, _ = draw(np.zeros(V), [np.nextafter(np.float32(1), np.float32(0))])
    assert ids == [V - 1]


def test_a_row_draws_by_its_own_numbers_alone():
    logits, uniform = np.random.normal(size=V), np.random.uniform(size=9)
    together, _ = draw(logits, uniform)
    alone = [draw(logits, [number])[0][0] for number in uniform]
    assert together.tolist() == alone


def test_sampling_ends_a_row_as_greedy_search_does():
    logits = np.where(np.arange(V) == END, 9.0, -9.0)
    assert draw(logits, [0.5])[0] == [END]
    assert isinstance(Sample([[0.5]]), Greedy)


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 0}, {"temperature": -1.0}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.5}],
)
def test_numbers_that_make_no_sense_are_refused(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        Sample([[0.5]], **wrong)
