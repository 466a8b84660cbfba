"""A served model under load: many requests, odd ones, a new version meanwhile."""

import base64
import contextlib
import json
import queue
import random
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
from tensorflow import make_tensor_proto
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow.core.framework.types_pb2 import DT_STRING
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

from kformer.serving import ServerError
from support import toy
from support.serving.server_process import PADDED, batching_of, stand_in, wait_until, write_scripted

CONNECTIONS = 16
PROTOCOLS = ["rest", "grpc"]


# For every shape of a matrix product that comes, each of TensorFlow's threads keeps what oneDNN
# compiled for it, up to 1,024 of them: tens of megabytes, which come as slowly as rare shapes do,
# and would hide a leak. Without oneDNN there is no such cache, and the memory is flat.
NO_CACHE_OF_SHAPES = {"TF_ENABLE_ONEDNN_OPTS": "0"}


@pytest.fixture(scope="module")
def server(toy_served):
    with stand_in(toy_served, NO_CACHE_OF_SHAPES, batching=batching_of(toy_served)) as server:
        yield server


@pytest.fixture(scope="module")
def answers(toy_translator):
    """What Python says of each sentence."""
    texts = [*toy.SOURCES, "", "wir", "sieht uns", "ein kind ruft"]
    return dict(zip(texts, toy_translator.translate(texts), strict=True))


@pytest.mark.prove
@pytest.mark.parametrize(("number", "growth"), [(200, 1.05), (20_000, 1.01)])
def test_under_load_every_answer_is_right_and_memory_does_not_grow(server, answers, number, growth):
    free, memory, texts = queue.SimpleQueue(), [], list(answers)
    for i in range(CONNECTIONS):
        free.put(server.client(PROTOCOLS[i % 2], batch_size=64, timeout=900))

    def request(i):
        rng = random.Random(i)
        chosen = rng.choices(texts, k=rng.randint(1, 64))
        client = free.get()
        said = client.translate(chosen)
        free.put(client)
        assert said == [answers[text] for text in chosen]
        if i % (number // 20) == 0:
            memory.append(server.memory)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(request, range(number)))
    quarter = len(memory) // 4
    # Medians: requests that are under way take some megabytes, now and then.
    assert np.median(memory[-quarter:]) < growth * np.median(memory[:quarter])


LARGE = 10**6  # Bytes.
FLAGGED_REST = {
    "no texts": (b'{"inputs": {"text": []}}', []),
    "an empty string": (b'{"inputs": {"text": [""]}}', [""]),
    "a megabyte": (json.dumps({"inputs": ["x" * LARGE]}).encode(), ["source cut"]),
    "a megabyte of words": (
        json.dumps({"inputs": ["wir " * (LARGE // 4)]}).encode(),
        ["source cut"],
    ),
    "not UTF-8": (b'{"inputs": {"text": ["\xff\xfe wir \xc3"]}}', ["source not UTF-8"]),
    "not UTF-8 in base64": (
        json.dumps({"inputs": [{"b64": base64.b64encode(b"\xc3(").decode()}]}).encode(),
        ["source not UTF-8"],
    ),
}


def post(server, body):
    """Returns the JSON of an answer."""
    request = urllib.request.Request(f"{server.rest}/v1/models/translator:predict", body)
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


@pytest.fixture
def neighbours(server, answers):
    """Good requests the whole time, in the same batches as a test's own, which must stay right."""
    over, right, wrong = threading.Event(), [], []

    def work(protocol):
        client = server.client(protocol, timeout=600)
        while not over.is_set():
            try:
                said = client.translate(list(answers)[:5])
            except OSError as error:
                wrong.append(error)
            else:
                (right if said == list(answers.values())[:5] else wrong).append(said)

    threads = [threading.Thread(target=work, args=(protocol,)) for protocol in PROTOCOLS]
    for thread in threads:
        thread.start()
    wait_until(lambda: right or wrong)
    yield
    before = len(right)
    wait_until(lambda: len(right) > before + 2 or wrong)  # Those that come after it, too.
    over.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_odd_requests_by_rest_are_answered_and_flagged(server, neighbours):
    for name, (body, expected) in FLAGGED_REST.items():
        flags = post(server, body)["outputs"]["flags"]
        assert len(flags) == len(expected)
        for said, flag in zip(flags, expected, strict=True):
            assert flag in said.split(", ") if flag else not said, name


def tensor(texts, shape=None):
    return make_tensor_proto([text.encode() for text in texts], DT_STRING, shape or [len(texts)])


def test_odd_requests_by_grpc_are_answered_and_flagged(server, neighbours):
    texts = [b"\xff\xfe wir \xc3", b"x" * LARGE, b""]
    flags = predict(server, {"text": make_tensor_proto(texts)}).outputs["flags"].string_val
    assert "source not UTF-8" in flags[0].decode() and "source cut" in flags[1].decode()
    assert flags[2] == b""
    assert len(predict(server, {"text": tensor([])}).outputs["flags"].string_val) == 0
    # TensorFlow takes values that are missing for empty ones.
    two = TensorProto(dtype=DT_STRING, tensor_shape=tensor("ab").tensor_shape)
    assert [*predict(server, {"text": two}).outputs["translation"].string_val] == [b"", b""]


def predict(server, inputs):
    with grpc.insecure_channel(server.grpc.removeprefix("grpc://")) as channel:
        request = PredictRequest(inputs=inputs)
        request.model_spec.name = "translator"
        return PredictionServiceStub(channel).Predict(request, timeout=120)


@pytest.mark.prove
def test_the_client_splits_what_a_request_may_not_hold(server, answers, neighbours):
    texts = list(answers) * 120
    assert len(texts) > 10_000
    said = server.client("rest", batch_size=64, timeout=600).translate(texts)
    assert said == [answers[text] for text in texts]


@pytest.mark.prove
@pytest.mark.parametrize("protocol", ["rest", "grpc"])
def test_a_new_version_under_load_fails_no_request_and_mixes_no_answer(tmp_path, protocol):
    write_scripted(tmp_path, 1, "1: ")
    seen, over = [], threading.Event()

    def work(i):
        client = server.client(protocol, batch_size=64, retries=0)
        rng = random.Random(i)
        while not over.is_set():
            texts = [f"{i} {rng.random()}" for _ in range(rng.randint(1, 64))]
            said = client.translate(texts)
            version = said[0][0]
            assert said == [f"{version}: {text}" for text in texts]
            seen.append(version)

    with stand_in(tmp_path, batching=PADDED) as server, ThreadPoolExecutor(8) as pool:
        done = [pool.submit(work, i) for i in range(8)]

        def wait_until_seen(version):
            wait_until(lambda: seen.count(version) > 20 or any(one.done() for one in done))

        with contextlib.ExitStack() as stack:
            stack.callback(over.set)
            wait_until_seen("1")
            for version in "234":
                write_scripted(tmp_path, version, f"{version}: ")
                wait_until_seen(version)
        for one in done:
            one.result()  # Raises what went wrong.
        states = {one.version: one.state for one in server.client(protocol).status()}
        assert states == {4: "AVAILABLE", 3: "END", 2: "END", 1: "END"}
        with pytest.raises(ServerError, match="Servable not found"):
            server.client(protocol, version=1).translate(["x"])
    changes = [
        version for version, before in zip(seen[1:], seen, strict=False) if version != before
    ]
    assert {*seen} == {*"1234"} and "4" in changes
