"""A kind of model has one entry, and everything that it names exists."""

import pytest

import kformer
from kformer.kinds import EXPORTED, KINDS, MODEL_FILES, TRANSLATOR, kind_named, kind_of, known_kind
from support.processes import run_python

PARTS = ("model", "pocket", "served", "saved_model", "tflite", "verification", "task")
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@every_kind
def test_the_classes_of_a_kind_exist_and_are_told_apart(kind):
    parts = {name: kind.part(name) for name in PARTS if getattr(kind, name)}
    for form in {"model", "pocket", "served"} & parts.keys():
        assert kind_of(parts[form]) is kind
    for form in {"pocket", "task"} & parts.keys():
        assert parts[form].kind is kind
    assert parts["model"].__name__ == kind.class_name
    assert hasattr(kformer, kind.class_name)


@every_kind
def test_a_kind_is_found_by_its_name_and_by_its_words(kind):
    assert kind_named(kind.name) is kind_named(kind.words) is kind


def test_the_names_that_files_contain_stay():
    """Exports and runs of every released version are read by these."""
    assert {(kind.registered_name, kind.name, kind.words, kind.task_name) for kind in KINDS} >= {
        ("kformer>Translator", "translator", "translator", "translation"),
        ("kformer>TextClassifier", "classifier", "classifier", "classification"),
        ("kformer>LanguageModel", "language_model", "language model", "language modelling"),
        ("kformer>TextEncoder", "text_encoder", "text encoder", None),
    }
    assert {*MODEL_FILES} >= {"translator.keras", "classifier.keras", "language_model.keras"}
    assert {kind.name for kind in KINDS} - {kind.name for kind in EXPORTED} == {"text_encoder"}


def test_other_objects_are_of_no_kind():
    class Translator:
        """A class of somebody else."""

    assert kind_of(Translator()) is kind_of(3) is kind_named("parser") is None
    with pytest.raises(TypeError, match=r"must be a kformer\.Translator.* Received: model=3"):
        TRANSLATOR.check("model", 3)
    with pytest.raises(TypeError, match=r"must be a translator.* Received: int\."):
        known_kind(3)


def test_the_list_of_kinds_costs_neither_tensorflow_nor_numpy():
    code = "import sys, kformer.kinds; print({'tensorflow', 'keras', 'numpy'} & {*sys.modules})"
    assert run_python("-c", code).stdout.strip() == "set()"
