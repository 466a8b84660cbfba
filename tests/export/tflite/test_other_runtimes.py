"""A `.tflite` file in other runtimes: older versions of LiteRT, and TensorFlow's interpreter.

Each process answers more than ten texts: some runtimes fail only after several calls.
"""

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from kformer.export.tflite.tflite_writer import PRECISIONS
from support import toy
from support.native import older_runtimes
from support.native.answer_in_a_runtime import outputs_of

SIGNATURES = ["translate", "encode_text", "tokenize"]
TEXTS = ["", "wir", *toy.SOURCES[:9], " ".join(toy.SOURCES[:3]), "ein haus 🐕 ruft", "wir\0ruft"]
TEXTS = [text.encode() for text in [*TEXTS, *toy.SOURCES[9:18]]]
EXACT = ("float32", "float16")  # Versions round the activations of the others differently.

pytestmark = pytest.mark.prove


def outputs(interpreter, signatures):
    """Returns what `older_runtimes.answers` returns, from an interpreter in this process."""
    runners = [interpreter.get_signature_runner(name) for name in signatures]
    return [[outputs_of(runner, text) for runner in runners] for text in TEXTS]


def assert_same(found, expected, precision):
    """Texts and ids are equal, rounded activations apart, and numbers almost."""
    assert len(found) == len(expected) > 10
    exact, different = precision in EXACT, 0
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if exact else {"atol": 0.2}
    for rows in zip(found, expected, strict=True):
        for one, other in zip(*rows, strict=True):
            assert one.keys() == other.keys()
            integers = [name for name in other if other[name].dtype.kind in "iu"]
            equal = all(np.array_equal(one[name], other[name]) for name in integers)
            different += not equal
            for name in other.keys() - integers if equal else ():
                np.testing.assert_allclose(one[name], other[name], **tolerance)
    assert different <= (0 if exact else 0.1 * len(expected))


@pytest.mark.pairs
@pytest.mark.parametrize("runtime", older_runtimes.NEEDS)
@pytest.mark.parametrize("beam_size", [1, 4], ids=["greedy", "beam"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_older_runtimes_answer_the_same(longer_tflite, runtime, precision, beam_size):
    if runtime.startswith("tflite-runtime") and precision.startswith("int"):
        pytest.skip(f"{runtime} refuses {precision}.")
    file = longer_tflite(precision, beam_size)
    expected = outputs(Interpreter(str(file)), SIGNATURES)
    found = older_runtimes.answers(runtime, file, SIGNATURES, TEXTS)
    assert_same(found, expected, precision)


@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_interpreter_of_tensorflow_answers_the_same(longer_tflite, precision):
    file = str(longer_tflite(precision, 1))
    expected = outputs(Interpreter(file), SIGNATURES)
    found = outputs(tf.lite.Interpreter(file), SIGNATURES)
    assert_same(found, expected, precision)
