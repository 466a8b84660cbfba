"""A SavedModel in C++, as a server runs it: `LoadSavedModel`, a session, and no Python.

The program is compiled against the headers and libraries in the package of TensorFlow.
"""

import os
import subprocess

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.named_tensor_pb2 import NamedTensorProto
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from kformer.export import export_saved_model
from kformer.export.saved_model.warmup import FILE
from support import toy
from support.native.compiling import compiled
from support.native.saved_model_program import tensorflow_arguments
from support.serving.operations import sentencepiece_library
from support.serving.warmup_requests import asked, assert_same_answers, listed, signatures_of

ODD = ["", "der 🐕‍🦺 sucht das häus .", "日本 e\u0301 ﬁ ½", "uns " * 300, b"\xff wir \xc3"]
BOTH = ("source", "target")
INPUTS = dict.fromkeys(("serving_default", "beam", "classify", "encode", "tokenize"), ("text",))
INPUTS["score"] = INPUTS["align"] = BOTH


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The compiled program."""
    folder = tmp_path_factory.mktemp("native")
    return compiled("serve_saved_model", folder, *tensorflow_arguments())


@pytest.fixture(params=["toy_saved_model", "classifier_saved_model"])
def exported(request):
    """The folder of a version, of each kind of model in turn."""
    return request.getfixturevalue(request.param)


def prediction_log(name, inputs):
    """A request in the messages of the server."""
    log = PredictionLog()
    log.predict_log.request.model_spec.signature_name = name
    for key, values in inputs.items():
        values = values if isinstance(values, np.ndarray) else np.array(values, object)
        log.predict_log.request.inputs[key].CopyFrom(tf.make_tensor_proto(values))
    return log.SerializeToString()


def served(program, path, records, folder):
    """What the program answers to records: for each {output: values}, or an error's text."""
    requests, answers = folder / "requests", folder / "answers"
    with tf.io.TFRecordWriter(str(requests)) as writer:
        for record in records:
            writer.write(record)
    result = subprocess.run(
        [program, sentencepiece_library(), path, requests, answers],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert result.returncode == 0, result.stderr[-2000:]
    found = []
    for record in tf.data.TFRecordDataset(str(answers)).as_numpy_iterator():
        if record == b"OK":
            found.append({})
        elif record.startswith(b"\n"):  # A message, whose first field is the name.
            named = NamedTensorProto.FromString(record)
            found[-1][named.name] = listed(tf.make_ndarray(named.tensor))
        else:
            found.append(record.decode())
    assert len(found) == len(records)
    return found


@pytest.mark.prove
def test_every_signature_agrees_with_python(program, exported, tmp_path):
    signatures = signatures_of(exported)
    texts = [*toy.SOURCES[:9], *ODD]
    requests = [(name, dict.fromkeys(INPUTS[name], texts)) for name in signatures]
    records = [prediction_log(name, inputs) for name, inputs in requests]
    expected = [asked(signatures, name, **inputs) for name, inputs in requests]
    found = served(program, exported, records, tmp_path)
    assert_same_answers(found, expected)
    default = dict(zip(signatures, found, strict=True))["serving_default"]
    answers = default["translation"] if "translation" in default else default["probabilities"]
    assert len({*map(str, answers)}) > 9


@pytest.mark.prove
def test_all_warmup_requests_are_answered(program, exported, tmp_path):
    signatures = signatures_of(exported)
    records = [*tf.data.TFRecordDataset(str(exported / FILE)).as_numpy_iterator()]
    found = served(program, exported, records, tmp_path)
    assert len(found) == 7 * len(signatures)
    expected = []
    for record in records:
        request = PredictionLog.FromString(record).predict_log.request
        inputs = {key: tf.make_ndarray(tensor) for key, tensor in request.inputs.items()}
        expected.append(asked(signatures, request.model_spec.signature_name, **inputs))
    assert_same_answers(found, expected)


@pytest.mark.prove
def test_hostile_requests_are_refused_and_harm_no_other(program, toy_saved_model, tmp_path):
    harmless = prediction_log("serving_default", {"text": ["wir ruft uns ."]})
    hostile = {
        "at most 1024 texts": prediction_log("beam", {"text": ["wir"] * 10_000}),
        "as many targets as sources": prediction_log("score", {"source": ["a"], "target": []}),
        "There is no signature": prediction_log("translate", {"text": ["wir"]}),
        "There is no input": prediction_log("encode", {"texts": ["wir"]}),
        "string": prediction_log("encode", {"text": np.array([1.0])}),
        "text": prediction_log("tokenize", {}),
        "[2,1] is not compatible": prediction_log("serving_default", {"text": [["a"], ["b"]]}),
        "[2,2] is not compatible": prediction_log("tokenize", {"text": [["a", "b"]] * 2}),
        "[] is not compatible": prediction_log("encode", {"text": np.array("wir", object)}),
        "[1,1] is not compatible": prediction_log("score", {"source": ["a"], "target": [["b"]]}),
    }
    records = [record for bad in hostile.values() for record in (bad, harmless)]
    found = served(program, toy_saved_model, records, tmp_path)
    errors, others = found[::2], found[1::2]
    assert all(isinstance(error, str) for error in errors), errors
    for error, part in zip(errors, hostile, strict=True):
        assert part in error
    assert all(other == others[0] for other in others)
    assert others[0]["flags"] == [""]


@pytest.mark.prove
def test_a_megabyte_and_nothing_at_all_are_answered(program, exported, tmp_path):
    records = [
        prediction_log(name, dict.fromkeys(INPUTS[name], texts))
        for name in signatures_of(exported)
        for texts in (["x" * 1_000_000, "wir"], [b"\x80" * 1_000_000, "wir"])
    ]
    for answer in served(program, exported, records, tmp_path):
        if "attention" in answer:  # This one has no flags.
            assert len(answer["attention"]) == 2
            continue
        flags = answer["flags"]
        assert "source cut" in (flags[0] if isinstance(flags[0], str) else flags[0][0])
        assert "cut" not in "".join(flags[1])


@pytest.mark.prove
def test_the_compiled_graph_runs_there_too(program, toy_translator, tmp_path):
    path = export_saved_model(toy_translator, tmp_path / "x", xla=True)
    records = [
        prediction_log(name, {"text": toy.SOURCES[:number]})
        for name in ("serving_default", "beam")
        for number in (1, 3)
    ]
    found = served(program, path, records, tmp_path)
    for answer, number in zip(found[:2], (1, 3), strict=True):
        assert answer["translation"] == toy_translator.translate(toy.SOURCES[:number])
    assert [len(answer["translation"]) for answer in found[2:]] == [1, 3]
