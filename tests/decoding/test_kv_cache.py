"""The cache of keys and values: its shapes, and how each runtime writes into its buffers."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kformer import Transformer
from kformer.decoding.decoder_step import start_decoding
from kformer.decoding.runtime import GRAPH, XLA
from support.reference import perturbed

B, S, T, H, D, K, L = 2, 7, 5, 3, 18, 4, 2

buffers = pytest.mark.parametrize("buffers", [GRAPH.buffers, XLA.buffers], ids=["place", "slices"])


@pytest.mark.sample(4)
@pytest.mark.parametrize(("block", "main"), [(None, None), (T, None), (2, 6), (1, T)])
def test_the_cache_holds_every_layer_and_slot(block, main):
    transformer = perturbed(Transformer(13, L, D, H, 11, dtype="mixed_bfloat16"))
    source = np.ones((B, S), "int32")
    _, cache = start_decoding(transformer, source, T, K, XLA._replace(block=block))
    tail = [(B, H, (block or T) * K, D // H)] * L
    assert [tuple(keys.shape) for keys, _ in cache.tail] == tail
    assert all(values.dtype == "bfloat16" for _, values in cache.tail)
    shapes = [tuple(values.shape) for _, values in cache.main]
    assert shapes == ([(B, H, main * K, D // H)] * L if main else [])


@buffers
@pytest.mark.parametrize("size", [1, 3])
def test_rows_are_written_at_their_slots_and_nowhere_else(buffers, size):
    buffer = np.random.normal(size=(B, H, 4 * size, D)).astype("float32")
    rows = np.random.normal(size=(B, H, size, D)).astype("float32")
    expected = buffer.copy()
    expected[:, :, 2 * size : 3 * size] = rows
    buffer = keras.ops.array(buffer)
    index = buffers.index(buffer, 2 * size, size)
    np.testing.assert_array_equal(buffers.write(buffer, keras.ops.array(rows), index), expected)


@buffers
def test_a_write_into_one_buffer_changes_no_other(buffers):
    @tf.function
    def both():
        one, other = (buffers.empty((B, H, 4, D), tf.constant(7.0)) for _ in range(2))
        index = buffers.index(one, 2, 2)
        before = tf.identity(other) + 0.0
        one = buffers.write(one, tf.ones((B, H, 2, D)), index)
        with tf.control_dependencies([one]):
            return before, other + 0.0

    np.testing.assert_array_equal(*both())
