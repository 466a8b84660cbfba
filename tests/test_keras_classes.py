"""Keras finds every class of ours by name as soon as kformer is imported."""

import importlib.util
import re
import sys
from types import SimpleNamespace

import keras
import pytest

import kformer
from kformer.keras_classes import MODULES, LazyClass, register, register_with_keras
from support import REPOSITORY

DECORATED = re.compile(
    r'@keras\.saving\.register_keras_serializable\(package="kformer"\)\nclass (\w+)'
)


def a_keras(registered):
    return SimpleNamespace(saving=SimpleNamespace(get_custom_objects=lambda: registered))


def test_every_registered_class_is_listed_with_its_module():
    package = REPOSITORY / "kformer"
    files = ((path, DECORATED.findall(path.read_text("utf-8"))) for path in package.rglob("*.py"))
    found = {
        ".".join(path.relative_to(package).with_suffix("").parts): tuple(sorted(classes))
        for path, classes in files
        if classes
    }
    assert found == MODULES


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("FeedForward", {"d_model": 6, "d_ff": 7}),
        ("MultiHeadAttention", {"d_model": 6, "num_heads": 2}),
        ("WarmupSchedule", {"d_model": 6}),
    ],
)
def test_a_name_makes_what_its_class_makes(name, config):
    register(a_keras(registered := {}))
    made = registered[f"kformer>{name}"].from_config(config)
    assert type(made).__name__ == name and made.d_model == 6


def test_a_class_that_is_imported_stays_registered():
    register(keras)
    assert keras.saving.get_registered_object("kformer>Transformer") is kformer.Transformer


def test_they_are_registered_when_keras_is_imported_later(monkeypatch, tmp_path):
    """A package of the same name stands for Keras, which is imported here already."""
    (tmp_path / "keras.py").write_text(
        "from types import SimpleNamespace\n"
        "registered = {}\n"
        "saving = SimpleNamespace(get_custom_objects=lambda: registered)\n"
    )
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "keras")
    register_with_keras()
    register_with_keras()
    assert importlib.util.find_spec("keras").name == "keras"  # Only a question, and no import.
    later = importlib.import_module("keras")
    assert later.__file__ == str(tmp_path / "keras.py")
    assert len(later.registered) == sum(map(len, MODULES.values()))
    assert all(isinstance(lazy, LazyClass) for lazy in later.registered.values())
    assert "exec_module" not in vars(later.__loader__)  # It is as it was.


def test_without_keras_nothing_happens(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "meta_path", [])
    monkeypatch.delitem(sys.modules, "keras")
    register_with_keras()
    assert importlib.util.find_spec("keras") is None
