"""Directions that a model of several languages was trained in, and those that it was not."""

import pytest

from kformer.inference.zero_shot import (
    facts_of,
    is_zero_shot,
    warn_of_zero_shot,
    zero_shot_directions,
)

TRAINED = ["de-en", "en-de", "fr-en"]


def test_a_direction_is_zero_shot_if_it_is_known_not_to_be_trained():
    assert is_zero_shot(TRAINED, "fr", "de")
    assert not is_zero_shot(TRAINED, "de", "en")
    for directions, source, target in ([], "fr", "de"), (TRAINED, None, "de"), (None, "a", "b"):
        assert not is_zero_shot(directions, source, target)


def test_a_zero_shot_direction_is_warned_of():
    with pytest.warns(UserWarning, match=r"de-en, en-de, fr-en; .* source_language='fr', target"):
        warn_of_zero_shot(TRAINED, "fr", "de")
    warn_of_zero_shot(TRAINED, "fr", "en")


def test_facts_of_a_model_are_its_directions_and_an_only_source():
    assert facts_of(TRAINED) == {"directions": TRAINED}
    assert facts_of(TRAINED, "de") == {"directions": ["en-de"], "source_language": "en"}
    assert facts_of(TRAINED, "en") == {"directions": ["de-en", "fr-en"]}


def test_zero_shot_directions_go_into_trained_languages():
    assert zero_shot_directions(TRAINED) == ["fr-de"]
    assert zero_shot_directions(["de-en", "en-fr"]) == ["de-fr"]
