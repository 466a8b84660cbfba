"""What differs between Keras's backends: here, a training step in parts, one for each core."""

import keras
import numpy as np
import pytest

import kformer
from kformer import backend
from kformer.training import MaskedCrossEntropy
from support.processes import run_python

pytestmark = pytest.mark.skipif(not backend.is_tensorflow(), reason="TensorFlow's graphs alone")

NETWORKS = {
    "transformer": lambda: kformer.Transformer(30, 2, 16, 2, 32, dropout=0.0),
    "encoder": lambda: kformer.TransformerEncoder(30, 2, 16, 2, 32, dropout=0.0),
    "decoder": lambda: kformer.TransformerDecoder(30, 2, 16, 2, 32, dropout=0.0),
}


def ids(rows, length):
    ids = np.random.default_rng(rows + length).integers(1, 30, (rows, length), "int32")
    ids[: rows // 2, length // 2 :] = 0  # Padding.
    return ids


def loss_and_gradients(network, inputs, expected):
    import tensorflow as tf

    loss = MaskedCrossEntropy()

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            outputs = network(inputs, training=True)
            value = loss(expected, outputs) if expected is not None else tf.reduce_sum(outputs**3)
        return value, [*map(tf.convert_to_tensor, tape.gradient(value, network.trainable_weights))]

    return keras.tree.map_structure(np.asarray, step())


@pytest.mark.prove
@pytest.mark.parametrize("rows", [7, 2, 1])  # Fewer than parts, too: then some have no row.
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_step_in_parts_has_the_loss_and_the_gradients_of_a_whole_step(kind, rows, monkeypatch):
    network = NETWORKS[kind]()
    inputs, expected = ids(rows, 9), ids(rows, 9)
    if kind == "transformer":
        inputs = ids(rows, 11), inputs
    elif kind == "encoder":
        expected = None
    loss, gradients = loss_and_gradients(network, inputs, expected)
    monkeypatch.setattr(backend, "_cores_to_split_for", lambda: 3)
    loss_in_parts, gradients_in_parts = loss_and_gradients(network, inputs, expected)
    np.testing.assert_allclose(loss_in_parts, loss, rtol=1e-5)
    highest = max(np.abs(gradient).max() for gradient in gradients)
    for in_parts, gradient in zip(gradients_in_parts, gradients, strict=True):
        np.testing.assert_allclose(in_parts, gradient, rtol=0, atol=1e-6 * highest)


OPERATIONS = """
import numpy as np
import tensorflow as tf
import kformer
tf.config.threading.set_intra_op_parallelism_threads({})
tf.config.threading.set_inter_op_parallelism_threads({})
model = kformer.Transformer(30, 1, 16, 2, 32)
ids = np.ones((4, 3), "int32")
for training in (True, False):
    graph = tf.function(lambda: model((ids, ids), training=training)).get_concrete_function().graph
    print(sum(operation.type == "Softmax" for operation in graph.get_operations()))
"""


@pytest.mark.prove
@pytest.mark.parametrize(
    "cores_of_an_operation, at_once, parts", [(1, 9, 4), (1, 2, 2), (2, 2, 1), (1, 1, 1), (0, 0, 1)]
)
def test_training_is_in_parts_where_each_operation_has_one_core(
    cores_of_an_operation, at_once, parts
):
    script = OPERATIONS.format(cores_of_an_operation, at_once)
    training, otherwise = map(int, run_python("-c", script).stdout.split())
    assert training == parts * otherwise
