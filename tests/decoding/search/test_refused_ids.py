"""Ids that a search must not choose, though they keep their share of the probability."""

import numpy as np
import pytest
from keras import ops

from kformer import Beam, Greedy, Sample
from kformer.decoding.runtime import GRAPH, LITERT
from kformer.decoding.search.constraints import NoRepeat
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search.search_loop import StepOutput
from support.scripted import FunctionStep

B, LENGTH, V, REFUSED, END = 5, 7, 23, (1, 17), 3
IDS = {"start_id": 2, "end_id": END}


def refusing(logits, runtime=GRAPH, candidates=None):
    """A step that reads its logits (B, T, V) from a table; the refused ids are the likeliest."""
    shown = logits if candidates is None else np.take_along_axis(logits, candidates[:, None], -1)
    shown = ops.convert_to_tensor(shown)

    def step(ids, position, visible, cache):
        now = ops.take(shown, position, axis=1)[:, None]
        now = ops.broadcast_to(now, (*ops.shape(ids), ops.shape(now)[-1]))
        return StepOutput(now, cache, None, candidates)

    made = FunctionStep(step)
    made.top_k, made.log_sum_exp = runtime.top_k, runtime.log_sum_exp
    made.refusal = np.zeros(V, np.float32)
    made.refusal[[*REFUSED]] = NEG_INF
    return made


@pytest.fixture(scope="module")
def logits():
    logits = np.random.default_rng(1).normal(size=(B, LENGTH, V)).astype("float32")
    logits[..., REFUSED] += 4
    logits[..., END] -= 9
    return logits


def searched(search, step):
    lengths = np.full(B, LENGTH, "int32")
    output = search(step, ops.zeros((B, 1)), lengths, LENGTH)
    return np.array(output.ids), np.array(output.scores)


def log_probabilities(logits):
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("runtime", [GRAPH, LITERT], ids=["graph", "litert"])
@pytest.mark.parametrize("constraints", [(), (NoRepeat(LENGTH),)], ids=["free", "constrained"])
def test_the_best_other_id_is_chosen_with_its_own_probability(logits, runtime, constraints):
    step = refusing(logits, runtime)
    ids, scores = searched(Greedy(constraints=constraints, **IDS), step)
    expected = log_probabilities(logits)
    expected[..., REFUSED] = -np.inf
    np.testing.assert_array_equal(ids[:, 0], expected.argmax(axis=-1))
    np.testing.assert_allclose(scores[:, 0], expected.max(axis=-1).sum(axis=-1), rtol=1e-5)
    beams = Beam(3, length_penalty=0, constraints=constraints, **IDS)
    ids, scores = searched(beams, step)
    np.testing.assert_array_equal(ids[:, 0], expected.argmax(axis=-1))
    np.testing.assert_allclose(scores[:, 0], expected.max(axis=-1).sum(axis=-1), rtol=1e-5)


def test_candidates_that_are_refused_are_not_chosen(logits):
    candidates = np.array([[*range(0, V, 2), *REFUSED]] * B, "int32")
    ids, _ = searched(Greedy(**IDS), refusing(logits, candidates=candidates))
    assert not np.isin(ids, REFUSED).any()
    assert np.isin(ids, candidates).all()


@pytest.mark.parametrize("options", [{}, {"top_k": 4}, {"top_p": 0.9}], ids=str)
def test_they_are_never_drawn(logits, options):
    keys = np.random.default_rng(2).integers(2**32, size=(B, LENGTH), dtype="uint32")
    ids, scores = searched(Sample(keys, **options, **IDS), refusing(logits))
    assert not np.isin(ids, REFUSED).any()
    expected = np.take_along_axis(log_probabilities(logits), ids[:, 0, :, None], -1)[..., 0]
    np.testing.assert_allclose(scores[:, 0], expected.sum(axis=-1), rtol=1e-5)
