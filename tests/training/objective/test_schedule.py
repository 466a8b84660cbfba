"""The learning rate, against the formula of the paper."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer import Transformer
from kformer.training import MaskedAccuracy, MaskedCrossEntropy, Perplexity, Tokens, WarmupSchedule


def formula(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


@given(st.integers(1, 4096), st.integers(1, 100_000), st.integers(1, 10_000_000))
def test_it_is_the_formula_of_the_paper(d_model, warmup_steps, step):
    schedule = WarmupSchedule(d_model, warmup_steps)
    np.testing.assert_allclose(schedule(step), formula(step, d_model, warmup_steps), rtol=1e-5)
    assert schedule(0) == 0


@given(st.integers(1, 5000), st.integers(0, 10_000), st.data())
def test_a_shorter_rise_reaches_the_same_rate_sooner_and_keeps_it(warmup_steps, step, data):
    rising_steps = data.draw(st.integers(1, warmup_steps))
    schedule = WarmupSchedule(64, warmup_steps, 0.5, rising_steps)
    highest = 0.5 * formula(warmup_steps, 64, warmup_steps)
    if step <= rising_steps:
        expected = highest * step / rising_steps
    else:
        expected = highest if step < warmup_steps else 0.5 * formula(step, 64, warmup_steps)
    np.testing.assert_allclose(schedule(step), expected, rtol=1e-5)


@pytest.mark.tensorflow("A test of its graphs.")
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_the_step_may_be_a_tensor_in_a_graph(dtype):
    schedule = WarmupSchedule(64, 100)
    rate = tf.function(schedule)(tf.constant(250, dtype))
    assert rate.dtype == "float32"
    np.testing.assert_allclose(rate, formula(250, 64, 100), rtol=1e-6)


def test_its_config_makes_another_like_it():
    schedule = WarmupSchedule(512, 8000)
    again = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert type(again) is WarmupSchedule
    expected = {"d_model": 512, "warmup_steps": 8000, "scale": 1.0, "rising_steps": None}
    assert again.get_config() == schedule.get_config() == expected
    del expected["rising_steps"]  # As kformer 0.1.0 wrote it.
    assert WarmupSchedule.from_config(expected).get_config() == schedule.get_config()


@pytest.mark.parametrize(
    ("numbers", "received"),
    [
        ({"d_model": 0}, "d_model=0"),
        ({"warmup_steps": 0}, "warmup_steps=0"),
        ({"scale": 0}, "scale=0"),
        ({"scale": -1.0}, "scale=-1.0"),
        ({"scale": float("nan")}, "scale=nan"),
        ({"rising_steps": 0}, "rising_steps=0"),
        ({"warmup_steps": 8, "rising_steps": 9}, "rising_steps=9"),
    ],
)
def test_its_numbers_must_be_positive(numbers, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        WarmupSchedule(**{"d_model": 512, **numbers})


@pytest.mark.prove
def test_a_compiled_model_goes_on_learning_from_a_keras_file(tmp_path):
    """Schedule, loss, metrics and the optimizer's state all come back: five steps and five more
    from the file are ten."""
    source, target = np.random.randint(1, 11, (2, 40, 5))
    target_in = np.pad(target, ((0, 0), (1, 0)), constant_values=2)[:, :-1]
    data = tf.data.Dataset.from_tensor_slices(((source, target_in), target)).batch(8)

    transformer = Transformer(11, num_layers=1, d_model=6, num_heads=3, d_ff=7, dropout=0)
    transformer.compile(
        keras.optimizers.Adam(WarmupSchedule(6, 4), beta_2=0.98),
        MaskedCrossEntropy(0.2),
        metrics=[MaskedAccuracy(), Perplexity(), Tokens()],
        run_eagerly=True,  # Ten small steps are sooner done than traced.
    )
    transformer.fit(data, shuffle=False, verbose=0)
    transformer.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")

    schedule = loaded.optimizer._learning_rate
    assert type(schedule) is WarmupSchedule and schedule.warmup_steps == 4
    assert loaded.optimizer.iterations == 5
    assert loaded.loss.label_smoothing == 0.2
    expected, history = (
        model.fit(data, shuffle=False, verbose=0).history for model in (transformer, loaded)
    )
    assert set(history) == {"loss", "accuracy", "perplexity", "tokens"}
    for name, values in expected.items():
        np.testing.assert_allclose(history[name], values, rtol=1e-5)
    for one, other in zip(transformer.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [0.5, 2.5])
def test_a_scale_multiplies_every_rate_and_stays_with_it(scale):
    papers, scaled = WarmupSchedule(64, 9), WarmupSchedule(64, 9, scale)
    restored = WarmupSchedule.from_config(scaled.get_config())
    for step in (0, 1, 9, 1000):
        np.testing.assert_allclose(scaled(step), scale * papers(step), rtol=1e-6)
        np.testing.assert_array_equal(restored(step), scaled(step))
