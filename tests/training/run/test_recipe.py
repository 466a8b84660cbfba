"""Recipes: every number of a run is in one file."""

import dataclasses
import tomllib
from pathlib import Path

import pytest

from kformer.training import Recipe
from kformer.training.recipes import recipe
from kformer.training.recipes.recipe import recipe_names

every_recipe = pytest.mark.parametrize("name", recipe_names())


def test_the_recipes_of_the_package():
    assert recipe_names() == [
        "base",
        "big",
        "characters",
        "demo",
        "fine-tune",
        "firefox-base-memory",
        "firefox-tiny",
        "lm",
        "multi30k",
        "quick",
        "reviews",
        "sentences",
        "student-base",
        "student-tiny",
        "student-tiny-ssru",
        "texts",
        "tiny",
        "words",
    ]


@every_recipe
def test_a_recipe_changes_some_numbers_of_its_base(name):
    path = Path(recipe.__file__).parent / f"{name}.toml"
    numbers = tomllib.loads(path.read_text("utf-8"))
    kind, base = numbers.pop("kind", None), numbers.pop("base", None)
    named = dataclasses.asdict(Recipe.named(name))
    expected = dataclasses.asdict(Recipe.named(base)) if base else {}
    assert named == {**expected, **numbers}
    assert [number for number in numbers if expected.get(number) == named[number]] == []
    assert kind is None or name in recipe_names(kind)


@pytest.mark.parametrize(
    ("bases", "received"),
    [
        ({"tiny": "huge"}, "base='huge' in 'tiny.toml'"),
        ({"tiny": "../base"}, "base='../base' in 'tiny.toml'"),
        ({"tiny": "tiny"}, "base='tiny' in 'tiny.toml'"),
        ({"tiny": "base", "base": "big", "big": "tiny"}, "base='tiny' in 'big.toml'"),
    ],
)
def test_a_base_must_be_a_recipe_that_is_not_based_on_this(bases, received, tmp_path, monkeypatch):
    for name, base in bases.items():
        (tmp_path / f"{name}.toml").write_text(f"base = {base!r}\n")
    monkeypatch.setattr(recipe, "_FOLDER", tmp_path)
    with pytest.raises(ValueError, match=f"must be another recipe.*Received: {received}"):
        Recipe.named("tiny")


@every_recipe
def test_the_numbers_have_the_declared_types(name):
    numbers = Recipe.named(name)
    for field in dataclasses.fields(Recipe):
        assert type(getattr(numbers, field.name)) is field.type, field.name


def test_the_base_recipe_is_the_base_model_of_the_paper():
    base = Recipe.named("base")
    sizes = base.num_layers, base.d_model, base.num_heads, base.d_ff, base.dropout
    assert sizes == (6, 512, 8, 2048, 0.1)
    assert (base.norm_first, base.warmup_steps, base.label_smoothing) == (False, 4000, 0.1)
    assert base.learning_rate_scale == 1


def test_the_big_recipe_is_the_big_model_of_the_paper():
    big = {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3}
    assert Recipe.named("big") == dataclasses.replace(Recipe.named("base"), **big)


@pytest.mark.parametrize("name", ["tiny", "base"])
def test_a_student_has_a_deeper_encoder_and_a_shallow_decoder(name):
    student, teacher = Recipe.named(f"student-{name}"), Recipe.named(name)
    assert student.num_layers > teacher.num_layers
    assert student.num_decoder_layers in (1, 2)
    sizes = ("num_layers", "num_decoder_layers", "norm_first")
    same = {one: getattr(teacher, one) for one in sizes}
    assert dataclasses.replace(student, **same) == teacher


def test_some_numbers_may_be_changed():
    changed = Recipe.named("tiny", epochs=3, norm_first=True)
    assert changed == dataclasses.replace(Recipe.named("tiny"), epochs=3, norm_first=True)


def test_an_unknown_recipe_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"base, big, characters, demo.*Received: recipe='huge'"):
        Recipe.named("huge")
    with pytest.raises(ValueError, match=r"Received: recipe='../recipes/tiny'"):
        Recipe.named("../recipes/tiny")


def test_an_unknown_number_is_an_error():
    with pytest.raises(TypeError, match="use `epochs`"):
        Recipe.named("tiny", epoch=3)


@pytest.mark.parametrize(
    ("numbers", "received"),
    [
        ({"epochs": -1}, "epochs=-1"),
        ({"num_layers": -1}, "num_layers=-1"),
        ({"warmup_steps": 0}, "warmup_steps=0"),
        ({"dropout": 1}, "dropout=1"),
        ({"label_smoothing": -0.5}, "label_smoothing=-0.5"),
        ({"d_model": 15, "num_heads": 5}, "d_model=15, num_heads=5"),
        ({"d_model": 16, "num_heads": 3}, "d_model=16, num_heads=3"),
        ({"max_length": 1}, "max_length=1"),
        ({"max_length": 9, "tokens_per_batch": 8}, "max_length=9, tokens_per_batch=8"),
        ({"seed": -1}, "seed=-1"),
        ({"learning_rate_scale": 0.0}, "learning_rate_scale=0.0"),
        ({"learning_rate_scale": float("nan")}, "learning_rate_scale=nan"),
        ({"gradient_accumulation": 0}, "gradient_accumulation=0"),
        ({"patience": -1}, "patience=-1"),
        ({"precision": "float16"}, "precision='float16'"),
        ({"monitor": "rouge"}, "monitor='rouge'"),
        ({"max_length_ratio": 0.5}, "max_length_ratio=0.5"),
    ],
)
def test_numbers_that_cannot_work_are_an_error(numbers, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        Recipe.named("tiny", **numbers)


@pytest.mark.parametrize("number", [{"epochs": 2.5}, {"dropout": "0.1"}, {"norm_first": 1}])
def test_numbers_of_another_type_are_an_error(number):
    [(name, value)] = number.items()
    with pytest.raises(TypeError, match=f"Received: {name}={value!r}"):
        Recipe.named("tiny", **number)


def test_every_number_is_documented_once():
    for field in dataclasses.fields(Recipe):
        description = field.metadata["description"]
        assert Recipe.__doc__.count(f"    {field.name}: {description}") == 1
