"""One position at a time, for beams side by side: the same as whole sequences, each its own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kformer import Transformer
from kformer.decoding.runtime import GRAPH, XLA
from kformer.decoding.step import start_decoding
from support.reference import perturbed

B, S, T, H, D, F, K, V = 2, 7, 5, 3, 18, 11, 4, 13
SOURCE = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])  # (B, S)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
runtimes = pytest.mark.parametrize(
    "runtime",
    [GRAPH, XLA, XLA._replace(block=2), XLA._replace(block=1)],
    ids=["in place", "slices", "blocks", "blocks of one"],
)


def new_transformer(**settings):
    return perturbed(Transformer(V, num_layers=2, d_model=D, num_heads=H, d_ff=F, **settings))


def random_ids():
    return np.random.randint(1, V, (B, K, T)).astype("int32")


def run(step, ids, parents):
    """Steps through `ids` (B, K, T), where `parents` (T, K) says which beam each continues.

    Returns the `Step` of each position.
    """
    past = step.empty_past(B)
    own = np.zeros((K, T * K), bool)
    said = []
    for position in range(T):
        own = own[parents[position]]
        own[np.arange(K), position * K + np.arange(K)] = True
        said.append(step(ids[:, :, position], position, own[None], past))
        past = said[-1].cache
        if step.block and position % step.block == step.block - 1:
            past = step.settle(past, position + 1 - step.block)
    return said


@norms
@runtimes
def test_beams_side_by_side_are_whole_sequences_each(norm_first, runtime):
    transformer, ids = new_transformer(norm_first=norm_first), random_ids()
    step, _ = start_decoding(transformer, SOURCE, T, K, runtime)
    said = run(step, ids, np.tile(np.arange(K), (T, 1)))
    for beam in range(K):
        inputs = (SOURCE, ids[:, beam])
        whole, looked = transformer(inputs), transformer.attend(inputs).decoder_cross[-1]
        for position, (logits, _, attention) in enumerate(said):
            np.testing.assert_allclose(logits[:, beam], whole[:, position], rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(
                attention[:, beam], np.mean(looked, axis=1)[:, position], atol=1e-5
            )


@runtimes
def test_a_beam_sees_the_past_of_those_it_descends_from(runtime):
    transformer, ids = new_transformer(), random_ids()
    parents = np.random.randint(0, K, (T, K))
    step, _ = start_decoding(transformer, SOURCE, T, K, runtime)
    said = run(step, ids, parents)
    for beam in range(K):
        line = [beam]  # Of ancestors, from the last position to the first.
        for position in range(T - 1, 0, -1):
            line.append(parents[position][line[-1]])
        path = np.stack([ids[:, k, t] for t, k in enumerate(reversed(line))], axis=1)
        whole = transformer((SOURCE, path))
        np.testing.assert_allclose(said[-1].logits[:, beam], whole[:, -1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("block", [1, 2, None])
def test_what_is_in_slots_not_seen_does_not_matter(block):
    step, past = start_decoding(new_transformer(), SOURCE, T, 1, XLA._replace(block=block))
    filled = keras.tree.map_structure(lambda x: x * 0 + 1e3, past)
    seen, ids = (np.arange(T) == 4)[None, None], np.full((B, 1), 5)
    np.testing.assert_allclose(
        step(ids, 4, seen, past).logits, step(ids, 4, seen, filled).logits, atol=1e-6
    )


@pytest.mark.parametrize(("block", "settled"), [(None, None), (T, None), (2, 6), (1, T)])
def test_the_past_has_room_for_every_layer_and_slot(block, settled):
    transformer = new_transformer(dtype="mixed_bfloat16")
    _, past = start_decoding(transformer, SOURCE, T, K, XLA._replace(block=block))
    assert [tuple(keys.shape) for keys, _ in past.recent] == [(B, H, (block or T) * K, D // H)] * 2
    assert all(values.dtype == "bfloat16" for _, values in past.recent)
    shapes = [tuple(values.shape) for _, values in past.settled]
    assert shapes == ([(B, H, settled * K, D // H)] * 2 if settled else [])


@pytest.mark.parametrize("buffers", [GRAPH.buffers, XLA.buffers])
@pytest.mark.parametrize("size", [1, 3])
def test_rows_are_written_at_their_slots_and_nowhere_else(buffers, size):
    buffer = np.random.normal(size=(B, H, 4 * size, D)).astype("float32")
    rows = np.random.normal(size=(B, H, size, D)).astype("float32")
    expected = buffer.copy()
    expected[:, :, 2 * size : 3 * size] = rows
    buffer = keras.ops.array(buffer)
    place = buffers.place(buffer, 2 * size, size)
    np.testing.assert_array_equal(buffers.write(buffer, keras.ops.array(rows), place), expected)


@pytest.mark.parametrize("buffers", [GRAPH.buffers, XLA.buffers])
def test_what_is_written_into_one_buffer_is_not_in_another(buffers):
    @tf.function
    def both():
        one, other = (buffers.empty((B, H, 4, D), tf.constant(7.0)) for _ in range(2))
        place = buffers.place(one, 2, 2)
        before = tf.identity(other) + 0.0
        one = buffers.write(one, tf.ones((B, H, 2, D)), place)
        with tf.control_dependencies([one]):
            return before, other + 0.0

    np.testing.assert_array_equal(*both())
