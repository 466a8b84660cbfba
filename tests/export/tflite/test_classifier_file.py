"""A classifier's TFLite file: what the Keras network says, at static edges, in built-in ops."""

import json
import zipfile

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from kformer import SequenceClassifier, TextClassifier, TransformerEncoder
from kformer.export import export_tflite
from kformer.export.tflite.tflite_classifier import TFLiteClassifierSignatures
from kformer.export.tflite.tflite_signatures import limits_of
from kformer.pocket import PocketClassifier
from kformer.pocket.metadata import read_metadata
from kformer.pocket.pocket_text import text_in
from support import toy
from support.reference import Model, embed, encoder, perturbed, softmax, weights_of

S = toy.SHORT  # Most ids of a text.
SIGNATURES = ["classify", "classify_ids", "encode_text", "tokenize"]
TEXTS = ["", " ", "e\u0301 ﬁ 🐕", *toy.SOURCES[:12]]


@pytest.fixture(scope="module")
def exported(classifier_tflite):
    return classifier_tflite()


@pytest.fixture(scope="module")
def run(exported):
    """The signatures of the file by name."""
    interpreter = Interpreter(str(exported))
    return {name: interpreter.get_signature_runner(name) for name in SIGNATURES}


def bytes_of(text):
    content = text.encode()
    return np.frombuffer(content.ljust(6 * S, b"\0"), np.uint8)


def probabilities_of(classifier, text):
    """Of the paper's equations in NumPy, float64 (C,)."""
    [ids] = classifier.tokenizer.encode([text]).numpy()
    model = Model(weights_of(classifier.classifier), num_heads=2, num_layers=1)
    embedded = embed(ids[None], model.weights["embedding/table"], model)
    vectors = encoder(embedded, np.ones((1, 1, len(ids)), bool), model)
    pooled = vectors[0].mean(axis=0)
    return softmax(pooled @ model.weights["head/kernel"] + model.weights["head/bias"])


def test_bytes_go_in_and_the_label_comes_out_with_its_probability(run, tiny_classifier):
    for text in TEXTS:
        found = run["classify"](source=bytes_of(text))
        expected = probabilities_of(tiny_classifier, text)
        np.testing.assert_allclose(found["probabilities"], expected, atol=1e-4)
        assert text_in(found["label"]) == tiny_classifier.labels[expected.round(6).argmax()]
        assert found["truncated"][0] == 0
    labels = {text_in(run["classify"](source=bytes_of(text))["label"]) for text in toy.SOURCES}
    assert len(labels) > 1


@pytest.mark.prove
def test_of_labels_that_are_equally_probable_the_first_is_chosen(tiny_classifier):
    """As in Python; here the graph itself runs, not the file."""
    network = tiny_classifier.classifier.copy()
    for weight in network.head.weights:
        weight.assign(np.stack([weight[..., 2], weight[..., 1], weight[..., 1]], axis=-1))
    limits = limits_of(tiny_classifier, S)
    signatures = TFLiteClassifierSignatures(tiny_classifier, network, limits, 1, tf.constant)
    found = [signatures.functions["classify"](source=bytes_of(text)) for text in toy.SOURCES]
    said = {text_in(output["label"].numpy()): output["probabilities"].numpy() for output in found}
    assert "sehr gut" in said and "so là là" not in said
    assert said["sehr gut"][1] == said["sehr gut"][2]


@pytest.mark.prove
def test_a_text_may_have_any_number_of_ids(run, tiny_classifier):
    """Whatever the length of the branch that runs it."""
    network = tiny_classifier.classifier
    for count in range(1, S + 1):
        ids = np.random.randint(4, 400, (1, count))
        ids[0, -1] = 3
        found = run["classify_ids"](source=np.pad(ids, ((0, 0), (0, S - count))).astype("int32"))
        np.testing.assert_allclose(found["probabilities"], network.probabilities(ids), atol=1e-4)


def test_its_parts_make_the_whole(run):
    for text in TEXTS:
        ids = run["tokenize"](source=bytes_of(text))["ids"]
        whole = run["classify"](source=bytes_of(text))["probabilities"]
        of_ids = run["classify_ids"](source=ids)["probabilities"]
        np.testing.assert_array_equal(of_ids, whole[None])


def test_the_vector_of_a_text_is_that_of_python(run, tiny_classifier):
    vectors = [run["encode_text"](source=bytes_of(text))["vector"] for text in TEXTS]
    np.testing.assert_allclose(vectors, tiny_classifier.encode(TEXTS), atol=1e-4)


def test_a_text_that_was_cut_says_so(run):
    text = " ".join(toy.SOURCES[:9])[: 6 * S]
    assert run["classify"](source=bytes_of(text))["truncated"][0] == 1
    assert run["encode_text"](source=bytes_of(text))["truncated"][0] == 1


def test_the_first_signature_is_the_one_that_runs_by_itself(exported):
    interpreter = Interpreter(str(exported))
    interpreter.allocate_tensors()
    [source] = interpreter.get_input_details()
    interpreter.set_tensor(source["index"], bytes_of(toy.SOURCES[0]))
    interpreter.invoke()
    [label] = [of for of in interpreter.get_output_details() if of["dtype"] == np.uint8]
    found = text_in(interpreter.get_tensor(label["index"]))
    assert found == PocketClassifier(exported).predict(toy.SOURCES[:1]).labels[0]


def test_at_the_edges_are_int32_uint8_and_float32_in_static_shapes(exported, run):
    assert sorted(Interpreter(str(exported)).get_signature_list()) == SIGNATURES
    shapes = {
        (name, edge): (tuple(of["shape_signature"]), of["dtype"])
        for name, runner in run.items()
        for side in (runner.get_input_details(), runner.get_output_details())
        for edge, of in side.items()
    }
    assert shapes == {
        ("classify", "source"): ((6 * S,), np.uint8),
        ("classify", "label"): ((len("so là là".encode()) + 1,), np.uint8),
        ("classify", "probabilities"): ((3,), np.float32),
        ("classify", "truncated"): ((1,), np.int32),
        ("classify_ids", "source"): ((1, S), np.int32),
        ("classify_ids", "probabilities"): ((1, 3), np.float32),
        ("encode_text", "source"): ((6 * S,), np.uint8),
        ("encode_text", "vector"): ((16,), np.float32),
        ("encode_text", "truncated"): ((1,), np.int32),
        ("tokenize", "source"): ((6 * S,), np.uint8),
        ("tokenize", "ids"): ((1, S), np.int32),
        ("tokenize", "count"): ((1,), np.int32),
        ("tokenize", "truncated"): ((1,), np.int32),
    }


def test_the_file_holds_its_metadata(exported, tiny_classifier):
    said = read_metadata(exported)
    expected = {
        "format": 2,
        "kind": "classifier",
        "labels": list(tiny_classifier.labels),
        "pooling": "mean",
        "licence": "CC0",
        "precision": "float32",
        "num_layers": 1,
        "d_model": 16,
        "vocab_size": 400,
        "parameters": tiny_classifier.classifier.count_params(),
        "padding_id": 0,
        "end_id": 3,
        "max_source_length": S,
        "max_source_bytes": 6 * S,
        "lengths": [16, S],
        "batches": {},
    }
    assert expected.items() <= said.items()
    assert sorted(said["signatures"]) == SIGNATURES


def test_an_app_can_check_itself(exported, tiny_classifier):
    with zipfile.ZipFile(exported) as archive:
        vectors = json.loads(archive.read("test_vectors.json"))
    texts = [vector["text"] for vector in vectors]
    assert texts == toy.SOURCES[:8]  # The first, which is too long for the file, is left out.
    labels, probabilities = tiny_classifier.predict(texts)
    assert [vector["label"] for vector in vectors] == labels
    found = [vector["probabilities"] for vector in vectors]
    np.testing.assert_allclose(found, probabilities, atol=1e-4)
    ids = [row.tolist() for row in tiny_classifier.tokenizer.encode(texts[:1]).numpy()]
    assert [vector["ids"] for vector in vectors[:1]] == ids


@pytest.mark.parametrize("precision", ["float16", "int4"])
@pytest.mark.prove
def test_other_precisions_have_smaller_files_and_nearly_the_same_probabilities(
    classifier_tflite, tiny_classifier, precision
):
    path = classifier_tflite(precision)
    assert path.stat().st_size < classifier_tflite().stat().st_size
    found = PocketClassifier(path).predict(toy.SOURCES).probabilities
    expected = tiny_classifier.predict(toy.SOURCES).probabilities
    assert np.abs(found - expected).mean() < {"float16": 1e-3, "int4": 0.1}[precision]


@pytest.mark.prove
def test_an_int8_file_stores_its_table_once_in_a_byte_a_number(classifier_tflite):
    path = classifier_tflite("int8", 3)
    buffers = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0).buffers
    stored = [buffer.data for buffer in buffers if buffer.data is not None]
    assert sum(len(data) == 400 * 16 for data in stored) == 1
    assert not any(len(data) == 4 * 400 * 16 for data in stored)


@pytest.mark.prove
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_a_classifier_of_other_settings_says_what_it_says_in_python(tokenizer, tmp_path, pooling):
    encoder = TransformerEncoder(400, 3, 16, 2, 24, norm_first=True, activation="gelu")
    network = perturbed(SequenceClassifier(perturbed(encoder), 2, pooling))
    classifier = TextClassifier(tokenizer, network, ["no", "yes"])
    path = export_tflite(classifier, tmp_path / "other.tflite")
    texts = [*toy.SOURCES[:9], " ".join(toy.SOURCES[:4])]
    found, expected = (one.predict(texts) for one in (PocketClassifier(path), classifier))
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-4)


@pytest.mark.parametrize("wrong", [{"beam_size": 4}, {"length_penalty": 1.0}])
def test_a_classifier_does_not_search(tiny_classifier, tmp_path, wrong):
    with pytest.raises(ValueError, match=r"A classifier does not search\. Received: beam_size="):
        export_tflite(tiny_classifier, tmp_path / "c.tflite", **wrong)
    assert not any(tmp_path.iterdir())


def test_the_length_must_be_one_that_the_classifier_has(tiny_classifier, tmp_path):
    with pytest.raises(ValueError, match=r"the classifier's 256\. Received: max_source_length=257"):
        export_tflite(tiny_classifier, tmp_path / "c.tflite", max_source_length=257)
