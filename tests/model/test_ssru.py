import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kformer import SSRU
from kformer.model.ssru import all_states, next_state
from support import reference
from support.backend import value_and_gradients
from support.reference import Model, perturbed, weights_of

B, T, D = 2, 7, 5


def random(*shape):
    return np.random.normal(size=shape)


def decays(*shape):
    return np.random.uniform(size=shape)


def ssru(**settings):
    layer = SSRU(D, name="ssru", **settings)
    layer.build((None, None, D))
    return perturbed(layer)


def expected(layer, x):
    return reference.ssru(x, Model(weights_of(layer), num_heads=1), "ssru")


def step_by_step(decay, update):
    """The states (B, T, D), one position after the other."""
    states, state = [], np.zeros_like(update[:, 0])
    for position in range(update.shape[1]):
        state = next_state(decay[:, position], update[:, position], state)
        states.append(state)
    return np.stack(states, axis=1)


@pytest.mark.parametrize("length", [1, 2, 3, T, 8, 33])
def test_all_positions_at_once_are_the_equations_one_by_one(length):
    layer, x = ssru(), random(B, length, D)
    np.testing.assert_allclose(layer(x), expected(layer, x), atol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, T, 8, 33])
def test_the_states_are_those_of_one_step_after_the_other(length):
    decay, update = decays(B, length, D), random(B, length, D)
    states = all_states(keras.ops.array(decay), keras.ops.array(update))
    np.testing.assert_allclose(states, step_by_step(decay, update), atol=1e-12)


def test_a_case_worked_by_hand():
    decay, update = np.array([[[0.5], [0.25], [0.0]]]), np.array([[[8.0], [0.0], [-3.0]]])
    states = all_states(keras.ops.array(decay), keras.ops.array(update))
    np.testing.assert_allclose(states, [[[4.0], [1.0], [-3.0]]])


@given(
    arrays(np.float32, (1, T, D), elements=st.floats(-50, 50, width=32)),
    st.integers(1, T - 1),
    st.floats(-1e3, 1e3),
)
def test_the_future_cannot_change_the_past(x, length, noise):
    layer = ssru()
    changed = np.concatenate([x[:, :length], x[:, length:] * 0 + np.float32(noise)], axis=1)
    before, after = (np.array(layer(values))[:, :length] for values in (x, changed))
    np.testing.assert_array_equal(before, after)
    np.testing.assert_allclose(layer(x[:, :length]), before, rtol=1e-5, atol=1e-5)


def test_every_earlier_position_can_change_the_output():
    _, gradients = value_and_gradients(
        all_states, decays(1, T, 1), random(1, T, 1), upstream=np.eye(T)[-1].reshape(1, T, 1)
    )
    assert all((gradient != 0).sum() >= T - 1 for gradient in gradients)


@pytest.mark.parametrize("length", [1, 2, T])
def test_the_gradients_are_those_of_small_differences(length):
    inputs, upstream = (decays(B, length, D), random(B, length, D)), random(B, length, D)
    _, gradients = value_and_gradients(all_states, *inputs, upstream=upstream)
    small = 1e-6
    for which, gradient in enumerate(gradients):
        for index in np.ndindex(B, length, D):
            moved = []
            for sign in (small, -small):
                changed = [x.copy() for x in inputs]
                changed[which][index] += sign
                moved.append((step_by_step(*changed) * upstream).sum())
            difference = (moved[0] - moved[1]) / (2 * small)
            np.testing.assert_allclose(gradient[index], difference, rtol=1e-5, atol=1e-7)


@pytest.mark.tensorflow("Shapes are static on other backends.")
def test_a_graph_for_any_length_computes_the_same():
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec((None, None, D), tf.float64)] * 2)
    def in_graph(decay, update):
        with tf.GradientTape() as tape:
            tape.watch((decay, update))
            states = all_states(decay, update)
        return states, tape.gradient(states, (decay, update))

    for length in (1, 2, T, 33):
        inputs = decays(B, length, D), random(B, length, D)
        states, gradients = in_graph(*inputs)
        value, expected_gradients = value_and_gradients(all_states, *inputs)
        np.testing.assert_allclose(states, value, atol=1e-12)
        for gradient, other in zip(gradients, expected_gradients, strict=True):
            np.testing.assert_allclose(gradient, other, atol=1e-12)


def test_decays_of_any_size_stay_exact():
    decay = np.random.choice([0.0, 1e-38, 1e-20, 0.5, 1 - 6e-8, 1.0], (B, 300, D))
    update = random(B, 300, D)
    states = all_states(*(keras.ops.array(x, "float32") for x in (decay, update)))
    np.testing.assert_allclose(states, step_by_step(decay, update), atol=2e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float16"])
def test_states_are_computed_in_float32(policy):
    layer, x = ssru(dtype=policy), random(B, 200, D)
    output = layer(x)
    assert output.dtype == layer.compute_dtype
    bits = 8 if "bfloat16" in policy else 11
    values = keras.ops.convert_to_numpy(keras.ops.cast(output, "float32"))
    np.testing.assert_allclose(values, expected(layer, x), atol=20 * 2.0**-bits)


def test_a_width_must_be_positive():
    with pytest.raises(ValueError, match=r"`d_model` must be at least 1\. Received: d_model=0"):
        SSRU(0)
