"""Every form links the words of given translations by the attention that the `.keras` file has."""

import dataclasses

import numpy as np
import pytest

import kformer
from kformer.export import export_ctranslate2

TEXTS = ["der hund sucht den baum .", "die katze sieht uns .", "wir malt ein bild .", "", "der"]
HEAD = kformer.AlignmentHead(1, 1)


def assert_aligned_alike(form, translator, targets):
    assert form.facts.aligns
    expected = translator.align(TEXTS, targets)
    for one, other in zip(form.align(TEXTS, targets), expected, strict=True):
        assert (one.source, one.target, one.links) == (other.source, other.target, other.links)
        np.testing.assert_allclose(one.weights, other.weights, atol=2e-4)
    assert form.align(TEXTS[0], targets[0]).links == expected[0].links
    done = []
    form.align(TEXTS, targets, progress=done.append)
    assert sum(done) == len(TEXTS)


@pytest.fixture(scope="module")
def targets(toy_translator):
    return [*toy_translator.translate(TEXTS[:3], split=False), "", "the the"]


def test_a_saved_model_aligns_words(toy_translator, toy_saved_model, targets):
    assert_aligned_alike(kformer.load(toy_saved_model), toy_translator, targets)


def test_a_folder_of_ctranslate2_aligns_words(toy_translator, targets, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    translator = toy_translator.copy()
    for head in (None, HEAD):
        translator.alignment_head = head
        folder = export_ctranslate2(translator, tmp_path / str(head))
        assert_aligned_alike(kformer.load(folder), translator, targets)


def test_a_form_that_cannot_align_says_which_can(toy_saved_model, monkeypatch):
    served = kformer.load(toy_saved_model)
    older = dataclasses.replace(served.facts, aligns=False)
    monkeypatch.setitem(vars(served.engine), "facts", older)
    with pytest.raises(ValueError, match=r"by a SavedModel .*Received: ServedTranslator"):
        served.align(["a"], ["b"])
    with pytest.raises(ValueError, match="Received: 1 sources, 0 targets"):
        served.align(["a"], [])
