"""Tables that begin alike are stored once, and a file says what it said before."""

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from kformer.export.tflite_graph.beginnings import share_beginnings
from support.tflite_content import shrunk

LONGEST, SHORT, D = 90, 50, 32
ROWS = np.random.default_rng(0).normal(size=(LONGEST, D)).astype(np.float32)
OTHER = np.concatenate([ROWS[: SHORT - 1], -ROWS[:1]])  # Differs in its last row.


def long(x):
    return {"y": x + ROWS}


def short(x):
    return {"y": (x + ROWS[:SHORT]) * OTHER}


def step(i):
    """As a decoder reads the encoding of one position."""
    return {"y": tf.slice(ROWS[None, None, : SHORT + 5], [0, 0, i, 0], [1, 1, 1, D])}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file as it is converted, and with tables shared."""
    specs = {
        "long": (long, [1, LONGEST, D], tf.float32),
        "short": (short, [1, SHORT, D], tf.float32),
    }
    specs["step"] = step, [], tf.int32
    module, folder = tf.Module(), str(tmp_path_factory.mktemp("beginnings"))
    for name, (function, shape, dtype) in specs.items():
        argument = "i" if dtype == tf.int32 else "x"
        setattr(module, name, tf.function(function, [tf.TensorSpec(shape, dtype, argument)]))
    tf.saved_model.save(module, folder, {name: getattr(module, name) for name in specs})
    converted = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[*specs]).convert()
    return shrunk(converted, "long"), shrunk(converted, "long", share_beginnings)


def test_the_answers_are_those_of_tensorflow(files):
    random = np.random.default_rng(1)
    for content in files:
        interpreter = Interpreter(model_content=content)
        for function, size in ((long, LONGEST), (short, SHORT)):
            x = random.normal(size=(1, size, D)).astype(np.float32)
            said = interpreter.get_signature_runner(function.__name__)(x=x)["y"]
            np.testing.assert_allclose(said, function(x)["y"], rtol=1e-6)
        for i in (0, 3, SHORT + 4):
            said = interpreter.get_signature_runner("step")(i=np.int32(i))["y"]
            np.testing.assert_array_equal(said[0, 0, 0], ROWS[i])


def test_only_the_longest_table_and_the_other_one_are_stored(files):
    before, after = map(len, files)
    saved = 4 * D * (SHORT + SHORT + 5)
    assert saved - 2000 < before - after <= saved
    assert after > 4 * D * (LONGEST + SHORT)
