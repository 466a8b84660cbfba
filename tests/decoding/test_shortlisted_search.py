"""Searches among candidates: as among all ids, of which the others are forbidden."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kformer import Beam, Greedy, Sample, Transformer
from kformer.decoding.decoder_step import DecoderStep
from kformer.decoding.runtime import GRAPH, LITERT
from kformer.decoding.search.compaction import compact_in_halves
from kformer.decoding.search.constraints import NoRepeat
from kformer.decoding.search_ids import search_ids
from support.reference import perturbed

B, S, V, N, T = 7, 5, 97, 23, 11
SIZES = {
    "num_layers": 1,
    "d_model": 14,
    "num_heads": 7,
    "d_ff": 11,
    "num_decoder_layers": 2,
    "tied_output": False,
}
ALIKE = LITERT._replace(compact_batch=compact_in_halves, block=2)
searches = pytest.mark.parametrize(
    "search",
    [pytest.param(Greedy(), marks=pytest.mark.prove), Beam(3, n_best=2)],
    ids=["greedy", "three beams"],
)


@functools.cache
def transformer(seed=3):
    keras.utils.set_random_seed(seed)
    made = perturbed(Transformer(V, output_bias=True, **SIZES))
    bias = made.target_embedding.bias
    bias.assign(np.where(np.arange(V) == 3, 1.5, bias))  # So that some rows end early.
    return made


@functools.cache
def inputs(size=N):
    """Sources (B, S), and candidates of each row (B, N) in any order, with the special ids."""
    random = np.random.default_rng(5)
    source = random.integers(4, V, (B, S)).astype("int32")
    source[:, -1] = 3
    others = [random.permutation(np.arange(4, V))[: size - 4] for _ in range(B)]
    rows = [random.permutation([0, 1, 2, 3, *row]) for row in others]
    return source, np.array(rows, "int32")


def found(search, runtime=GRAPH, rows=slice(None), **options):
    """What a search finds, in a graph, for some rows of the batch."""
    source, _ = inputs()
    lengths = np.arange(T - B + 1, T + 1, dtype="int32")[rows]

    model, longest = transformer(), int(lengths.max())

    @tf.function(autograph=False)
    def search_rows(source):
        return search_ids(model, source, search, runtime, longest, lengths, **options)

    return [part.numpy() for part in search_rows(tf.constant(source[rows]))]


class AmongCandidates(DecoderStep):
    """Scores all ids, and forbids all but the candidates."""

    def __call__(self, ids, position, visible, cache):
        output = super().__call__(ids, position, visible, cache)
        _, candidates = inputs()
        allowed = np.zeros((B, 1, V), bool)
        np.put_along_axis(allowed, candidates[:, None], True, axis=2)
        return output._replace(logits=ops.where(allowed, output.logits, -1e9))


@pytest.mark.prove
@searches
@pytest.mark.parametrize("runtime", [GRAPH, ALIKE], ids=["graph", "litert"])
def test_other_ids_are_as_if_forbidden(search, runtime):
    _, candidates = inputs()
    ids, scores, ended = found(search, runtime, candidates=candidates)
    whole = GRAPH._replace(compact_batch=None)
    expected_ids, expected_scores, expected_ended = found(search, whole, step_class=AmongCandidates)
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_allclose(scores, expected_scores, atol=1e-4)
    np.testing.assert_array_equal(ended, expected_ended)
    assert ended.any() and not ended.all()
    assert (ids != found(search)[0]).any()  # Some of the others would be better.


@pytest.mark.prove
@searches
def test_all_ids_as_candidates_change_nothing(search):
    _, candidates = inputs(V)
    assert (np.sort(candidates) == np.arange(V)).all()
    for one, other in zip(found(search, candidates=candidates), found(search), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.prove
@searches
def test_a_row_alone_is_as_in_its_batch(search):
    _, candidates = inputs()
    ids, scores, _ = found(search, candidates=candidates)
    for row in (0, B - 1):
        rows = slice(row, row + 1)
        own_ids, own_scores, _ = found(search, LITERT, rows, candidates=candidates[rows])
        np.testing.assert_array_equal(own_ids[0], ids[row][:, : own_ids.shape[2]])
        np.testing.assert_allclose(own_scores[0], scores[row], atol=1e-4)


@pytest.mark.prove
@searches
def test_an_ensemble_of_equal_models_finds_what_one_does(search):
    _, candidates = inputs()
    alone = found(search, candidates=candidates)
    for one, other in zip(
        found(search, candidates=candidates, more_models=[transformer()]), alone, strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize(
    "search",
    [Greedy(constraints=[NoRepeat(2)]), Sample(np.zeros((B, T), "uint32"))],
    ids=["constraints", "sampling"],
)
def test_constraints_and_sampling_need_all_ids(search):
    _, candidates = inputs()
    with pytest.raises(ValueError, match=r"without constraints\. Received: (Greedy|Sample) with"):
        found(search, candidates=candidates)
