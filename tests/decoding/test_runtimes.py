"""However a runtime keeps the past and its rows, the translations are the same."""

import numpy as np
import pytest

from kformer import Beam, Greedy, Transformer
from kformer.decoding.batches import search_ids
from kformer.decoding.runtime import GRAPH, LITERT
from kformer.decoding.search.compaction import leave_in_halves
from support.reference import perturbed

V, B, S, MOST = 23, 9, 8, 30
LIMITS = [30, 1, 29, 2, 17, 5, 0, 11, 4]

KEPT = {
    "a step after the other": {"block": None},
    "in blocks": {"block": 4},
    "room that grows": {"block": None, "rooms": (5,)},
    "room that grows twice": {"block": None, "rooms": (1, 16)},
    "room for whole blocks": {"block": 4, "rooms": (8,)},
    "room that ends within a block": {"block": 4, "rooms": (5, 18)},
    "more room than there may be positions": {"block": None, "rooms": (64,)},
}


@pytest.fixture(scope="module")
def transformer():
    return perturbed(Transformer(V, num_layers=2, d_model=12, num_heads=3, d_ff=16))


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
def expected(transformer, search, source):
    found = search_ids(transformer, source, search, GRAPH._replace(leave=None), limits=LIMITS)
    return [np.array(part) for part in found]


@pytest.mark.parametrize("leave", [None, leave_in_halves], ids=["stay", "leave in halves"])
@pytest.mark.parametrize("kept", KEPT)
def test_the_translations_are_the_same(transformer, search, source, expected, kept, leave):
    runtime = LITERT._replace(**KEPT[kept], leave=leave)
    found = search_ids(transformer, source, search, runtime, MOST, limits=LIMITS)
    ids, scores, ended = (np.array(part) for part in found)
    np.testing.assert_array_equal(ids, expected[0])
    np.testing.assert_allclose(scores, expected[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(ended, expected[2])


@pytest.mark.parametrize("kept", KEPT)
def test_a_row_alone_ends_as_it_does_among_others(transformer, search, source, expected, kept):
    runtime = LITERT._replace(**KEPT[kept])
    for row in (0, 1, 6):  # Of 30, 1 and no ids at most.
        one, limit = source[row : row + 1], LIMITS[row : row + 1]
        found = search_ids(transformer, one, search, runtime, MOST, limits=limit)
        np.testing.assert_array_equal(found.ids[0], expected[0][row])
        np.testing.assert_allclose(found.scores[0], expected[1][row], rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(found.ended[0], expected[2][row])


def test_the_limits_try_all_of_the_room(expected):
    lengths = (expected[0][:, 0] != 0).sum(axis=-1)
    assert lengths.max() > 18
    assert len(set(lengths)) > 4
