"""The signatures of the public names: what `help`, an editor and `inspect.signature` show."""

import dataclasses
import functools
import importlib.util
import inspect
import typing

import keras

import kformer
import kformer.export
import kformer.pocket
import kformer.scale
import kformer.server
import kformer.serving
import kformer.training
from kformer.inference.search_options import AllSearchOptions, SearchOptions
from kformer.training.recipes.recipe import RecipeChanges
from kformer.training.resumption.resumable_fit import FitOptions
from kformer.training.run import labelling_options, run_options

PACKAGES = (
    kformer,
    kformer.training,
    kformer.export,
    kformer.pocket,
    kformer.server,
    kformer.serving,
    kformer.scale,
)
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
KERAS = (  # Keras adds arguments of its own to these.
    keras.layers.Layer,
    keras.callbacks.Callback,
    keras.losses.Loss,
    keras.metrics.Metric,
    keras.optimizers.Optimizer,
)


def is_ours(function):
    return getattr(function, "__module__", "").startswith("kformer")


@functools.cache
def public_signatures():
    """Returns each public class, function and method of ours by its name."""
    signatures = {}
    for package in PACKAGES:
        if package is kformer.scale and importlib.util.find_spec("apache_beam") is None:
            continue
        for name in package.__all__:
            public = signatures[f"{package.__name__}.{name}"] = getattr(package, name)
            if inspect.isclass(public):
                signatures |= {
                    f"{package.__name__}.{name}.{method}": function
                    for method, function in inspect.getmembers(public, inspect.isroutine)
                    if not method.startswith("_") and is_ours(function)
                }
    return signatures


def parameters():
    """Yields the name of each public signature, its object, and each of its parameters."""
    for name, public in public_signatures().items():
        if getattr(public, "_is_protocol", False):
            continue  # Nobody calls it.
        for parameter in inspect.signature(public).parameters.values():
            if parameter.name != "self":
                yield name, public, parameter


def names_of(parameter):
    """The names of the options that `**options: Unpack[...]` takes; empty without such a type."""
    if typing.get_origin(parameter.annotation) is not typing.Unpack:
        return []
    [options] = typing.get_args(parameter.annotation)
    return list(options.__annotations__)


def is_for_keras(public, parameter):
    """Whether it is the `**kwargs` of a class or a method of Keras, which Keras reads."""
    is_keras = issubclass(public, KERAS) if inspect.isclass(public) else is_method_of_keras(public)
    return is_keras and str(parameter).startswith("**kwargs")


def is_method_of_keras(function):
    return hasattr(keras.Model, function.__name__)


def test_a_public_signature_names_its_arguments():
    nameless = [
        f"{name}: {parameter}"
        for name, public, parameter in parameters()
        if parameter.kind in STARRED
        and not is_for_keras(public, parameter)
        and not names_of(parameter)
    ]
    assert nameless == []


def test_the_arguments_of_a_public_signature_have_types():
    untyped = [
        f"{name}: {parameter}"
        for name, public, parameter in parameters()
        if parameter.annotation is inspect.Parameter.empty
        and not is_for_keras(public, parameter)
        and is_ours(inspect.unwrap(public))  # Keras's own have no types.
    ]
    assert untyped == []


def test_the_walk_reaches_classes_functions_and_methods():
    assert {
        "kformer.TransformerEncoder",
        "kformer.Ensemble.translate",
        "kformer.Translator.save",  # Of a base class.
        "kformer.training.shards_dataset",
    } <= public_signatures().keys()
    assert "kformer.Transformer.summary" not in public_signatures()  # Keras's.


def test_the_options_of_a_search_are_those_of_search_options():
    declared = {field.name: field.type for field in dataclasses.fields(SearchOptions)}
    assert AllSearchOptions.__annotations__ == declared
    [*_, options] = inspect.signature(kformer.Translator.translate).parameters.values()
    assert {*names_of(options)} == declared.keys()


def test_the_changes_of_a_recipe_are_its_numbers():
    declared = {field.name: field.type for field in dataclasses.fields(kformer.training.Recipe)}
    assert RecipeChanges.__annotations__ == declared


def test_the_options_of_a_run_are_arguments_of_its_trainer():
    pairs = (
        ("train", "Translation", "Translation"),
        ("train_classifier", "Classification", "Classification"),
        ("train_tagger", "Tagging", "Labelling"),
        ("train_language_model", "Language", "Language"),
    )
    for trainer, options, arguments in pairs:
        is_labelling = options in ("Classification", "Tagging")
        module = labelling_options if is_labelling else run_options
        fields = dataclasses.fields(getattr(module, f"{options}Options"))
        typed = getattr(module, f"{arguments}Arguments").__annotations__
        typed = {name: getattr(kind, "__forward_arg__", kind) for name, kind in typed.items()}
        assert typed == {field.name: field.type for field in fields}
        function = getattr(kformer.training, trainer)
        shown = inspect.signature(function).parameters
        assert all(shown[field.name].default == field.default for field in fields)
        described = inspect.getdoc(function)
        assert all(f"\n    {field.name}: " in described for field in fields)


def test_the_options_of_resumable_fit_are_arguments_of_keras():
    assert FitOptions.__annotations__.keys() <= inspect.signature(keras.Model.fit).parameters.keys()
