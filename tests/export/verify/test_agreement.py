"""An export's other signatures are compared with Python, and refused where they differ."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from kformer import SearchOptions
from kformer.export.verify.agreement import SENTENCES, check_vectors
from kformer.export.verify.translations import Translations
from kformer.pocket import PocketTranslator
from support import toy
from support.serving.warmup_requests import signatures_of

TEXTS = [*toy.SOURCES[:9], "", "das häus 🐕"]


@pytest.fixture(scope="module")
def signatures(toy_saved_model):
    return signatures_of(toy_saved_model)


def agreement(translator, signatures, texts):
    served = SimpleNamespace(signatures=signatures)
    return Translations(translator, SearchOptions()).compare_signatures(served, texts)


@pytest.mark.prove
def test_equal_signatures_agree(toy_translator, signatures):
    found = agreement(toy_translator, signatures, TEXTS)
    assert (found["sentences"], found["tokenize"], found["beam"]) == (11, 11, 11)
    assert 0 < max(found["largest_differences"].values()) < 1e-4


@pytest.mark.prove
def test_no_more_sentences_than_are_needed_are_compared(toy_translator, signatures):
    assert agreement(toy_translator, signatures, TEXTS * 9)["sentences"] == SENTENCES
    assert agreement(toy_translator, signatures, []) == {"sentences": 0}


@pytest.mark.prove
@pytest.mark.parametrize(
    ("signature", "output"),
    [("beam", "score"), ("score", "log_probability"), ("encode", "vector"), ("tokenize", "ids")],
)
def test_a_difference_is_refused(toy_translator, signatures, signature, output):
    def wrong(**inputs):
        answer = signatures[signature](**inputs)
        changed = np.array(answer[output])
        changed[3, ...] += 1
        return {**answer, output: tf.constant(changed)}

    wrong.structured_outputs = signatures[signature].structured_outputs

    with pytest.raises(ValueError, match=r"as Python does\. Received: largest"):
        agreement(toy_translator, {**signatures, signature: wrong}, TEXTS)


def test_other_vectors_of_a_file_are_refused(toy_translator, short_tflite, monkeypatch):
    pocket = PocketTranslator(short_tflite())
    check_vectors(toy_translator, pocket, [*TEXTS, "wir " * 99])  # The last one is cut.
    monkeypatch.setattr(pocket, "encode", lambda texts: toy_translator.encode(texts) + 0.01)
    with pytest.raises(ValueError, match=r"must equal Python's\. Received: a difference of 0\.0"):
        check_vectors(toy_translator, pocket, TEXTS)


def test_the_report_in_an_export_says_what_was_compared(toy_served, toy_exports):
    checked = json.loads((toy_served / "1" / "assets.extra" / "kformer.json").read_text())[
        "checked"
    ]
    assert checked["sentences"] == checked["equal"] + checked["ties"] == 16
    assert f"{checked['bleu']:.2f}  16 of 16\n" in toy_exports.stdout
    assert checked["other_signatures"]["sentences"] == 16
    assert len(checked["sentences_sha256"]) == 64
    assert toy.SOURCES[toy.HELD_OUT][0] in (toy_served / "README.md").read_text("utf-8")
