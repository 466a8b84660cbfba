"""Warm-up requests: records that a server reads, of every signature, in several shapes."""

from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from kformer.export.saved_model.graph_search import shapes
from kformer.export.saved_model.warmup import (
    BATCHES,
    FILE,
    Examples,
    Request,
    examples_of,
    prediction_log,
    requests,
    write_warmup,
)
from support import toy

INPUTS = {"serving_default": ["text"], "score": ["source", "target"]}


@pytest.fixture(scope="module")
def examples(toy_translator):
    sources = examples_of(toy_translator.tokenizer, ["", *toy.SOURCES])
    targets = Examples(toy.TARGETS, toy_translator.target_tokenizer)
    return {"text": sources, "source": sources, "target": targets}


def logs(path):
    return [PredictionLog.FromString(record.numpy()) for record in tf.data.TFRecordDataset(path)]


def ids(tokenizer, texts):
    return (tokenizer.tokenize(texts).row_lengths() + 1).numpy()


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["translator", "classifier"])
def test_the_records_of_an_export_ask_every_signature(request, kind):
    fixtures = {"translator": "toy_saved_model", "classifier": "classifier_saved_model"}
    path = request.getfixturevalue(fixtures[kind])
    signatures = tf.saved_model.load(str(path)).signatures
    found = logs(str(path / FILE))
    requests = [log.predict_log.request for log in found]
    counts = Counter(request.model_spec.signature_name for request in requests)
    assert {*counts} == {*signatures}
    assert len(set(counts.values())) == 1 and len(requests) < 1000  # A server reads no more.
    for request in requests:
        assert request.model_spec.name == kind
        inputs = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        wanted = signatures[request.model_spec.signature_name].structured_input_signature[1]
        assert {*inputs} == {*wanted}
        assert len({len(texts) for texts in inputs.values()}) == 1
        for texts in inputs.values():
            assert texts.dtype == object and texts.ndim == 1
            assert all(text.decode("utf-8").strip() for text in texts)
    sizes = {request.inputs["text"].tensor_shape.dim[0].size for request in requests[:7]}
    assert sizes == {*BATCHES}


def test_a_record_is_what_the_servers_own_messages_make_of_it():
    texts = ["wir", "", "é" * 300]
    request = Request("score", {"source": texts, "target": ["we", "a\x00", "x" * 20_000]})
    log = PredictionLog()
    asked = log.predict_log.request
    asked.model_spec.name, asked.model_spec.signature_name = "translator", "score"
    for name, values in request.inputs.items():
        asked.inputs[name].CopyFrom(tf.make_tensor_proto(np.array(values, object)))
    read = PredictionLog.FromString(prediction_log(request, "translator"))
    assert read == log
    assert not read.predict_log.request.DiscardUnknownFields()


def test_lengths_differ_and_the_longest_is_nearly_the_limit(examples, toy_translator):
    found = [*requests(INPUTS, examples, 128, 4096, xla=False)]
    assert {request.signature for request in found} == {*INPUTS}
    tokenizer = toy_translator.tokenizer
    lengths = {ids(tokenizer, request.inputs["text"]).max() for request in found[:7]}
    assert len(lengths) == 3
    assert 64 < max(lengths) <= 128
    [score] = [r for r in found[7:] if len(r.inputs["source"]) == 1][-1:]
    assert ids(tokenizer, score.inputs["target"]).max() > 64


def test_warmup_requests_have_every_compiled_shape(examples, toy_translator):
    found = requests({"beam": ["text"]}, examples, 100, 4096, xla=True)
    classes = [16, 32, 64, 100]
    seen = []
    for request in found:
        longest = ids(toy_translator.tokenizer, request.inputs["text"]).max()
        length = next(length for length in classes if longest <= length)
        seen.append((len(request.inputs["text"]), length))
    assert seen == shapes(100, 4096)


def test_examples_are_sentences_that_are_not_blank_or_words_of_the_vocabulary(toy_translator):
    tokenizer = toy_translator.tokenizer
    assert examples_of(tokenizer, ["", " ", *toy.SOURCES]).sentences == toy.SOURCES[:8]
    for nothing in (None, [], ["", "  "]):
        words = examples_of(tokenizer, nothing).sentences
        assert len({*words}) > 4 and all(text.strip() for text in words)


def test_the_report_has_the_number_of_records(tmp_path):
    request = Request("tokenize", {"text": ["wir"]})
    assert write_warmup(tmp_path, [request] * 3, "translator") == 3
    assert len(logs(str(tmp_path / FILE))) == 3
