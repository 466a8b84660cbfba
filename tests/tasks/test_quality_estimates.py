import dataclasses

import keras
import numpy as np
import pytest

import kformer
from kformer.decoding.batch_decoder import Hypothesis
from kformer.inference.quality_estimate import FEATURES, QualityEstimate, rank_correlation
from kformer.kinds import TRANSLATOR
from kformer.server.hosted_signatures import signatures_of
from kformer.serving.request_rows import read_best
from kformer.tasks.quality_estimates import QualityInGraph
from support import toy

TEXTS = ["", *toy.SOURCES[:5], "XQ ZZ", toy.SOURCES[5] * 2]


@pytest.fixture
def rated(toy_translator, monkeypatch):
    """The toy translator with a quality estimate: the mean log-probability and the rest a bit."""
    weights = {**dict.fromkeys(FEATURES, 0.05), "log_probability": 2.0}
    estimate = QualityEstimate(weights, 1.5, threshold=0.6)
    monkeypatch.setattr(toy_translator, "quality_estimate", estimate)
    return toy_translator


def qualities(translator, texts, **settings):
    answers = translator.translations(texts, details=False, **settings)
    return [best.quality for best, *_ in answers]


def test_neither_batches_nor_order_nor_details_change_an_estimate(rated):
    alone = qualities(rated, TEXTS, batch_size=1)
    assert qualities(rated, TEXTS[::-1], batch_size=8)[::-1] == pytest.approx(alone, abs=1e-4)
    detailed = [best.quality for best, *_ in rated.translations(TEXTS)]
    assert detailed == pytest.approx(alone, abs=1e-4)
    sentences = [split.sentences for split in rated.split_translations(TEXTS[1:3])]
    assert [part.quality for [part] in sentences] == pytest.approx(alone[1:3], abs=1e-4)


def test_unsure_translations_are_flagged_and_blank_ones_are_sure(rated):
    threshold = np.median(qualities(rated, TEXTS))
    rated.quality_estimate = dataclasses.replace(rated.quality_estimate, threshold=threshold)
    answers = [best for best, *_ in rated.translations(TEXTS, details=False)]
    assert answers[0].quality == 1.0
    unsure = ["unsure" in answer.flags for answer in answers]
    assert unsure == [answer.quality < threshold for answer in answers]
    assert {*unsure} == {True, False}


@pytest.mark.parametrize("options", [{}, {"beam_size": 3, "length_penalty": 2.0}])
def test_a_graph_rates_ids_as_python_does(rated, options):
    options = kformer.SearchOptions(**options)
    rows = rated.source_rows(TEXTS)
    targets = rated.target_tokenizer.encode([*toy.TARGETS[:7], ""]).numpy()
    hypotheses = [
        Hypothesis(row[row != rated.target_tokenizer.padding_id].tolist(), -1.0 - i, ended=True)
        for i, row in enumerate(targets)
    ]
    python = [*map(rated._quality_of(options), rows, hypotheses)]
    source = keras.utils.pad_sequences(rows, padding="post", value=rated.tokenizer.padding_id)
    scores = np.array([hypothesis.score for hypothesis in hypotheses], "float32")
    graph = QualityInGraph(rated, options)(source, targets, scores)
    np.testing.assert_allclose(graph, python, atol=1e-4)
    assert python[0] == 1.0 and min(python) < 0.9


def test_a_server_answers_with_the_quality(rated):
    signature = signatures_of(rated, TRANSLATOR)["serving_default"]
    assert signature.outputs["quality"] == ("DT_FLOAT", 1)
    rows = signature.answer({"text": TEXTS[1:3]})
    expected = qualities(rated, TEXTS[1:3])
    assert [row["quality"] for row in rows] == pytest.approx(expected, abs=1e-4)
    assert [read_best(row)[0].quality for row in rows] == [row["quality"] for row in rows]


@pytest.mark.prove
def test_a_beam_and_greedy_search_rate_the_same_translation_alike(rated):
    greedy = rated.translations(TEXTS[1:4], details=False)
    beam = rated.translations(TEXTS[1:4], kformer.SearchOptions(beam_size=3), details=False)
    pairs = [(a[0], b[0]) for a, b in zip(greedy, beam, strict=True) if a[0].text == b[0].text]
    assert pairs
    for first, second in pairs:
        assert first.quality == pytest.approx(second.quality, abs=1e-4)


@pytest.mark.prove
def test_a_saved_translator_an_ensemble_and_a_copy_keep_the_estimate(rated, tmp_path):
    rated.save(tmp_path / "rated.keras")
    loaded = kformer.Translator.load(tmp_path / "rated.keras")
    assert loaded.quality_estimate == rated.quality_estimate
    ensemble = kformer.Ensemble([loaded])
    assert qualities(ensemble, TEXTS) == pytest.approx(qualities(loaded, TEXTS), abs=1e-4)


def test_without_a_calibration_there_is_no_estimate(toy_translator):
    [[best]] = toy_translator.translations(TEXTS[1:2], details=False)
    assert (best.quality, "unsure" in best.flags) == (None, False)


def test_calibration_ranks_right_translations_above_wrong_ones(toy_translator, monkeypatch):
    monkeypatch.setattr(toy_translator, "quality_estimate", None)
    sources, targets = (np.resize(lines, 104).tolist() for lines in (toy.SOURCES, toy.TARGETS))
    doubt = toy_translator.calibrate(sources, targets)
    assert doubt.total == 104
    texts = [*toy.SOURCES[:8], *(text[::-1] + "Q" for text in toy.SOURCES[:8])]
    order = rank_correlation(np.array(qualities(toy_translator, texts)), np.arange(16) < 8)
    assert order > 0.7


def test_a_calibration_needs_a_hundred_pairs_with_text(toy_translator):
    with pytest.raises(ValueError, match="Received: 99 pairs"):
        toy_translator.calibrate(["a"] * 99 + [" "], ["b"] * 100)


def test_an_estimate_is_one_or_its_config(toy_translator):
    with pytest.raises(TypeError, match="Received: quality_estimate=3"):
        toy_translator.quality_estimate = 3
