"""Whatever a server answers, the client returns what it should, or says what was wrong."""

import gzip
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest
from google.protobuf.any_pb2 import Any
from tensorflow import make_tensor_proto
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow.core.framework.types_pb2 import DT_VARIANT
from tensorflow_serving.apis.get_model_metadata_pb2 import GetModelMetadataResponse
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusResponse
from tensorflow_serving.apis.predict_pb2 import PredictResponse

from kformer.serving import Client, ServerError, rest, rpc
from support.serving.script import SERVERS, Script, rest_server

DEEP = "[" * 100_000
PREDICT = {  # Method of the client, or `beam` -> outputs that are in order, for one text.
    "translations": {"translation": ["a"], "score": [-1.0], "flags": [""]},
    "beam": {"translation": [["a", "b"]], "score": [[-1.0, -2.0]], "flags": [["", ""]]},
    "classify": {
        "label": ["b"],
        "probabilities": [[0.25, 0.75]],
        "labels": [["a", "b"]],
        "flags": [""],
    },
    "generations": {"generation": ["a"], "score": [-1.0], "flags": [""]},
    "score": {"log_probability": [-1.0], "tokens": [2], "flags": [""]},
    "encode": {"vector": [[0.5, 1.0]], "flags": [""]},
    "tokenize": {"ids": [[5, 3, 0]], "length": [2], "flags": [""]},
}
WRONG = [  # Method, output, what it is instead, and what is said of it.
    ("translations", "flags", [5], "`flags` must be a string. Received: 5"),
    ("translations", "flags", [None], "`flags` must be a string. Received: None"),
    ("translations", "translation", [7], "`translation` must be a string. Received: 7"),
    ("translations", "translation", ["a", "b"], "`translation` must be a list of 1, one for each"),
    ("translations", "translation", [], "Received: a list of 0"),
    ("translations", "translation", "a", "one for each text. Received: 'a'"),
    ("translations", "score", ["-1"], "`score` must be a finite number. Received: '-1'"),
    ("translations", "score", [True], "`score` must be a finite number. Received: True"),
    ("translations", "score", [float("nan")], "`score` must be a finite number. Received: nan"),
    ("translations", "score", [float("inf")], "`score` must be a finite number. Received: inf"),
    ("translations", "score", [10**400], "`score` must be a finite number. Received: a huge"),
    ("translations", "score", [{"a": 1}], "`score` must be a finite number. Received: a dict of 1"),
    ("translations", "score", None, "which answers translation, score for each text"),
    ("beam", "translation", ["ab"], "`translation` must be a list. Received: 'ab'"),
    ("beam", "score", [[-1.0]], "Received: 2 of translation, 1 of score, 2 of flags"),
    ("beam", "flags", [[0, 1]], "`flags` must be a string. Received: 0"),
    ("classify", "label", [5], "`label` must be a string. Received: 5"),
    ("classify", "label", ["c"], "`label` must be one of the labels, which are distinct. Rec"),
    ("classify", "label", None, "'classify', which answers label, probabilities, labels for each"),
    ("classify", "labels", [["b", "b"]], "`label` must be one of the labels, which are distinct"),
    ("classify", "labels", [["b"]], "as there are labels. Received: 2 of probabilities, 1 of la"),
    ("classify", "labels", [["b", 7]], "`labels` must be a string. Received: 7"),
    ("classify", "labels", [[]], "Received: 2 of probabilities, 0 of labels"),
    ("classify", "probabilities", [0.5], "`probabilities` must be a list. Received: 0.5"),
    ("classify", "probabilities", [[0.5, None]], "must be a finite number. Received: None"),
    ("classify", "flags", [["a"]], "`flags` must be a string. Received: a list of 1"),
    ("generations", "generation", [7], "`generation` must be a string. Received: 7"),
    ("generations", "score", None, "'generate', which answers generation, score, flags for each"),
    ("score", "log_probability", [None], "`log_probability` must be a finite number"),
    ("score", "tokens", [0], "`tokens` must be a positive integer. Received: 0"),
    ("score", "tokens", [-3], "`tokens` must be a positive integer. Received: -3"),
    ("score", "tokens", [2.5], "`tokens` must be a positive integer. Received: 2.5"),
    ("encode", "vector", [0.5], "`vector` must be a list. Received: 0.5"),
    ("encode", "vector", [[0.5, "x"]], "`vector` must be a finite number. Received: 'x'"),
    ("tokenize", "length", [-1], "`length` must be a positive integer. Received: -1"),
    ("tokenize", "length", [4], "`length` must be at most 3, the number of ids. Received: 4"),
    ("tokenize", "ids", [[5, -3, 0]], "`ids` must be integers from 0 on. Received: -3"),
    ("tokenize", "ids", [[5, 3.0, 0]], "`ids` must be integers from 0 on. Received: 3.0"),
]
NOT_OURS = [
    "",
    "<html>Welcome</html>",
    "[]",
    "null",
    "{}",
    '{"outputs": ',
    '{"outputs": [1]}',
    '{"outputs": {}}',
    '{"outputs": null}',
    DEEP,
    '{"outputs": {"translation": ["a"], "score": [' + "[" * 900 + "]" * 900 + "]}}",
    "\x1b[31m",
]
STATUS = {"version": "1", "state": "AVAILABLE", "status": {"error_message": ""}}
TENSOR = {"dtype": "DT_STRING", "tensor_shape": {"dim": [{"size": "-1"}]}}


def asked(client, method):
    texts = [["a"], ["b"]] if method == "score" else [["a"]]
    if method == "beam":
        return client.translations(*texts, n_best=2)
    return getattr(client, method)(*texts)


def refusal(protocol, act, ask, **options):
    """The `ServerError` that `ask(client)` raises of a server that acts so once."""
    script = Script(act)
    with SERVERS[protocol](script) as url, Client(url, "m", **options) as client:
        with pytest.raises(ServerError) as error:
            ask(client)
        assert len(script.times) == 1  # It is not tried again.
    return error.value


@pytest.mark.parametrize("method", PREDICT)
def test_answers_in_order_are_read(method):
    """The tests below must not pass because everything is refused."""
    with rest_server(Script(json.dumps({"outputs": PREDICT[method]}))) as url:
        assert len(asked(Client(url, "m"), method)) == 1


@pytest.mark.parametrize(("method", "name", "value", "message"), WRONG)
def test_the_error_names_what_is_wrong_with_an_answer(method, name, value, message):
    outputs = {**PREDICT[method], name: value}
    if value is None:
        del outputs[name]
    content = json.dumps({"outputs": outputs})
    error = refusal("rest", content, lambda client: asked(client, method))
    assert error.code == 200
    assert message in error.message
    assert f"/v1/models/m:predict answered 200: {error.message}" in str(error)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ({"translation": make_tensor_proto([5]), "score": make_tensor_proto([0.0])}, "string"),
        ({"translation": make_tensor_proto(["a"])}, "translation, score for each text"),
        ({}, "Received: nothing"),
        (
            {"translation": make_tensor_proto(["a"]), "score": make_tensor_proto([np.nan])},
            "`score` must be a finite number. Received: nan",
        ),
        (
            {"translation": TensorProto(dtype=DT_VARIANT, string_val=[b"a"])},
            "must be a tensor of num",
        ),
    ],
    ids=["numbers", "no score", "nothing", "nan", "no type"],
)
def test_the_error_names_what_is_wrong_with_a_grpc_answer(outputs, message):
    response = PredictResponse()
    for name, value in outputs.items():
        response.outputs[name].CopyFrom(value)
    error = refusal("grpc", response, lambda client: client.translate(["a"]))
    assert error.code == "OK"
    assert message in error.message


def test_a_few_bytes_cannot_announce_a_tensor_that_no_memory_holds():
    response = PredictResponse()
    vast = make_tensor_proto([1.0])
    vast.tensor_shape.dim[0].size = 2**50
    response.outputs["score"].CopyFrom(vast)
    error = refusal("grpc", response, lambda client: client.translate(["a"]))
    assert "as many values as its shape has. Received: shape=[1125899906842624]" in error.message


@pytest.mark.parametrize("content", NOT_OURS, ids=lambda content: repr(content[:20]))
def test_a_server_of_another_kind_is_recognized(content):
    error = refusal("rest", content, lambda client: client.translate(["a"]))
    assert error.code == 200
    assert "Received: " in error.message


@pytest.mark.parametrize("content", [*NOT_OURS, '{"error": 5}', '{"error": ' + "[" * 900, "\xff"])
def test_an_error_is_one_whatever_its_body(content):
    error = refusal("rest", (400, content, {}), lambda client: client.translate(["a"]))
    assert error.code == 400
    assert len(error.message) < 999


def test_vectors_have_one_width():
    outputs = {"outputs": {"vector": [[0.5], [0.5, 1.0]], "flags": ["", ""]}}
    error = refusal("rest", json.dumps(outputs), lambda client: client.encode(["a", "b"]))
    assert "All vectors must have one width. Received: widths 1 to 2" in error.message


@pytest.mark.parametrize(
    "versions",
    [
        5,
        [5],
        [{}],
        [{**STATUS, "version": "x"}],
        [{**STATUS, "version": 1.5}],
        [{**STATUS, "version": "9" * 9999}],
        [{**STATUS, "state": 5}],
        [{**STATUS, "status": 5}],
        [{**STATUS, "status": {"error_message": 5}}],
    ],
)
def test_a_malformed_status_is_refused(versions):
    content = json.dumps({"model_version_status": versions})
    assert refusal("rest", content, Client.status).code == 200
    with rest_server(Script(json.dumps({"model_version_status": [STATUS]}))) as url:
        assert Client(url, "m").status()[0].state == "AVAILABLE"


@pytest.mark.parametrize(
    "tensor",
    [
        5,
        {},
        {**TENSOR, "dtype": 5},
        {**TENSOR, "tensor_shape": 5},
        {**TENSOR, "tensor_shape": {"dim": [{}]}},
        {**TENSOR, "tensor_shape": {"dim": [{"size": True}]}},
    ],
)
def test_malformed_metadata_is_refused(tensor):
    def content(tensor):
        signature = {"serving_default": {"inputs": {"text": tensor}}}
        return json.dumps({"metadata": {"signature_def": {"signature_def": signature}}})

    assert refusal("rest", content(tensor), Client.metadata).code == 200
    with rest_server(Script(content(TENSOR))) as url:
        assert Client(url, "m").metadata()["serving_default"].inputs["text"].shape == (-1,)


def test_over_grpc_status_and_metadata_are_checked_too():
    unknown = GetModelStatusResponse()
    unknown.model_version_status.add(version=1, state=99)
    assert "99" in refusal("grpc", unknown, Client.status).message
    none = GetModelMetadataResponse()
    assert "Received: none" in refusal("grpc", none, Client.metadata).message
    broken = GetModelMetadataResponse()
    url = "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    broken.metadata["signature_def"].CopyFrom(Any(type_url=url, value=b"\xff"))
    assert refusal("grpc", broken, Client.metadata).code == "OK"


def test_an_answer_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(rest, "MAX_ANSWER", 2**20)
    error = refusal("rest", "flood", lambda client: client.translate(["a"]))
    assert (error.code, error.message[:39]) == (200, "An answer may have at most 67108864 byt")


def test_an_answer_that_is_large_once_it_is_unpacked_is_given_up(monkeypatch):
    monkeypatch.setattr(rest, "MAX_ANSWER", 2**20)
    of_gzip = {"Content-Encoding": "gzip"}
    error = refusal("rest", (200, gzip.compress(b" " * 2**24), of_gzip), Client.status)
    assert "An answer may have at most" in error.message
    error = refusal("rest", (200, "no gzip", of_gzip), Client.status)
    assert "must be compressed as its header says. Received: " in error.message


def test_an_answer_over_grpc_has_the_same_limit(monkeypatch):
    name = "grpc.max_receive_message_length"
    assert (name, rest.MAX_ANSWER) in rpc._OPTIONS
    options = [(key, 2**16 if key == name else value) for key, value in rpc._OPTIONS]
    monkeypatch.setattr(rpc, "_OPTIONS", options)
    response = PredictResponse()
    response.outputs["translation"].CopyFrom(make_tensor_proto(["a" * 2**17]))
    error = refusal("grpc", response, lambda client: client.translate(["a"]))
    assert error.code == "OK" and "An answer may have at most" in error.message


STEERING = "\x1b]0;title\x07\x9b31mred\x7f\r"
ESCAPED = r"\x1b]0;title\x07\x9b31mred\x7f"


def test_what_a_server_says_cannot_steer_a_terminal(command):
    error = json.dumps({"error": STEERING}, ensure_ascii=False)
    told = refusal("rest", (400, error, {}), lambda client: client.translate(["a"]))
    assert told.message == STEERING
    assert ESCAPED in str(told)
    versions = {**STATUS, "state": STEERING, "status": {"error_message": STEERING}}
    versions = json.dumps({"model_version_status": [versions]})
    with rest_server(Script((400, error, {}), versions)) as url:
        result = command("request", url, "a")
        assert ESCAPED in result.stderr and "\x1b" not in result.stderr
        result = command("request", url, "--status")
        assert result.stdout.count(ESCAPED) == 2 and "\x1b" not in result.stdout


def test_translations_are_escaped_on_a_terminal_alone():
    outputs = {"outputs": {"translation": [f"a\tb {STEERING}"], "score": [0.0], "flags": [""]}}
    run = [sys.executable, "-m", "kformer", "request"]
    with rest_server(Script(*[json.dumps(outputs)] * 2)) as url:
        piped = subprocess.run([*run, url, "x"], capture_output=True, check=True).stdout
        ours, theirs = pty.openpty()
        subprocess.run([*run, url, "x"], stdout=theirs, stderr=subprocess.DEVNULL, check=True)
        os.close(theirs)
        seen = os.read(ours, 9999)
        os.close(ours)
    assert piped.decode() == f"a\tb {STEERING}".rstrip("\r") + "\n"
    assert seen.decode() == f"a\tb {ESCAPED}\r\n"
