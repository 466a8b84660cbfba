import dataclasses

import keras
import numpy as np
import pytest
from scipy import stats

from kformer.inference.quality_estimate import (
    FEATURES,
    FLOORED,
    SIGNS,
    Evidence,
    QualityEstimate,
    disturbed_pairs,
    doubt_of,
    fit_estimate,
    rank_correlation,
)


def evidence(number, seed=0):
    """Returns the `Evidence` of `number` translations."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(1, 30, (2, number)).astype("float32")
    return Evidence(
        log_probability=(-rng.exponential(size=number) * target).astype("float32"),
        length=target + 1,
        source=source,
        target=target,
        words=np.ceil(source * rng.uniform(0.2, 1, number)).astype("float32"),
    )


def estimate(threshold=0.4, **weights):
    return QualityEstimate({**dict.fromkeys(FEATURES, 0.1), **weights}, 0.5, threshold)


def test_numbers_arrays_and_tensors_give_the_same_quality():
    rows, rated = evidence(7), estimate(log_probability=1.5, fragmentation=-0.7)
    expected = [rated.quality(Evidence(*map(float, row))) for row in zip(*rows, strict=True)]
    np.testing.assert_allclose(rated.quality(rows), expected, rtol=1e-5)
    tensors = Evidence(*map(keras.ops.convert_to_tensor, rows))
    np.testing.assert_allclose(rated.quality(tensors, keras.ops), expected, rtol=1e-4)


def test_a_certain_translation_and_an_impossible_one_have_a_finite_quality():
    log_probability = np.array([0.0, -1e9], "float32")
    rows = Evidence(log_probability, *np.ones((4, 2), "float32"))
    first, second = estimate(log_probability=1.0).quality(rows)
    assert 0 < second < first < 1


def test_a_fit_finds_the_weights_that_made_the_scores():
    rows, is_plain = evidence(997), np.arange(997) < 601
    features = dict(zip(FEATURES, rows.features(), strict=True))
    floors = {name: np.quantile(features[name][is_plain], 0.95) for name in FLOORED}
    hidden = dataclasses.replace(
        estimate(log_probability=1.1, length_ratio=0.4, fragmentation=-1.6, log_error=-0.1),
        floors={name: float(floor) for name, floor in floors.items()},
    )
    hidden.weights["length_difference"] = -0.2
    scores = hidden.quality(rows)
    fitted = fit_estimate(rows, scores, is_plain)
    np.testing.assert_allclose(fitted.quality(rows), scores, atol=0.02)
    assert fitted.threshold == pytest.approx(0.7 * scores[is_plain].mean(), abs=1e-4)


def test_a_value_below_its_floor_counts_as_the_floor():
    rows = evidence(97)
    fragmentation = rows.features()[FEATURES.index("fragmentation")]
    floor = float(np.median(fragmentation))
    floored = dataclasses.replace(
        estimate(fragmentation=-2.0), floors={"fragmentation": floor}
    ).quality(rows)
    bare = estimate(fragmentation=-2.0).quality(rows)
    assert (floored == bare).tolist() == (fragmentation >= floor).tolist()
    assert (floored <= bare).all()


@pytest.mark.parametrize("seed", range(4))
def test_on_plain_text_an_estimate_is_no_worse_than_the_log_probability(seed):
    """Chance is what the other features say of plain text here."""
    rows, rng = evidence(400, seed), np.random.default_rng(seed)
    mean = rows.log_probability / rows.length
    is_plain = np.arange(400) < 200
    noise = rng.normal(scale=0.5, size=400)
    fragmentation = rows.features()[FEATURES.index("fragmentation")]
    # Disturbed text is bad where its words are in pieces, and good where it is improbable.
    scores = np.where(is_plain, mean + noise, -mean - 3 * fragmentation)
    scores = 1 / (1 + np.exp(-scores))
    fitted = fit_estimate(rows, scores, is_plain)
    plain, other = (
        rank_correlation(values[is_plain], scores[is_plain])
        for values in (fitted.quality(rows), mean)
    )
    assert plain >= other - 0.02


def test_known_signs_are_kept():
    """More improbable translations never have the higher quality, whatever few texts say."""
    rows = evidence(300)
    mean = rows.log_probability / rows.length
    fitted = fit_estimate(rows, 1 / (1 + np.exp(mean)), np.arange(300) < 200)
    assert all(fitted.weights[name] * sign >= 0 for name, sign in SIGNS.items())


def test_the_flag_is_raised_below_the_threshold_alone():
    rated = estimate(threshold=0.4)
    assert [rated.flags(quality) for quality in (0.39, 0.4, None)] == [("unsure",), (), ()]


def test_precision_and_recall_are_those_of_translations_below_the_threshold():
    doubt = doubt_of([0.1, 0.2, 0.3, 0.9, 0.8], [0.1, 0.6, 0.2, 0.3, 0.9], threshold=0.4)
    assert doubt[:4] == (5, 3, 3, 2)
    assert (round(doubt.precision, 2), round(doubt.recall, 2)) == (0.67, 0.67)


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (
            0.4,
            "3 of 5 translations are flagged as unsure: 2 of these are poor, and 1 of the others",
        ),
        (0.05, "0 of 5 translations are flagged as unsure; none is poor"),
        (0.1, "0 of 5 translations are flagged as unsure; 2 are poor"),
    ],
)
def test_doubt_is_told_in_plain_words(threshold, expected):
    scores = [0.08, 0.6, 0.09, 0.3, 0.9] if threshold == 0.1 else [0.1, 0.6, 0.2, 0.3, 0.9]
    assert str(doubt_of([0.1, 0.2, 0.3, 0.9, 0.8], scores, threshold)) == expected


def test_the_rank_correlation_is_spearmans():
    first, second = np.random.default_rng(3).integers(0, 9, (2, 101))
    expected = stats.spearmanr(first, second).statistic
    assert rank_correlation(first, second) == pytest.approx(expected)
    assert np.isnan(rank_correlation(np.ones(5), np.arange(5)))


def test_held_out_text_is_disturbed_in_several_ways_in_turn():
    sources, references = ["ein Hund rennt schnell"] * 12, ["a dog runs fast"] * 12
    pairs = disturbed_pairs(sources, references)
    assert pairs == disturbed_pairs(sources, references)
    texts = [text for text, _ in pairs]
    assert [texts[i] for i in (0, 6)] == ["EIN HUND RENNT SCHNELL"] * 2
    assert [texts[i] for i in (4, 10)] == references[:2]
    for text in texts[1:3]:
        assert len(text.split(" ")) == 4
    assert [sorted(word) for word in texts[3].split(" ")] == [*map(sorted, sources[0].split(" "))]
    assert pairs[5] == (f"{sources[0]} {sources[0]}", f"{references[0]} {references[0]}")
    assert not any(
        text.isupper() for text, _ in disturbed_pairs(sources, references, reads_capitals=False)
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": {"log_probability": 1.0}}, "a weight for each of log_probability, log_error"),
        ({"bias": "0"}, "Received: bias='0'"),
        ({"floors": {"length": 1.0}}, "The floors of a quality estimate are of log_probability"),
        ({"floors": {"fragmentation": "1"}}, "Received: fragmentation='1'"),
        ({"threshold": 1.5}, "Received: threshold=1.5"),
    ],
)
def test_an_estimate_needs_all_of_its_numbers(changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        QualityEstimate.from_config({**estimate().get_config(), **changes})
