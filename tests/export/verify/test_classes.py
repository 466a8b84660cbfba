"""A classifier's SavedModel is compared with Python, and refused where it differs."""

import json

import numpy as np
import pytest
import tensorflow as tf

from kformer import Predictions
from kformer.export import ServedClassifier
from kformer.export.verify.classes import check_classes
from support import toy

TEXTS = [*toy.SOURCES[:9], "", "das häus 🐕", "uns " * 300]  # The last one is cut.


@pytest.fixture
def served(classifier_saved_model):
    return ServedClassifier(classifier_saved_model)


def test_equal_answers_agree(tiny_classifier, served):
    found = check_classes(tiny_classifier, served, TEXTS)
    assert (found["texts"], found["equal"], found["ties"]) == (12, 12, 0)
    assert all(0 <= difference < 1e-5 for difference in found["largest_differences"].values())
    assert check_classes(tiny_classifier, served, [])["texts"] == 0


def test_what_was_compared_is_in_the_report(classifier_saved_model):
    report = json.loads((classifier_saved_model / "assets.extra" / "kformer.json").read_text())
    assert report["checked"]["equal"] == 80 and len(report["checked"]["texts_sha256"]) == 64


def test_another_label_is_refused(tiny_classifier, served, monkeypatch):
    labels, probabilities = tiny_classifier.predict(TEXTS[:3])
    others = [labels[0], tiny_classifier.labels[probabilities[1].argmin()], labels[2]]
    monkeypatch.setattr(served, "predict", lambda texts: Predictions(others, probabilities))
    rule = rf"that Python gives. Received: '{others[1]}' of '{TEXTS[1]}', .* says '{labels[1]}'"
    with pytest.raises(ValueError, match=rule):
        check_classes(tiny_classifier, served, TEXTS[:3])


def test_a_label_that_is_as_probable_is_a_tie(tiny_classifier, served, monkeypatch):
    _, probabilities = tiny_classifier.predict(TEXTS[:2])
    close = np.array([probabilities[0], [0.49996, 0.50004, 0.0]], np.float32)
    answers = [
        Predictions([tiny_classifier.labels[i] for i in own], close) for own in ((0, 1), (0, 0))
    ]
    monkeypatch.setattr(tiny_classifier, "predict", lambda texts: answers[0])
    monkeypatch.setattr(served, "predict", lambda texts: answers[1])
    found = check_classes(tiny_classifier, served, TEXTS[:2])
    assert (found["equal"], found["ties"]) == (1, 1)


@pytest.mark.parametrize("change", [2e-4, np.nan])
@pytest.mark.parametrize("method", ["predict", "encode"])
def test_other_numbers_are_refused(tiny_classifier, served, monkeypatch, method, change):
    answer = getattr(tiny_classifier, method)(TEXTS[:3])
    if method == "predict":
        answer.probabilities[1, 2] += change
    else:
        answer[1, 2] += 10 * change
    monkeypatch.setattr(served, method, lambda texts: answer)
    with pytest.raises(
        ValueError, match=r"as Python does. Received: largest differences .*, and 0"
    ):
        check_classes(tiny_classifier, served, TEXTS[:3])


def test_other_ids_are_refused(tiny_classifier, served):
    tokenize = served.signatures["tokenize"]

    def wrong(text):
        answer = tokenize(text=text)
        return {**answer, "ids": tf.where(answer["ids"] == 3, 4, answer["ids"])}

    served.signatures["tokenize"] = wrong
    with pytest.raises(ValueError, match="and 3 of 3 texts with other ids"):
        check_classes(tiny_classifier, served, TEXTS[:3])


def test_labels_in_another_order_are_refused(tiny_classifier, served):
    served.labels = tiny_classifier.labels[::-1]
    with pytest.raises(ValueError, match=r"in their order. Received: \('so là là', .* export"):
        check_classes(tiny_classifier, served, TEXTS[:3])
