"""The SavedModel of a classifier: what Python says, of any text; see `test_signatures`, too."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.export import ServedClassifier, ServedTranslator, export_saved_model
from kformer.export.saved_model.saved_classifier import SavedClassifierSignatures
from kformer.export.saved_model.warmup import batch_limits
from support import toy
from support.serving.warmup_requests import asked

ODD = ["", "   ", "der 🐕‍🦺 sucht das häus .", "日本 e\u0301 ﬁ ½", "ruft\x00wir", "\x00", "\ud800"]
TEXTS = [*toy.SOURCES[:20], *ODD, "wir ruft uns .\x00\x00"]


@pytest.fixture(scope="module")
def served(classifier_saved_model):
    return ServedClassifier(classifier_saved_model)


def softmax_of(classifier, texts):
    """The probabilities of each text alone, by NumPy, from the logits of the Keras network."""
    rows = []
    for ids in classifier.source_rows(texts):
        [logits] = np.asarray(classifier.network(np.array([ids])), np.float64)
        rows.append(np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum())
    return np.array(rows)


def test_probabilities_are_the_softmax_of_the_network(served, tiny_classifier):
    expected = softmax_of(tiny_classifier, TEXTS)
    labels, probabilities = served.predict(TEXTS)
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    assert labels == [tiny_classifier.labels[i] for i in expected.argmax(axis=1)]
    assert probabilities.dtype == np.float32


def test_the_model_that_is_compared_tells_texts_apart(tiny_classifier):
    """The test above must not pass because all answers are alike."""
    labels, probabilities = tiny_classifier.predict(TEXTS)
    assert len({*labels}) > 1 and len(np.unique(probabilities.round(3), axis=0)) > 20


def test_it_answers_as_python_whatever_the_batch(served, tiny_classifier):
    expected = tiny_classifier.predict(TEXTS)
    for batch_size in (1, 7, 32):
        found = served.predict(TEXTS, batch_size)
        assert found.labels == expected.labels
        np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-5)
    np.testing.assert_allclose(served.encode(TEXTS), tiny_classifier.encode(TEXTS), atol=1e-5)


def test_no_text_gives_no_rows(served):
    labels, probabilities = served.predict([])
    assert labels == [] and probabilities.shape == (0, 3)
    assert served.encode([]).shape == (0, 16)


def test_labels_are_in_the_order_of_the_probabilities(served, tiny_classifier):
    assert served.labels == tiny_classifier.labels
    for kind in ("serving_default", "classify"):
        answer = asked(served.signatures, kind, text=["wir", ""])
        assert answer["labels"] == [[*tiny_classifier.labels]] * 2


def test_the_default_signature_is_that_which_classifies(served):
    default, classify = (
        asked(served.signatures, name, text=toy.SOURCES[:5])
        for name in ("serving_default", "classify")
    )
    assert default == classify


def test_equal_probabilities_give_the_first_label(tiny_classifier):
    network = tiny_classifier.network.copy()
    for weight in network.head.weights:
        weight.assign(keras.ops.zeros_like(weight))
    limits = batch_limits(256, targets=False)
    answer = SavedClassifierSignatures(tiny_classifier, network, limits).classify(
        tf.constant(["wir"])
    )
    assert answer["label"].numpy().tolist() == [tiny_classifier.labels[0].encode()]
    np.testing.assert_allclose(answer["probabilities"], [[1 / 3] * 3], rtol=1e-6)


def test_progress_counts_texts(served):
    done = []
    served.predict(toy.SOURCES[:5], batch_size=2, progress=done.append)
    assert done == [2, 2, 1]


def test_of_a_long_text_the_beginning_counts_and_a_warning_says_so(served, tiny_classifier):
    texts = ["wir", "uns " * 300]
    with pytest.warns(UserWarning, match="Sentence 2 has .* over the limit of 256"):
        expected = tiny_classifier.predict(texts)
    with pytest.warns(UserWarning, match="Sentence 2 is over .* beginning was classified") as told:
        found = served.predict(texts)
    assert found.labels == expected.labels
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-5)
    assert [one.filename for one in told] == [__file__]  # Of the caller.


def test_the_report_has_the_labels(classifier_saved_model, tiny_classifier):
    report = json.loads((classifier_saved_model / "assets.extra" / "kformer.json").read_text())
    assert (report["kind"], report["labels"]) == ("classifier", [*tiny_classifier.labels])
    assert report["max_batch_tokens"] == 64 * 256 and "beam_size" not in report


def test_weights_are_stored_once(classifier_saved_model, tiny_classifier):
    parameters = tiny_classifier.network.count_params()
    [weights] = (classifier_saved_model / "variables").glob("*.data-*")
    assert 4 * parameters <= weights.stat().st_size < 6 * parameters


@pytest.mark.prove
def test_each_folder_is_loaded_as_what_it_holds(classifier_saved_model, toy_saved_model):
    assert type(kformer.load(classifier_saved_model.parent)) is ServedClassifier
    with pytest.raises(ValueError, match=r"from `text` to `translation`\. Received: path="):
        ServedTranslator(classifier_saved_model)
    with pytest.raises(ValueError, match=r"from `text` to `label`\. Received: path="):
        ServedClassifier(toy_saved_model)


def test_a_kind_that_a_newer_version_wrote_is_refused(tmp_path):
    (tmp_path / "1" / "assets.extra").mkdir(parents=True)
    (tmp_path / "1" / "assets.extra" / "kformer.json").write_text('{"kind": "painter"}')
    with pytest.raises(ValueError, match=r"language_model, tagger\. Received: kind='painter'"):
        kformer.load(tmp_path)


def test_a_classifier_has_no_search(tiny_classifier, tmp_path):
    with pytest.raises(ValueError, match=r"not search\. Received: beam_size=4, length_penalty=0.6"):
        export_saved_model(tiny_classifier, tmp_path, beam_size=4)
    with pytest.raises(ValueError, match=r"the longest text\. Received: max_batch_tokens=255"):
        export_saved_model(tiny_classifier, tmp_path, max_batch_tokens=255)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.prove
def test_compiled_it_answers_the_same(tiny_classifier, tmp_path):
    path = export_saved_model(tiny_classifier, tmp_path, xla=True)
    expected = tiny_classifier.predict(TEXTS)
    found = ServedClassifier(path).predict(TEXTS, batch_size=7)  # 16 with those of padding.
    assert found.labels == expected.labels
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-5)
    graph = (path / "saved_model.pb").read_bytes()
    assert b"_XlaMustCompile" in graph
