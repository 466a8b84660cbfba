"""A classifier's SavedModel is compared with Python, and refused where it differs."""

import json

import numpy as np
import pytest
import tensorflow as tf

from kformer import Predictions, SearchOptions
from kformer.export import ServedClassifier, Verifier
from kformer.export.verify.classifications import Classifications
from support import toy

TEXTS = [*toy.SOURCES[:9], "", "das häus 🐕", "uns " * 300]  # The last one is cut.


@pytest.fixture
def served(classifier_saved_model):
    return ServedClassifier(classifier_saved_model)


def test_equal_answers_agree(tiny_classifier, served):
    kind = Classifications(tiny_classifier, SearchOptions())
    found = kind.compare_signatures(served, TEXTS[:-1])
    assert (found["sentences"], found["tokenize"]) == (11, 11)
    assert 0 <= found["largest_differences"]["encode"] < 1e-5
    assert kind.compare_signatures(served, []) == {"sentences": 0}


def test_what_was_compared_is_in_the_report(classifier_saved_model):
    report = json.loads((classifier_saved_model / "assets.extra" / "kformer.json").read_text())
    checked = report["checked"]
    assert (checked["sentences"], checked["equal"], checked["ties"]) == (80, 80, 0)
    assert 0 < checked["accuracy"] == checked["accuracy_of_python"] < 1
    assert len(checked["sentences_sha256"]) == 64
    assert checked["other_signatures"]["sentences"] == 64


def test_another_label_is_refused(tiny_classifier, served, monkeypatch, tmp_path):
    labels, probabilities = tiny_classifier.predict(TEXTS[:3])
    labels[1] = tiny_classifier.labels[probabilities[1].argmin()]
    wrong = Predictions(labels, probabilities)
    verifier = Verifier(tiny_classifier, TEXTS[:3])
    monkeypatch.setattr(served, "predict", lambda texts: wrong)
    with pytest.raises(ValueError, match="1 of 3 sentences otherwise from the SavedModel"):
        verifier.verify_served(served, tmp_path)


@pytest.mark.sample(2)
@pytest.mark.parametrize("change", [2e-3, np.nan])
def test_other_vectors_are_refused(tiny_classifier, served, change):
    encode = served.signatures["encode"]
    served.signatures["encode"] = lambda text: {"vector": encode(text=text)["vector"] + change}
    with pytest.raises(ValueError, match=r"Python does\. Received: largest differences .*, and 0 "):
        Classifications(tiny_classifier, SearchOptions()).compare_signatures(served, TEXTS[:3])


def test_other_ids_are_refused(tiny_classifier, served):
    tokenize = served.signatures["tokenize"]

    def wrong(text):
        answer = tokenize(text=text)
        return {**answer, "ids": tf.where(answer["ids"] == 3, 4, answer["ids"])}

    served.signatures["tokenize"] = wrong
    with pytest.raises(ValueError, match="and 3 sentences with other ids"):
        Classifications(tiny_classifier, SearchOptions()).compare_signatures(served, TEXTS[:3])


def test_labels_in_another_order_are_refused(tiny_classifier, served):
    served.labels = tiny_classifier.labels[::-1]
    with pytest.raises(ValueError, match=r"in their order. Received: \('so là là', .* export"):
        Classifications(tiny_classifier, SearchOptions()).compare_signatures(served, TEXTS[:3])
