"""A name from elsewhere, or a mistyped one, is answered with the name here."""

import dataclasses

import pytest

import kformer
from kformer.export import export_tflite
from kformer.inference.search_options import AllSearchOptions
from kformer.near_names import near_name, with_near_fields, with_near_names
from kformer.training import PreparationOptions, Recipe, prepare_shards
from support.processes import run_python

RECIPE = [field.name for field in dataclasses.fields(Recipe)]
ELSEWHERE = {  # As Keras, PyTorch, Hugging Face and OpenNMT call the numbers of a recipe.
    "lr": "learning_rate",
    "max_lr": "learning_rate",
    "batch_size": "tokens_per_batch",
    "dff": "d_ff",
    "intermediate_dim": "d_ff",
    "num_attention_heads": "num_heads",
    "heads": "num_heads",
    "dropout_rate": "dropout",
    "num_train_epochs": "epochs",
    "max_len": "max_length",
    "hidden_size": "d_model",
    "Epochs": "epochs",
    "epoch": "epochs",
    "label-smoothing": "label_smoothing",
    "warmup": "warmup_steps",
    "xyz": None,
}
OF_SEARCHES = {"num_beams": "beam_size", "max_new_tokens": "max_length", "do_sample": "sample"}


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [(name, RECIPE, meant) for name, meant in ELSEWHERE.items()]
    + [(name, [*AllSearchOptions.__annotations__], meant) for name, meant in OF_SEARCHES.items()],
)
def test_a_name_of_another_library_means_one_of_ours(name, known, meant):
    assert near_name(name, known) == meant


def test_a_known_name_means_itself():
    assert all(near_name(name, RECIPE) == name for name in RECIPE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Recipe.named("tiny", lr=1),
            r"`Recipe` has no argument `lr`; use `learning_rate`\. Received: lr=1\.",
        ),
        (
            lambda: kformer.SearchOptions(num_beams=4),
            r"`SearchOptions` has no argument `num_beams`; use `beam_size`\. Received: num_beams=4",
        ),
        (
            lambda: kformer.SearchOptions(gpu=1),
            r"`SearchOptions` has no argument `gpu`: beam_size, .*, narrowing\. Received: gpu=1\.",
        ),
        (
            lambda: PreparationOptions(max_len=4),
            r"`PreparationOptions` has no argument `max_len`; use `max_length`\.",
        ),
        (
            lambda: export_tflite(None, "a.tflite", quantize="int8"),
            r"`export_tflite` has no argument `quantize`; use `precision`\.",
        ),
        (
            lambda: prepare_shards("shards", "a", "b", vocab_size=8000),
            r"`prepare_shards` has no argument `vocab_size`: output, .*, options, .*\. Received: v",
        ),
        (
            lambda: Recipe(),
            r"`Recipe` needs a value for each of 39 arguments: use `Recipe\.named\(\"tiny\"\)`, "
            r"with your changes\. Received: no vocab_size, \.\.\.\.",
        ),
    ],
)
def test_options_propose_a_near_name_and_name_no_private_call(make, message):
    with pytest.raises(TypeError, match=message) as raised:
        make()
    assert "__init__" not in str(raised.value)


def test_a_decorated_function_does_what_it_did():
    @with_near_names
    def area(width, height=2):
        return width * height

    assert area(3) == area(width=3, height=2) == 6
    with pytest.raises(TypeError, match=r"`area` has no argument `hight`; use `height`\."):
        area(3, hight=4)


def test_a_decorated_dataclass_is_what_it_was():
    @with_near_fields("give both")
    @dataclasses.dataclass(frozen=True)
    class Size:
        width: int
        height: int = 2

    assert Size(3) == Size(width=3, height=2) == dataclasses.replace(Size(5), width=3)
    with pytest.raises(TypeError, match=r"1 arguments: give both\. Received: no width\."):
        Size()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Translater", "kformer.Translator"),
        ("translator", "kformer.Translator"),
        ("train", "kformer.training.train"),
        ("Recipe", "kformer.training.Recipe"),
        ("prepare_shards", "kformer.training.prepare_shards"),
        ("export_tflite", "kformer.export.export_tflite"),
        ("PocketTranslator", "kformer.pocket.PocketTranslator"),
        ("load_model", "kformer.load"),
    ],
)
def test_an_attribute_error_says_where_the_name_is(name, meant):
    with pytest.raises(AttributeError) as raised:
        getattr(kformer, name)
    assert str(raised.value) == f"module 'kformer' has no attribute {name!r}: use `{meant}`"


def test_names_of_other_packages_are_found_from_a_package():
    with pytest.raises(AttributeError, match=r"use `kformer.export.export_tflite`"):
        kformer.training.export_tflite  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'zzzz'$"):
        kformer.training.zzzz  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute '_private'$"):
        kformer._private  # noqa: B018


def test_every_package_is_an_attribute_after_import_kformer():
    code = (
        "import kformer, sys; before = {*sys.modules}\n"
        "print(kformer.training.WarmupSchedule.__name__, kformer.export.__name__)\n"
        "print(kformer.scale.__name__, kformer.server.__name__, kformer.documents.__name__)\n"
        "print({'keras', 'difflib'} & before, 'training' in dir(kformer), kformer.__all__[:2])"
    )
    assert run_python("-c", code).stdout.splitlines() == [
        "WarmupSchedule kformer.export",
        "kformer.scale kformer.server kformer.documents",
        "set() True ['AlignmentHead', 'AnyTranslator']",
    ]
