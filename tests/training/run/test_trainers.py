"""The arguments of `train` and of its siblings, before any text is read."""

import pytest

from kformer.kinds import CLASSIFIER, LANGUAGE_MODEL, TAGGER, TRANSLATOR
from kformer.training import (
    Recipe,
    train,
    train_classifier,
    train_language_model,
    train_tagger,
    training_cost,
)
from kformer.training.recipes.recipe import recipe_for


@pytest.mark.parametrize(
    ("kind", "warm_start", "name"),
    [
        (TRANSLATOR, None, "tiny"),
        (TRANSLATOR, "a.keras", "fine-tune"),
        (CLASSIFIER, "a.keras", "texts"),
        (TAGGER, None, "words"),
        (LANGUAGE_MODEL, None, "lm"),
        (LANGUAGE_MODEL, "a.keras", "fine-tune"),
    ],
)
def test_a_run_without_a_recipe_has_the_one_of_the_command_line(kind, warm_start, name):
    assert recipe_for(kind, None, warm_start) == Recipe.named(name)
    assert (
        recipe_for(kind, "quick")
        == Recipe.named("quick")
        == recipe_for(kind, Recipe.named("quick"))
    )


@pytest.mark.parametrize(
    ("trainer", "arguments", "error", "message"),
    [
        (
            train,
            {"source": "a", "target": "b"},
            TypeError,
            r"needs `output`\. Received: output=None",
        ),
        (train_classifier, {"output": "run"}, TypeError, r"needs `train`\. Received: train=None"),
        (train_tagger, {"recipe": "words"}, TypeError, "needs `train`"),
        (train_language_model, {"text": "a"}, TypeError, "needs `output`"),
        (train, {"recipe": 5}, TypeError, r"such as 'tiny'\. Received: recipe=5\."),
        (train, {"recipe": "lm"}, ValueError, r"Received: recipe='lm', which is for a language mo"),
        (train_tagger, {"recipe": "x"}, ValueError, r"one of base, .*words\. Received: recipe='x'"),
        (train, {"src": "a"}, TypeError, r"`train` has no argument `src`; use `source`\."),
        (
            train_language_model,
            {"lr": 0.1},
            TypeError,
            r"`train_language_model` has no argument `lr`: it is a number of the recipe, as in "
            r"`Recipe.named\(\"tiny\", learning_rate=\.\.\.\)`\. Received: lr=0\.1\.",
        ),
        (train, {"epochs": 5}, TypeError, r"a number of the recipe, as in .*epochs=\.\.\."),
    ],
)
def test_a_call_that_cannot_be_meant_says_what_would_be(trainer, arguments, error, message):
    with pytest.raises(error, match=message):
        trainer(**arguments)


def test_a_recipe_of_another_kind_is_not_offered():
    with pytest.raises(ValueError) as raised:
        train("small")
    assert "tiny" in str(raised.value) and "lm" not in str(raised.value).split(". Received")[0]


def test_a_cost_takes_the_name_of_a_recipe():
    costs = [
        training_cost(recipe, 1000, 1000, speed=1e9) for recipe in ("tiny", Recipe.named("tiny"))
    ]
    assert costs[0] == costs[1]
