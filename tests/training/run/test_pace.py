"""The steps of a run, and the warm-up of one that has few."""

from types import SimpleNamespace

import pytest

from kformer.training import Recipe
from kformer.training.recipes.recipe import Pace, pace_of
from kformer.training.run.replicas import rising_steps


def test_the_rate_rises_for_an_epoch_at_most_whatever_the_number_of_epochs():
    for epochs in (1, 20, 300):
        recipe = Recipe.named("tiny", epochs=epochs)
        assert pace_of(recipe, 7) == Pace(7 * epochs, rising_steps=7, shortened=True)
        assert pace_of(recipe, 5000) == Pace(5000 * epochs, rising_steps=2000, shortened=False)


def test_a_step_of_several_batches_counts_once():
    recipe = Recipe.named("tiny", epochs=3, gradient_accumulation=4)
    assert pace_of(recipe, 22) == Pace(16, rising_steps=5, shortened=True)  # 66 batches in all.
    assert pace_of(recipe, 1) == Pace(1, rising_steps=1, shortened=True)


def test_a_run_that_is_too_short_to_learn_gets_a_warning_with_advice():
    said, warning = pace_of(Recipe.named("tiny"), 2).lines()
    assert said.startswith("The run takes 40 steps. The learning rate rises for the first 2 of")
    assert warning.startswith("Warning: 40 steps are too few") and "--epochs" in warning
    assert len(pace_of(Recipe.named("tiny", epochs=50), 2).lines()) == 1
    rises = "The learning rate rises for the first 2,000 of them."
    assert pace_of(Recipe.named("tiny"), 4000).lines() == [f"The run takes 80,000 steps. {rises}"]


@pytest.mark.parametrize(
    ("config", "resumes", "expected"),
    [({}, False, 7), ({"rising_steps": 7}, True, 7), ({}, True, 2000)],
    ids=["new", "resumed", "begun by an earlier kformer"],
)
def test_the_run_config_records_the_rise_and_an_earlier_run_keeps_its_own(
    config, resumes, expected
):
    prepared = SimpleNamespace(recipe=Recipe.named("tiny"), config=config, resumes=resumes)
    batches = SimpleNamespace(cardinality=lambda: 7)
    assert rising_steps(prepared, batches) == expected
    assert prepared.config.get("rising_steps", 2000) == expected
