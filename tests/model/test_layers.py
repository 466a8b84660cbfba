"""What Keras asks of every layer, whichever it is."""

import inspect

import keras
import numpy as np
import pytest

from kformer import Transformer
from kformer.model.residual import Residual
from support.layers import CASES, STACK, S, T, V, call, flat, inputs_of, model_with
from support.reference import perturbed

every_layer = pytest.mark.parametrize(
    ("layer_class", "settings", "shapes"),
    CASES,
    ids=[f"{case[0].__name__}-{i}" for i, case in enumerate(CASES)],
)


@pytest.mark.sample(27)
@every_layer
def test_its_config_makes_another_like_it(layer_class, settings, shapes):
    layer = layer_class(**settings, name="mine", dtype="mixed_bfloat16")
    another = layer_class.from_config(layer.get_config())
    assert settings.items() <= layer.get_config().items()
    assert another.get_config() == layer.get_config()
    assert another.name == "mine" and another.dtype_policy.name == "mixed_bfloat16"


@pytest.mark.sample(25)
@every_layer
def test_every_constructor_argument_is_an_attribute(layer_class, settings, shapes):
    layer = layer_class(**settings)
    parameters = {**inspect.signature(layer_class).parameters}
    del parameters["kwargs"]
    config = layer.get_config()  # Without some arguments that have their default.
    for name, parameter in parameters.items():
        value = getattr(layer, name)  # `Transformer.dropout` is a layer, named so in saved files.
        assert getattr(value, "rate", value) == config.get(name, parameter.default)
    assert settings.keys() <= parameters.keys()


@pytest.mark.prove
@every_layer
def test_a_keras_file_brings_it_back(layer_class, settings, shapes, tmp_path):
    layer, inputs = layer_class(**settings), inputs_of(shapes)
    model = model_with(layer, inputs)
    perturbed(layer)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert any(type(part) is layer_class for part in loaded.layers)
    for one, other in zip(flat(model(inputs)), flat(loaded(inputs)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_transformer_is_a_keras_file_by_itself(tmp_path):
    transformer, inputs = perturbed(Transformer(V, **STACK)), inputs_of([(S,), (T,)])
    transformer.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(transformer(tuple(inputs)), loaded(tuple(inputs)))


@pytest.mark.prove
@every_layer
def test_the_symbolic_output_is_that_of_a_call(layer_class, settings, shapes):
    layer, inputs = layer_class(**settings), inputs_of(shapes)
    symbolic = flat(model_with(layer, inputs).output)
    for symbol, tensor in zip(symbolic, flat(call(layer, inputs)), strict=True):
        assert symbol.dtype == keras.backend.standardize_dtype(tensor.dtype)
        assert len(symbol.shape) == len(tensor.shape)
        assert all(s in (None, t) for s, t in zip(symbol.shape, tensor.shape, strict=True))


@pytest.mark.prove
@every_layer
def test_it_runs_in_mixed_precision(layer_class, settings, shapes):
    layer, inputs = layer_class(**settings, dtype="mixed_bfloat16"), inputs_of(shapes)
    output, *attention = flat(call(layer, inputs))
    assert output.dtype == "bfloat16"
    assert all(weights.dtype == "float32" for weights in attention)
    assert all(weight.dtype == "float32" for weight in layer.weights if "seed" not in weight.path)


@pytest.mark.prove
@every_layer
def test_it_says_nearly_the_same_in_mixed_precision(layer_class, settings, shapes):
    layer, inputs = layer_class(**settings), inputs_of(shapes)
    full = flat(call(layer, inputs))
    mixed = layer_class(**settings, dtype="mixed_bfloat16")
    call(mixed, inputs)
    mixed.set_weights(layer.get_weights())
    for one, other in zip(full, flat(call(mixed, inputs)), strict=True):
        other = keras.ops.convert_to_numpy(keras.ops.cast(other, "float32"))
        np.testing.assert_allclose(one, other, atol=0.03 * np.abs(one).max())


def test_a_residual_keeps_its_settings():
    residual = Residual(dropout=0.3, norm_first=True, name="mine")
    another = Residual.from_config(residual.get_config())
    assert another.get_config() == residual.get_config()
