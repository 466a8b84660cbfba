"""What is said at the end of a run."""

import pytest

from kformer.training import Recipe
from kformer.training.run.outcome import (
    further_epochs,
    improving_in_words,
    useless_classifier,
    useless_translator,
)

RECIPE = Recipe.named("quick", epochs=4)


def history(*losses, epochs=4):
    numbers = [epochs * (i + 1) / len(losses) for i in range(len(losses))]
    return {"val_loss": list(losses), "epoch": numbers}


def test_a_score_that_still_falls_at_the_end_asks_for_more_epochs():
    assert further_epochs(history(3, 2, 1.5, 1.4), RECIPE) == 8
    assert further_epochs(history(3, 2, 1.5, 1.4), RECIPE, suited=40) == 40
    assert improving_in_words(8) == (
        "Validation was still improving in the last epoch: --epochs 8 continues this run."
    )


@pytest.mark.parametrize(
    "losses",
    [(3, 2, 1.4, 1.5), (3, 2, 1.5, 1.499), (3,), (), (3, 2, 1, float("nan"))],
    ids=["worse", "hardly better", "one validation", "no validation", "not finite"],
)
def test_a_run_that_has_come_to_rest_does_not(losses):
    assert further_epochs(history(*losses), RECIPE) is None
    assert improving_in_words(None) == ""


def test_many_validations_are_judged_by_their_last_tenth():
    slow = [3 * 0.99**i for i in range(40)]  # 1 % a validation, 4 % in four.
    assert further_epochs(history(*slow), RECIPE) == 8
    assert further_epochs(history(*slow[:20], *[slow[20]] * 20), RECIPE) is None


def test_a_run_that_ended_early_is_not_continued_by_more_epochs():
    assert further_epochs(history(3, 2, 1.5, epochs=3), RECIPE) is None


def test_a_score_that_should_rise_is_compared_the_other_way_round():
    recipe = Recipe.named("quick", epochs=4, monitor="bleu")
    rising = {"val_bleu": [1.0, 5.0, 9.0, 12.0], "epoch": [1, 2, 3, 4]}
    assert further_epochs(rising, recipe) == 8
    assert further_epochs({**rising, "val_bleu": [12.0, 9.0, 5.0, 1.0]}, recipe) is None


def test_translations_without_meaning_are_told_with_what_to_do():
    warning = useless_translator(9.78, 31.2, 40)
    assert warning.startswith("Warning: most translations of the validation text are wrong")
    assert "BLEU 9.8, chrF 31.2" in warning and "--epochs 40" in warning
    assert "more text" in useless_translator(9.78, 31.2, None)


@pytest.mark.parametrize(("bleu", "chrf"), [(20, 30), (0, 97), (35, 60)])
def test_translations_that_are_right_by_either_score_are_of_use(bleu, chrf):
    assert useless_translator(bleu, chrf, 40) is None


def test_a_classifier_must_do_better_than_one_label_for_all():
    assert useless_classifier(0.61, 0.6, None) is None
    warning = useless_classifier(0.6, 0.6, None)
    assert warning.startswith("Warning: 60.0 % of the validation text are right, no more than")
