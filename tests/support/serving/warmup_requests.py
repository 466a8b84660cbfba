"""Requests to signatures, and ways to have them answered: in Python, and as a server does."""

import json

import numpy as np
import tensorflow as tf

from support.processes import printed_by


def loader_of_a_server(path, requests):
    """Answers from a fresh process, which has a server's loader, but not tensorflow-text.

    Args:
        path: The folder of a version.
        requests: list of [signature, {input: texts}].

    Returns:
        list of {output: values}.
    """
    program = ("-m", "support.serving.serve_saved_model", path)
    return json.loads(printed_by(*program, input=json.dumps(requests)))


def signatures_of(path):
    """The signatures of a SavedModel, loaded in Python: callables by name."""
    return tf.saved_model.load(str(path)).signatures


def asked(signatures, name, **inputs):
    """What signature `name` answers in Python: {output: values}, bytes as text."""
    answer = signatures[name](
        **{key: tf.constant(texts, tf.string, [len(texts)]) for key, texts in inputs.items()}
    )
    return {output: listed(value.numpy()) for output, value in answer.items()}


def listed(values):
    """An array as lists, and bytes as text."""
    if values.dtype == object:
        return np.vectorize(lambda text: text.decode("utf-8"), otypes=["O"])(values).tolist()
    return values.tolist()


def assert_same_answers(answers, expected):
    """Equal, but for the last digits of numbers."""
    assert len(answers) == len(expected)
    for answer, other in zip(answers, expected, strict=True):
        assert {*answer} == {*other}
        for name, values in other.items():
            if np.asarray(values).dtype.kind == "f":
                np.testing.assert_allclose(answer[name], values, rtol=1e-3, atol=1e-3)
            else:
                assert answer[name] == values, name
