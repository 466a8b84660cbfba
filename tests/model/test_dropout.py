"""Dropout: how many, which, and what becomes of the others."""

import keras
import numpy as np
import pytest
from keras import ops

from kformer.model.residual import Dropout
from support.backend import value_and_gradients

N, D = 500, 34
rates = pytest.mark.parametrize("rate", [0.1, 0.3, 0.75])


def dropped(rate, x=None, seed=7, dtype="float32"):
    x = np.ones((N, D)) if x is None else x
    output = Dropout(rate, seed=seed, dtype=dtype)(x, training=True)
    return ops.convert_to_numpy(ops.cast(output, "float32"))


@rates
def test_the_rate_is_the_share_of_zeros_in_every_column(rate):
    zeros = dropped(rate, np.ones((100, N, D))) == 0
    deviation = (rate * (1 - rate) / zeros.size) ** 0.5
    assert abs(zeros.mean() - rate) < 5 * deviation
    assert np.all(np.abs(zeros.mean(axis=(0, 1)) - rate) < 5 * deviation * D**0.5)


@rates
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_stays_is_scaled_so_that_the_sum_is_expected_to_stay(rate, dtype):
    x = np.random.default_rng(0).normal(size=(N, D)).astype("float32")
    output = dropped(rate, x, dtype=dtype)
    kept = output != 0
    np.testing.assert_allclose(
        output[kept], x[kept] / (1 - rate), rtol=1e-5 if dtype == "float32" else 2e-2
    )


def test_neighbours_are_dropped_independently():
    """Two of them share 32 random bits."""
    zeros = dropped(0.5, np.ones((100, N, D))) == 0
    both = np.mean(zeros[..., 0::2] & zeros[..., 1::2])
    assert abs(both - 0.25) < 5 * (0.25 * 0.75 / zeros.size * 2) ** 0.5


@pytest.mark.parametrize("shape", [(3,), (3, 5, 7), (0, 4)])
def test_any_shape_will_do(shape):
    assert dropped(0.5, np.ones(shape)).shape == shape


def test_every_call_draws_anew_and_the_seed_repeats_it():
    x = np.ones((N, D), "float32")
    one, other = Dropout(0.5, seed=3), Dropout(0.5, seed=3)
    first, second = one(x, training=True), one(x, training=True)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, other(x, training=True))
    np.testing.assert_array_equal(second, other(x, training=True))


def test_the_gradient_goes_where_the_input_went():
    layer = Dropout(0.4, seed=1)
    output, [gradient] = value_and_gradients(lambda x: layer(x, training=True), np.ones((N, D)))
    assert 0 < np.count_nonzero(output) < output.size
    np.testing.assert_array_equal(gradient, output)


def test_outside_of_training_nothing_happens():
    x = np.random.default_rng(0).normal(size=(N, D)).astype("float32")
    for output in [
        Dropout(0.9)(x),
        Dropout(0.9)(x, training=False),
        Dropout(0.0)(x, training=True),
    ]:
        np.testing.assert_array_equal(output, x)


def test_keras_can_write_it_down_and_read_it_again():
    layer = keras.layers.deserialize(keras.layers.serialize(Dropout(0.2, seed=5)))
    assert type(layer) is Dropout and (layer.rate, layer.seed) == (0.2, 5)
