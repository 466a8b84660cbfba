"""Converted without weights, a model says what TensorFlow says with them."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from kformer.export.tflite_graph.conversion import convert
from kformer.export.tflite_graph.flatbuffer import merge_buffers, shrink, write_model
from kformer.export.tflite_graph.int8_weights import quantized_rows, store_as_int8
from kformer.export.tflite_graph.stand_ins import StandIns

D, F = 29, 37  # Widths of which no product is a multiple of a word.
TABLE = np.random.default_rng(0).integers(0, 251, 1031).astype(np.uint8)
RANDOM = np.random.default_rng(1)


class Network(keras.Model):
    """Two Dense layers and a vector, in a loop and in branches."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = keras.layers.Dense(F), keras.layers.Dense(D)
        self.vector = self.add_weight(shape=(D,), name="vector")
        self.inner.build((None, D))
        self.outer.build((None, F))
        for weight in self.weights:
            weight.assign(RANDOM.normal(0, 0.15, weight.shape))

    def call(self, x):
        return self.outer(keras.ops.relu(self.inner(x + self.vector)))


def functions_of(network, constant):
    """Signatures that read weights outside of loops, within, and in branches."""

    def looped(x, times, scale):
        kernel = keras.ops.copy(network.outer.kernel) * scale  # Outside, as decoding does.

        def again(i, x):
            return i + 1, tf.tanh(tf.matmul(network(x) @ tf.transpose(kernel), kernel))

        return tf.while_loop(lambda i, _: i < times, again, (0, x))[1]

    def run(x, times):
        joined = tf.concat([network.inner.kernel, network.inner.kernel], axis=1)
        y = tf.cond(times > 2, lambda: looped(x, times, 0.5), lambda: looped(x, times, 2.0))
        return {"y": y, "joined": tf.matmul(y, joined)}

    x = tf.TensorSpec([1, D], tf.float32, "x")
    times = tf.TensorSpec([], tf.int32, "times")
    places = tf.TensorSpec([5], tf.int32, "places")
    return {
        "run": tf.function(run, [x, times]),
        "look_up": tf.function(
            lambda places: {"read": tf.cast(tf.gather(constant(TABLE), places), tf.int32)}, [places]
        ),
        "apply": tf.function(lambda x: {"y": network(x)}, [x]),
    }


@pytest.fixture(scope="module")
def network():
    return Network()


@pytest.fixture(scope="module", params=["float32", "int8"])
def file(request, network, tmp_path_factory):
    stand_ins = StandIns(network)
    model = convert(functions_of(network, stand_ins.constant), stand_ins)
    if request.param == "int8":
        merge_buffers(model)
        store_as_int8(model)
    shrink(model, "run")
    path = tmp_path_factory.mktemp("converted") / "model.tflite"
    write_model(model, path)
    return request.param, path


def test_it_says_what_tensorflow_says(network, file):
    precision, path = file
    expected, interpreter = functions_of(network, tf.constant), Interpreter(str(path))
    x = RANDOM.normal(size=(1, D)).astype(np.float32)
    tolerance = 1e-4 if precision == "float32" else 0.03
    for times in (0, 2, 5) if precision == "float32" else (0,):  # Errors grow from round to round.
        said = interpreter.get_signature_runner("run")(x=x, times=np.int32(times))
        for name, value in expected["run"](x, tf.constant(times)).items():
            np.testing.assert_allclose(said[name], value, atol=tolerance * np.abs(value).max())
    value = expected["apply"](x)["y"]
    said = interpreter.get_signature_runner("apply")(x=x)["y"]
    np.testing.assert_allclose(said, value, atol=tolerance * np.abs(value).max())
    places = np.array([0, 5, 1030, 77, 1029], np.int32)
    said = interpreter.get_signature_runner("look_up")(places=places)["read"]
    np.testing.assert_array_equal(said, TABLE[places])


def test_weights_are_constants_within_loops_and_products_have_their_biases(file):
    model = schema.ModelT.InitFromPackedBuf(file[1].read_bytes(), 0)
    operators = schema.BuiltinOperator
    kinds, biased = set(), 0
    for graph in model.subgraphs:
        for operator in graph.operators:
            code = model.operatorCodes[operator.opcodeIndex].builtinCode
            kinds.add(code)
            if code == operators.FULLY_CONNECTED:
                matrix, bias = (int(i) for i in operator.inputs[1:])
                assert model.buffers[graph.tensors[matrix].buffer].data is not None
                biased += bias != -1
            if code in (operators.WHILE, operators.IF):
                passed = [graph.tensors[i].shape for i in operator.inputs]
                assert max(map(np.prod, passed)) <= D  # The state, and no weights.
    assert biased >= 4
    unwanted = {operators.RANDOM_STANDARD_NORMAL, operators.BITCAST, operators.BATCH_MATMUL}
    assert not kinds & unwanted
    stored = [buffer.data.tobytes() for buffer in model.buffers if buffer.data is not None]
    assert len({*stored}) == len(stored)


def test_rows_are_rounded_to_the_nearest_of_their_255_numbers():
    table = RANDOM.normal(size=(1301, 811)).astype(np.float32)  # More than one chunk.
    table[7] = 0
    rows, scales = quantized_rows(table)
    assert rows.min() == -127 and rows.max() == 127
    assert (np.abs(rows * scales[:, None] - table) <= 0.5001 * scales[:, None]).all()
    assert not rows[7].any()


def test_rows_of_integers_times_a_step_stay_these_integers():
    integers = RANDOM.integers(-90, 91, size=(61, 37))
    integers[0], integers[1, 1:] = 0, 0
    steps = RANDOM.uniform(1e-4, 1e-2, size=(61, 1)).astype(np.float32)
    table = integers.astype(np.float32) * steps
    rows, scales = quantized_rows(table)
    np.testing.assert_allclose(rows * scales[:, None], table, rtol=1e-6)
    same = (rows[2:] == integers[2:]).all(axis=1)
    assert same.mean() > 0.9  # A row of even integers has a greater step.


def test_integers_that_are_too_large_are_rounded():
    table = RANDOM.integers(-1000, 1001, size=(61, 37)).astype(np.float32)
    rows, scales = quantized_rows(table)
    assert (np.abs(rows).max(axis=1) == 127).all()
    assert (np.abs(rows * scales[:, None] - table) <= 0.5001 * scales[:, None]).all()
