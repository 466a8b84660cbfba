"""Sampling draws every id as often as it is probable."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from kformer import Greedy, Sample
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search.search_loop import StepOutput
from support.scripted import FunctionStep

END, V = 3, 7
seeds = st.integers(0, 10**6)


def draw(logits, keys, **settings):
    """The first id of each row, where the rows have logits (V,), or (rows, 1, V) of their own."""

    def step(ids, position, visible, cache):
        rows = np.broadcast_to(logits, (len(keys), 1, np.shape(logits)[-1]))
        return StepOutput(ops.convert_to_tensor(rows, "float32"), cache, None)

    keys = np.asarray(keys, "uint32")[:, None]
    found = Sample(keys, **settings)(FunctionStep(step), (), np.ones(len(keys), "int32"))
    return np.array(found.ids)[:, 0, 0], np.array(found.scores)[:, 0]


def random_keys(count, seed=0):
    return np.random.default_rng(seed).integers(2**32, size=count, dtype="uint32")


def assert_as_often_as_probable(ids, probabilities):
    """No id comes more often, or less, than five standard deviations allow."""
    counts = np.bincount(ids, minlength=len(probabilities))
    expected = len(ids) * probabilities
    allowed = 5 * np.sqrt(expected * (1 - probabilities)) + 1
    allowed[probabilities == 0] = 0
    assert (np.abs(counts - expected) <= allowed).all()


def softmax(logits):
    return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()


@given(seeds, st.sampled_from([0.5, 1.0, 2.0]))
def test_every_id_is_drawn_as_often_as_it_is_probable(seed, temperature):
    logits = np.random.default_rng(seed).normal(size=V) * 2
    ids, _ = draw(logits, random_keys(20_000, seed), temperature=temperature)
    assert_as_often_as_probable(ids, softmax(logits / temperature))


def test_improbable_ids_are_drawn_as_rarely_as_they_should():
    logits = np.concatenate([[12.0], np.random.normal(size=200)])  # 5e-6 each.
    ids, _ = draw(logits, random_keys(50_000))
    probabilities = softmax(logits)
    assert_as_often_as_probable(ids, probabilities)
    rare = (ids > 0).sum()
    expected = len(ids) * (1 - probabilities[0])
    assert abs(rare - expected) < 5 * np.sqrt(expected)


def test_two_ids_and_two_draws_are_independent():
    """With uniform probabilities, all pairs of draws by successive keys are equally likely."""
    keys = np.arange(40_000, dtype="uint32")  # The hardest case: they differ in few bits.
    ids, _ = draw(np.zeros(5), keys)
    assert_as_often_as_probable(ids, np.full(5, 1 / 5))
    assert_as_often_as_probable(ids[0::2] * 5 + ids[1::2], np.full(25, 1 / 25))


@given(seeds, st.integers(1, V))
def test_only_the_k_likeliest_ids_are_drawn(seed, k):
    logits = np.random.default_rng(seed).normal(size=V)
    ids, _ = draw(logits, random_keys(5000, seed), top_k=k)
    likeliest = np.argsort(-logits)[:k]
    expected = np.zeros(V)
    expected[likeliest] = softmax(logits[likeliest])
    assert_as_often_as_probable(ids, expected)


@given(seeds, st.floats(0.01, 1))
def test_only_the_fewest_ids_that_reach_p_are_drawn(seed, p):
    logits = np.random.default_rng(seed).normal(size=V)
    probabilities = softmax(logits)
    order = np.argsort(-probabilities)
    sums = np.cumsum(probabilities[order])
    if np.abs(sums - p).min() < 1e-5:
        return  # Rounding decides.
    nucleus = order[: np.searchsorted(sums, p) + 1]
    expected = np.zeros(V)
    expected[nucleus] = probabilities[nucleus] / probabilities[nucleus].sum()
    ids, _ = draw(logits, random_keys(5000, seed), top_p=p)
    assert_as_often_as_probable(ids, expected)


def test_the_score_is_the_log_probability_whatever_the_temperature():
    logits = np.random.normal(size=V)
    ids, scores = draw(logits, random_keys(50), temperature=3.0, top_p=0.9)
    np.testing.assert_allclose(scores, np.log(softmax(logits))[ids], atol=1e-5)


def test_a_temperature_near_zero_is_greedy():
    logits = np.random.normal(size=V)
    assert set(draw(logits, random_keys(50), temperature=1e-3)[0]) == {logits.argmax()}
    assert set(draw(logits, random_keys(50), top_k=1)[0]) == {logits.argmax()}


def test_no_key_draws_a_forbidden_id():
    extremes = [0, 1, 2**31, 2**32 - 1]
    ids, _ = draw(np.zeros(V), [*extremes, *random_keys(5000)], constraints=[allow_only(2, 5)])
    assert set(ids) == {2, 5}
    hot, _ = draw(np.zeros(V), random_keys(500), temperature=1e12, constraints=[allow_only(2, 5)])
    assert set(hot) == {2, 5}


def test_where_all_ids_are_forbidden_any_may_be_drawn():
    ids, _ = draw(np.zeros(V), random_keys(500), constraints=[allow_only()])
    assert set(ids) == set(range(V))


def allow_only(*allowed):
    """A constraint."""
    forbidden = ~np.isin(np.arange(V), allowed)
    return lambda values, ids, position, rows: ops.where(forbidden, NEG_INF, values)


def test_a_row_draws_by_its_own_key_alone():
    logits, keys = np.random.normal(size=V), random_keys(9)
    together, _ = draw(logits, keys)
    alone = [draw(logits, [key])[0][0] for key in keys]
    assert together.tolist() == alone


@pytest.mark.sample(8)
@pytest.mark.parametrize("settings", [{}, {"temperature": 2.0}, {"top_k": 50}, {"top_p": 0.9}])
@pytest.mark.parametrize("noise", [1e-6, 1e-3])
def test_noise_in_the_logits_changes_no_more_draws_than_it_must(settings, noise):
    """Draws from two distributions must differ at least as often as their total variation.

    With the same keys they differ at most twice as often. The logits are nearly equal, so that
    noise changes their order.
    """
    random, rows = np.random.default_rng(1), 2000
    logits = random.normal(size=(rows, 1, 1000)) * 1e-2
    noisy = logits + noise * random.normal(size=logits.shape)
    keys = random_keys(rows)
    one, other = (draw(values, keys, **settings)[0] for values in (logits, noisy))
    apart = np.abs(kept(logits, **settings) - kept(noisy, **settings)).sum(axis=-1) / 2
    must = apart.sum()
    assert (one != other).sum() <= 2 * must + 5 * np.sqrt(2 * must) + 1e-4 * rows


def kept(logits, temperature=1.0, top_k=0, top_p=1.0):
    """The probabilities of a draw, float64."""
    logits = logits.astype("float32").astype("float64") / temperature
    probabilities = np.exp(logits - logits.max(axis=-1, keepdims=True))
    if top_k:
        least = np.sort(probabilities, axis=-1)[..., -top_k, None]
        probabilities = np.where(probabilities >= least, probabilities, 0)
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    if top_p < 1:
        ordered = -np.sort(-probabilities, axis=-1)
        number = (np.cumsum(ordered, axis=-1) - ordered < top_p).sum(axis=-1, keepdims=True)
        least = np.take_along_axis(ordered, number - 1, axis=-1)
        probabilities = np.where(probabilities >= least, probabilities, 0)
    return probabilities / probabilities.sum(axis=-1, keepdims=True)


def test_sampling_ends_a_row_as_greedy_search_does():
    logits = np.where(np.arange(V) == END, 9.0, -9.0)
    assert draw(logits, [7])[0] == [END]
    assert isinstance(Sample(np.array([[7]], "uint32")), Greedy)


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 0}, {"temperature": -1.0}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.5}],
)
def test_numbers_out_of_range_are_refused(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        Sample(np.array([[7]], "uint32"), **wrong)


@pytest.mark.parametrize("keys", [[[7]], np.array([[0.5]]), np.array([[7]])], ids=repr)
def test_keys_of_another_type_are_refused(keys):
    with pytest.raises(TypeError, match=r"must be a tensor of uint32\. Received: keys="):
        Sample(keys)
