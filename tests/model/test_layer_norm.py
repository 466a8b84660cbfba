"""Layer normalisation in training: Keras's values, and the gradients of the formula."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from kformer.model.residual import EPSILON, LayerNorm
from support.backend import value_and_gradients

B, T, D = 3, 5, 14


def layer_and_input(seed, offset=0.0, dtype="float32"):
    rng = np.random.default_rng(seed)
    layer = LayerNorm(dtype=dtype)
    layer.build((None, None, D))
    layer.gamma.assign(rng.normal(size=D))
    layer.beta.assign(rng.normal(size=D))
    return layer, (rng.normal(size=(B, T, D)) + offset).astype("float32")


def formula(x, gamma, beta):
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = (centered**2).mean(axis=-1, keepdims=True)
    return centered / np.sqrt(variance + EPSILON) * gamma + beta


def differences(arguments, upstream, step=1e-6):
    """The gradients of the formula by central differences, in float64."""
    gradients = [np.empty_like(one) for one in arguments]
    for gradient, argument in zip(gradients, arguments, strict=True):
        for place in np.ndindex(argument.shape):
            sums, middle = [], argument[place]
            for argument[place] in (middle + step, middle - step):
                sums.append((formula(*arguments) * upstream).sum())
            argument[place] = middle
            gradient[place] = (sums[0] - sums[1]) / (2 * step)
    return gradients


@given(st.integers(0, 9999), st.sampled_from([0.0, 1.0, 50.0]))
def test_values_and_gradients_are_those_of_the_formula(seed, offset):
    layer, x = layer_and_input(seed, offset)
    upstream = np.random.default_rng(seed + 1).normal(size=(B, T, D))
    variables = [layer.gamma, layer.beta]
    output, gradients = value_and_gradients(
        lambda x: layer(x, training=True), x, variables=variables, upstream=upstream
    )
    exact = [np.array(ops.convert_to_numpy(one), "float64") for one in (x, *variables)]
    np.testing.assert_allclose(output, formula(*exact), rtol=2e-4, atol=2e-4)
    for one, other in zip(gradients, differences(exact, upstream), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "float64"])
def test_training_and_inference_say_the_same_as_keras(dtype):
    layer, x = layer_and_input(0, dtype=dtype)
    keras_layer = keras.layers.LayerNormalization(epsilon=EPSILON, dtype=dtype)
    keras_layer.build((None, None, D))
    keras_layer.set_weights(layer.get_weights())
    expected = keras_layer(x)
    for output in [layer(x), layer(x, training=True)]:
        assert output.dtype == expected.dtype
        np.testing.assert_allclose(
            ops.convert_to_numpy(ops.cast(output, "float64" if dtype == "float64" else "float32")),
            ops.convert_to_numpy(
                ops.cast(expected, "float64" if dtype == "float64" else "float32")
            ),
            atol=2e-2 if dtype == "mixed_bfloat16" else 1e-5,
        )


def test_a_row_of_one_value_becomes_beta():
    layer, _ = layer_and_input(0)
    output = layer(np.full((1, 1, D), 3.0, "float32"), training=True)
    np.testing.assert_allclose(
        output[0, 0], layer.beta, atol=1e-3
    )  # 3 - 3 is 1e-7 in float32, times 1e2.5.
