"""A smaller file says what the larger one says."""

import tempfile

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from support.tflite_content import shrunk

TABLE = np.random.default_rng(0).normal(0, 0.2, size=(31, 31)).astype(np.float32)


@pytest.fixture(scope="module")
def converted():
    """A file of two signatures, which hold the same loops, branches and table."""

    def power(x, times, factor):
        def again(i, x):
            return i + 1, tf.matmul(x, tf.constant(TABLE)) * factor

        return tf.while_loop(lambda i, _: i < times, again, (0, x))[1]

    def branches(x, times):
        return tf.cond(times > 3, lambda: power(x, times, 0.5), lambda: power(x, times, 2.0))

    specs = [tf.TensorSpec([1, 31], tf.float32, "x"), tf.TensorSpec([], tf.int32, "times")]
    module = tf.Module()
    module.functions = {
        "first": tf.function(lambda x, times: {"y": branches(x, times) + 1}, specs),
        "second": tf.function(lambda x, times: {"y": branches(x, times) * 3}, specs),
    }
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, dict(module.functions))
        keys = [*module.functions]
        return tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=keys).convert()


def answers(content):
    interpreter = Interpreter(model_content=content)
    x = np.arange(31, dtype=np.float32).reshape(1, 31)
    return {
        (name, times): interpreter.get_signature_runner(name)(x=x, times=np.int32(times))["y"]
        for name in interpreter.get_signature_list()
        for times in (0, 2, 5)
    }


def model_of(content):
    return schema.ModelT.InitFromPackedBuf(content, 0)


def test_shrinking_does_not_change_outputs(converted):
    before, after = answers(converted), answers(shrunk(converted, "second"))
    assert len(before) == 6 and before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)


def test_equal_buffers_and_subgraphs_are_stored_once(converted):
    before, after = model_of(converted), model_of(shrunk(converted, "second"))
    assert len(before.subgraphs) == 14  # Two signatures, with 2 branches of 2 for a loop each.
    assert len(after.subgraphs) == 7  # The loops end alike, but do not go on alike.
    stored = [buffer.data.tobytes() for buffer in after.buffers if buffer.data is not None]
    assert len({*stored}) == len(stored)
    assert after.buffers[0].data is None
    assert len(shrunk(converted, "second")) < 0.7 * len(converted)


def test_the_named_signature_comes_first(converted):
    for name in ("first", "second"):
        signatures = model_of(shrunk(converted, name)).signatureDefs
        assert [key.signatureKey for key in signatures if key.subgraphIndex == 0] == [name.encode()]
        assert signatures[0].signatureKey == name.encode() and len(signatures) == 2


def test_weights_are_aligned(converted):
    content = shrunk(converted, "second")
    stored = [buffer.data for buffer in model_of(content).buffers if buffer.data is not None]
    weights = [data.tobytes() for data in stored if len(data) == TABLE.nbytes]
    assert weights
    assert all(content.index(data) % 16 == 0 for data in weights)
