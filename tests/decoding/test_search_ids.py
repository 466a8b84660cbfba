"""Searches over a Transformer give the same without a cache, in a graph and in any batch.

The Transformer has half learnt to write its source backwards, so that rows end at various lengths
and beams differ.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kformer import Beam, Greedy, Transformer
from kformer.decoding.decoder_step import start_decoding
from kformer.decoding.runtime import GRAPH, XLA

START, END, V = 2, 3, 11
SOURCE = np.array([[4, 9, 6, 8, 5, 7, 3], [9, 6, 3, 0, 0, 0, 0], [5, 5, 9, 8, 3, 0, 0]], "int32")
MAX_LENGTHS = np.array([11, 7, 3], "int32")

searchers = pytest.mark.parametrize(
    "searcher", [Greedy(), Beam(1), Beam(5, n_best=3)], ids=["greedy", "one beam", "five beams"]
)
runtimes = pytest.mark.parametrize(
    "runtime",
    [GRAPH, XLA, XLA._replace(block=4)],
    ids=["in place", "slices", "blocks"],
)


@pytest.fixture(scope="module")
def transformer():
    keras.utils.set_random_seed(1)
    source, target = np.zeros((2, 2048, 7), "int32")
    for row in range(len(source)):
        words = np.random.randint(4, V, np.random.randint(1, 7))
        source[row, : len(words) + 1] = [*words, END]
        target[row, : len(words) + 1] = [*words[::-1], END]
    target_in = np.pad(target, ((0, 0), (1, 0)), constant_values=START)[:, :-1]
    target_in[target_in == END] = 0
    transformer = Transformer(V, num_layers=2, d_model=36, num_heads=3, d_ff=48, dropout=0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    transformer.compile(keras.optimizers.Adam(5e-3), loss, jit_compile=False)
    transformer.fit((source, target_in), target, batch_size=64, epochs=4, verbose=0)
    return transformer


def search(searcher, transformer, source, max_lengths, runtime=GRAPH):
    step, cache = start_decoding(transformer, source, max(max_lengths), searcher.beam_size, runtime)
    return searcher(step, cache, max_lengths)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-3)
    np.testing.assert_array_equal(found.ended, expected.ended)


@pytest.mark.prove
def test_greedy_with_a_cache_is_greedy_without(transformer):
    found = search(Greedy(), transformer, SOURCE, MAX_LENGTHS)
    target = np.full((3, 1), START, "int32")
    for _ in range(max(MAX_LENGTHS)):
        best = np.argmax(transformer((SOURCE, target))[:, -1], axis=-1)
        target = np.concatenate([target, best[:, None]], axis=1)
    for row, max_length in enumerate(MAX_LENGTHS):
        ids = target[row, 1 : 1 + max_length].tolist()
        ids = ids[: ids.index(END) + 1] if END in ids else ids
        assert np.array(found.ids)[row, 0, : len(ids)].tolist() == ids
        assert not np.array(found.ids)[row, 0, len(ids) :].any()


@pytest.mark.prove
def test_one_beam_is_greedy(transformer):
    one_beam = search(Beam(1, length_penalty=0), transformer, SOURCE, MAX_LENGTHS)
    assert_same(one_beam, search(Greedy(), transformer, SOURCE, MAX_LENGTHS))


@pytest.mark.sample(4)
@searchers
def test_the_score_of_a_beam_is_that_of_the_model_without_a_cache(transformer, searcher):
    """So each beam reads its own history."""
    found = search(searcher, transformer, SOURCE, MAX_LENGTHS)
    penalty = getattr(searcher, "length_penalty", 0)
    for row, max_length in enumerate(MAX_LENGTHS):
        for ids, score, ended in zip(*(np.array(x)[row] for x in found), strict=True):
            length = ids.tolist().index(END) + 1 if ended else max_length
            ids = ids[None, :length]
            target = np.pad(ids, ((0, 0), (1, 0)), constant_values=START)[:, :-1]
            logits = transformer((SOURCE[row : row + 1], target))
            log_probabilities = np.take_along_axis(
                tf.nn.log_softmax(logits).numpy(), ids[..., None], axis=-1
            )
            expected = log_probabilities.sum() / ((5 + length) / 6) ** penalty
            assert score == pytest.approx(expected, abs=1e-3)


@pytest.mark.pairs
@pytest.mark.prove
@searchers
@runtimes
@pytest.mark.parametrize("batch", [None, len(SOURCE)], ids=["any batch", "one batch"])
def test_a_graph_of_unknown_length_gives_the_same(transformer, searcher, runtime, batch):
    @tf.function(
        input_signature=[tf.TensorSpec((batch, None), "int32"), tf.TensorSpec((batch,), "int32")]
    )
    def graph(source, max_lengths):
        step, cache = start_decoding(
            transformer, source, tf.reduce_max(max_lengths), searcher.beam_size, runtime
        )
        return searcher(step, cache, max_lengths)

    assert_same(graph(SOURCE, MAX_LENGTHS), search(searcher, transformer, SOURCE, MAX_LENGTHS))
    if batch is None:
        assert_same(
            graph(SOURCE[1:2, :3], MAX_LENGTHS[1:2]),
            search(searcher, transformer, SOURCE[1:2, :3], MAX_LENGTHS[1:2]),
        )


@pytest.mark.prove
@searchers
def test_a_row_is_not_changed_by_its_neighbours(transformer, searcher):
    together = search(searcher, transformer, SOURCE, MAX_LENGTHS)
    for row, max_length in enumerate(MAX_LENGTHS):
        source = SOURCE[row][SOURCE[row] != 0][None]
        alone = search(searcher, transformer, source, MAX_LENGTHS[row : row + 1])
        np.testing.assert_array_equal(np.array(together.ids)[row, :, :max_length], alone.ids[0])
        np.testing.assert_allclose(together.scores[row], alone.scores[0], atol=1e-3)
