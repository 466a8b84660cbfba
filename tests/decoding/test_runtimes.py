"""However a runtime keeps the past of a decoder, the translations are the same."""

import keras
import numpy as np
import pytest

from kformer import Beam, Greedy, Transformer
from kformer.decoding.runtime import GRAPH, LITERT
from kformer.decoding.search.compaction import compact_in_halves
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search_ids import search_ids
from support.reference import perturbed

V, B, S, T = 23, 9, 8, 30
MAX_LENGTHS = [30, 1, 29, 2, 17, 5, 0, 11, 4]

CACHES = {
    "one buffer": {"block": None},
    "blocks": {"block": 4},
    "a cache that grows": {"block": None, "capacities": (5,)},
    "a cache that grows twice": {"block": None, "capacities": (1, 16)},
    "a capacity of whole blocks": {"block": 4, "capacities": (8,)},
    "capacities that end within a block": {"block": 4, "capacities": (5, 18)},
    "a capacity over the largest length": {"block": None, "capacities": (64,)},
}


CELLS = {"attention": ["attention"], "ssru": ["ssru"], "both": ["ssru", "attention"]}


@pytest.fixture(scope="module", params=CELLS.values(), ids=CELLS)
def models(request):
    """One, or two that translate together."""
    keras.utils.set_random_seed(1)
    return [
        perturbed(Transformer(V, 2, 12, 3, 16, num_decoder_layers=layers, decoder_cell=cell))
        for layers, cell in enumerate(request.param, 2)
    ]


def search_with(models, source, search, runtime, **lengths):
    return search_ids(models[0], source, search, runtime, more_models=models[1:], **lengths)


@pytest.fixture(scope="module", params=[Greedy(), Beam(3, n_best=2)], ids=["greedy", "beam"])
def search(request):
    return request.param


@pytest.fixture(scope="module")
def source():
    random = np.random.default_rng(0)
    rows = random.integers(4, V, (B, S)).astype("int32")
    for row, length in zip(rows, random.integers(1, S, B), strict=True):
        row[length:] = 0
        row[length - 1] = 3
    return rows


@pytest.fixture(scope="module")
def expected(models, search, source):
    runtime = GRAPH._replace(compact_batch=None)
    output = search_with(models, source, search, runtime, max_lengths=MAX_LENGTHS)
    return [np.array(part) for part in output]


@pytest.mark.pairs
@pytest.mark.prove
@pytest.mark.parametrize("compact_batch", [None, compact_in_halves], ids=["whole batch", "halves"])
@pytest.mark.parametrize("cache", CACHES)
def test_the_translations_are_the_same(models, search, source, expected, cache, compact_batch):
    runtime = LITERT._replace(**CACHES[cache], compact_batch=compact_batch)
    output = search_with(models, source, search, runtime, max_length=T, max_lengths=MAX_LENGTHS)
    ids, scores, ended = (np.array(part) for part in output)
    np.testing.assert_array_equal(ids, expected[0])
    np.testing.assert_allclose(scores, expected[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(ended, expected[2])


@pytest.mark.pairs
@pytest.mark.sample(12)
@pytest.mark.parametrize("cache", CACHES)
def test_a_row_alone_ends_as_it_does_among_others(models, search, source, expected, cache):
    runtime = LITERT._replace(**CACHES[cache])
    for row in (0, 1, 6):  # Largest lengths of 30, 1 and 0 ids.
        one, max_length = source[row : row + 1], MAX_LENGTHS[row : row + 1]
        output = search_with(models, one, search, runtime, max_length=T, max_lengths=max_length)
        np.testing.assert_array_equal(output.ids[0], expected[0][row])
        np.testing.assert_allclose(output.scores[0], expected[1][row], rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(output.ended[0], expected[2][row])


@pytest.mark.sample(6)
def test_the_translations_use_all_of_the_cache(expected):
    lengths = (expected[0][:, 0] != 0).sum(axis=-1)
    assert lengths.max() > 18
    assert len(set(lengths)) > 4


@pytest.mark.sample(3)
def test_the_scores_are_those_of_the_models_without_a_cache(models, search, source, expected):
    """So each beam reads its own history."""
    ids, scores, ended = expected  # (B, N, T), (B, N) twice
    rows, beams, _ = ids.shape
    target = np.concatenate([np.full((rows, beams, 1), 2), ids[:, :, :-1]], axis=2)
    inputs = source.repeat(beams, axis=0), target.reshape(rows * beams, -1)
    probabilities = np.mean([keras.ops.softmax(model(inputs)) for model in models], axis=0)
    gains = np.log(np.take_along_axis(probabilities, ids.reshape(rows * beams, -1, 1), axis=2))
    gains = gains.reshape(ids.shape)
    for row, beam in zip(*np.nonzero(scores > NEG_INF / 2), strict=True):
        is_end = ids[row, beam] == 3
        length = is_end.argmax() + 1 if ended[row, beam] else MAX_LENGTHS[row]
        penalty = ((5 + length) / 6) ** getattr(search, "length_penalty", 0)
        total = gains[row, beam, :length].sum() / penalty
        assert scores[row, beam] == pytest.approx(total, rel=1e-4, abs=1e-3)
