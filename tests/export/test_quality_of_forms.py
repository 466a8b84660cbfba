"""Every form of a translator estimates the quality of its translations as Python does."""

import json

import numpy as np
import pytest

import kformer
from kformer.export import export_ctranslate2, export_saved_model, export_tflite
from kformer.inference.engine import SearchRequest
from kformer.inference.quality_estimate import FEATURES, QualityEstimate
from support import toy

pytestmark = pytest.mark.prove
TEXTS = ["", *toy.SOURCES[:9], "XQ ZZ", "12 é"]


@pytest.fixture(scope="module")
def rated(toy_keras):
    """The toy translator with a quality estimate that flags some of the texts."""
    translator = kformer.Translator.load(toy_keras)
    weights = {**dict.fromkeys(FEATURES, 0.05), "log_probability": 2.0}
    translator.quality_estimate = QualityEstimate(weights, 1.5, threshold=0.8)
    return translator


@pytest.fixture(
    scope="module", params=["tflite", "tflite batch", "int8", "saved_model", "ctranslate2"]
)
def form(request, rated, tmp_path_factory):
    """An export of the translator, with three beams."""
    folder = tmp_path_factory.mktemp("exports")
    if request.param == "saved_model":
        return kformer.load(export_saved_model(rated, folder / "model", beam_size=3))
    if request.param == "ctranslate2":
        pytest.importorskip("ctranslate2")
        return kformer.load(export_ctranslate2(rated, folder / "model", beam_size=3))
    batch = 4 if request.param.endswith("batch") else 1
    precision = "int8" if request.param == "int8" else "float32"
    path = folder / "model.tflite"
    options = {"precision": precision, "batch_size": batch, "max_source_length": 40}
    return kformer.load(export_tflite(rated, path, beam_size=3, **options))


def best(translator, texts, **settings):
    return [answers[0] for answers in translator.translations(texts, **settings)]


def test_forms_estimate_the_quality_of_a_translation_as_python_does(rated, form):
    assert form.quality_estimate == rated.quality_estimate
    expected = best(rated, TEXTS, options=kformer.SearchOptions(beam_size=3), details=False)
    same = [
        pair for pair in zip(expected, best(form, TEXTS), strict=True) if len({*_texts(pair)}) == 1
    ]
    assert len(same) > 8 and {"unsure" in first.flags for first, _ in same} == {True, False}
    exact = getattr(form, "manifest", {}).get("precision") != "int8"
    tolerance = 1e-3 if exact else 0.1
    differences = [abs(first.quality - second.quality) for first, second in same]
    assert max(differences) < tolerance
    if exact:
        assert [first.flags for first, _ in same] == [second.flags for _, second in same]


def _texts(pair):
    return [translation.text for translation in pair]


def test_neither_order_nor_number_of_texts_changes_an_estimate(form):
    several = [translation.quality for translation in best(form, TEXTS[::-1] * 2)]
    alone = [best(form, [text])[0].quality for text in TEXTS]
    np.testing.assert_allclose(several, [*alone[::-1]] * 2, atol=1e-3)
    parts = [split.sentences[0].quality for split in form.split_translations(TEXTS[1:4])]
    np.testing.assert_allclose(parts, alone[1:4], atol=1e-3)


def test_the_estimate_of_a_given_translation_is_that_of_the_search(rated, tmp_path):
    served = kformer.load(export_saved_model(rated, tmp_path / "model"))
    assert json.loads(json.dumps(served.report["quality_estimate"]))["threshold"] == 0.8
    answers = best(served, TEXTS[1:4])
    request = SearchRequest(served.facts.search)
    rated = served.engine.rate(TEXTS[1:4], [answer.text for answer in answers], request)
    expected = [answer.quality for answer in answers]
    assert [each.candidate.quality for each in rated] == pytest.approx(expected, abs=1e-3)
