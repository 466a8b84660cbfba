"""The pace of a run: what suits the size of a text, the steps, and the warm-up."""

import dataclasses
from types import SimpleNamespace

import pytest

from kformer.training import Recipe
from kformer.training.recipes.pace import LARGE_TEXT, as_begun, is_open, pace_of, suited_to
from kformer.training.run.replicas import rising_steps

OPEN = Recipe.named("tiny", epochs=0, tokens_per_batch=0)
LARGE = Recipe.named("tiny", epochs=20, tokens_per_batch=3072)


def test_the_default_recipe_leaves_its_pace_to_the_text_and_others_do_not():
    assert is_open(Recipe.named("tiny")) and is_open(Recipe.named("student-tiny"))
    assert is_open(Recipe.named("tiny", epochs=3)), "the batch is left open"
    assert not is_open(Recipe.named("tiny", epochs=3, tokens_per_batch=512))
    assert not any(is_open(Recipe.named(name)) for name in ("base", "demo", "multi30k", "lm"))


def test_a_large_text_gets_the_usual_pace():
    suited = suited_to(OPEN, LARGE_TEXT)
    assert suited.recipe == LARGE
    assert suited.lines() == [
        "Chosen for the size of the text: 20 epochs (--epochs) of 3,072 ids a batch "
        "(--tokens-per-batch)."
    ]


@pytest.mark.parametrize("ids", [2_000, 7_000, 30_000, 100_000, 200_000])
def test_a_smaller_text_gets_smaller_batches_and_no_fewer_steps(ids):
    smaller, larger = suited_to(OPEN, ids).recipe, suited_to(OPEN, 1.5 * ids).recipe
    assert smaller.tokens_per_batch <= larger.tokens_per_batch <= LARGE.tokens_per_batch
    assert smaller.epochs >= larger.epochs >= LARGE.epochs
    steps, usual = (recipe.epochs * ids / recipe.tokens_per_batch for recipe in (smaller, LARGE))
    assert steps > 1.4 * usual
    assert steps >= 2000 or smaller.epochs > LARGE.epochs, "first smaller batches, then epochs"


def test_numbers_of_the_user_are_kept_and_do_not_change_the_others():
    ids = 5_000
    both = suited_to(OPEN, ids)
    epochs = suited_to(dataclasses.replace(OPEN, epochs=2), ids)
    assert epochs.recipe == dataclasses.replace(both.recipe, epochs=2)
    assert epochs.epochs == both.recipe.epochs, "for a run that is extended without the option"
    batches = suited_to(dataclasses.replace(OPEN, tokens_per_batch=1024), ids).recipe
    assert batches.tokens_per_batch == 1024
    assert batches.epochs >= both.recipe.epochs, "larger batches make fewer steps of an epoch"


def test_a_batch_has_room_for_the_longest_pair():
    assert suited_to(dataclasses.replace(OPEN, max_length=1000), 10).recipe.tokens_per_batch == 1000


def test_accumulated_batches_count_as_one_step():
    once, thrice = (
        suited_to(dataclasses.replace(OPEN, gradient_accumulation=n), 200_000).recipe
        for n in (1, 3)
    )
    assert 2.5 < once.tokens_per_batch / thrice.tokens_per_batch < 3.5


def test_the_choice_is_told_with_its_reason():
    [line] = suited_to(OPEN, 6_000).lines()
    chosen = suited_to(OPEN, 6_000).recipe
    assert f"{chosen.epochs} epochs (--epochs) of {chosen.tokens_per_batch} ids a batch" in line
    assert line.endswith("20 epochs of 3,072 for a large text would be 40 steps here.")
    [line] = suited_to(dataclasses.replace(OPEN, epochs=4), 6_000).lines()
    assert "(--epochs)" not in line and "(--tokens-per-batch)" in line


def test_a_run_that_goes_on_keeps_the_numbers_that_it_began_with():
    began = dataclasses.replace(LARGE, epochs=6, tokens_per_batch=448)
    config = {"recipe": dataclasses.asdict(began), "suited_epochs": 33}
    assert as_begun(OPEN, config) == dataclasses.replace(began, epochs=33)
    assert as_begun(dataclasses.replace(OPEN, epochs=9), config).epochs == 9
    earlier = {"recipe": dataclasses.asdict(began)}  # Of a kformer that chose nothing.
    assert as_begun(OPEN, earlier) == began
    assert as_begun(OPEN, {}) == OPEN


def test_the_rate_rises_for_an_epoch_or_some_steps_whatever_the_number_of_epochs():
    for epochs in (1, 20, 300):
        recipe = dataclasses.replace(LARGE, epochs=epochs)
        paces = [pace_of(recipe, batches) for batches in (7, 700, 5000)]
        assert [pace.steps for pace in paces] == [7 * epochs, 700 * epochs, 5000 * epochs]
        assert [pace.rising_steps for pace in paces] == [100, 700, 2000]
        assert [pace.shortened for pace in paces] == [True, True, False]


def test_a_deep_model_with_the_norm_after_needs_more_steps_and_a_longer_rise():
    deep = dataclasses.replace(LARGE, norm_first=False)
    assert pace_of(deep, 7).rising_steps == 1000
    assert pace_of(dataclasses.replace(deep, warmup_steps=400), 7).rising_steps == 400
    shallow = dataclasses.replace(deep, num_layers=2)
    assert pace_of(shallow, 7) == pace_of(dataclasses.replace(shallow, norm_first=True), 7)
    deep_decoder = dataclasses.replace(shallow, num_decoder_layers=4)
    assert pace_of(deep_decoder, 7).rising_steps == 1000


def test_a_step_of_several_batches_counts_once():
    recipe = dataclasses.replace(LARGE, epochs=3, gradient_accumulation=4)
    assert pace_of(recipe, 22).steps == 16  # 66 batches in all.
    assert pace_of(recipe, 2200).rising_steps == 550
    assert pace_of(dataclasses.replace(recipe, epochs=1), 1).steps == 1


def test_a_run_that_is_too_short_to_learn_gets_a_warning_with_advice():
    said, warning = pace_of(LARGE, 2).lines()
    assert said == "The run takes 40 steps. The learning rate still rises in the last of them."
    assert warning.startswith("Warning: 40 steps are too few") and "--epochs" in warning
    assert len(pace_of(LARGE, 10).lines()) == 1
    rises = "The learning rate rises for the first 2,000 of them."
    assert pace_of(LARGE, 4000).lines() == [f"The run takes 80,000 steps. {rises}"]


def test_the_warning_goes_by_layers_and_by_the_place_of_the_norm():
    deep = dataclasses.replace(LARGE, norm_first=False)
    _, warning = pace_of(deep, 28).lines()
    assert warning.startswith("Warning: 560 steps are too few for 4 layers with the norm after")
    assert "--norm-first" in warning
    assert len(pace_of(dataclasses.replace(deep, num_layers=2), 28).lines()) == 1
    assert len(pace_of(dataclasses.replace(LARGE, num_layers=12), 28).lines()) == 2


@pytest.mark.parametrize(
    ("config", "resumes", "changed", "expected"),
    [
        ({}, False, {}, 700),
        ({"rising_steps": 7}, True, {}, 7),
        ({"rising_steps": 7}, True, {"warmup_steps": [50, 2000]}, 700),
        ({}, True, {}, 2000),
    ],
    ids=["new", "resumed", "resumed with another warm-up", "begun by an earlier kformer"],
)
def test_the_run_config_records_the_rise_and_an_earlier_run_keeps_its_own(
    config, resumes, changed, expected
):
    run = {"config": config, "resumes": resumes, "changed": changed, "is_trained": False}
    prepared = SimpleNamespace(recipe=LARGE, **run)
    batches = SimpleNamespace(cardinality=lambda: 700)
    assert rising_steps(prepared, batches) == expected
    assert prepared.config.get("rising_steps", 2000) == expected
