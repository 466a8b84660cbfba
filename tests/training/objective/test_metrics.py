"""Metrics, against NumPy, over batches of different size."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.training import MaskedAccuracy, Perplexity, Tokens

V = 7
METRICS = [MaskedAccuracy, Perplexity, Tokens]
every_metric = pytest.mark.parametrize("metric_class", METRICS)


def batch(rng, rows, length, padding=0):
    """Ids with padding behind, and logits that are right about every second time."""
    ids = rng.integers(1, V, (rows, length))
    logits = (
        rng.normal(size=(rows, length, V)) + rng.choice([0, 4], (rows, length, 1)) * np.eye(V)[ids]
    )
    lengths = rng.integers(0, length + 1, (rows, 1))
    return np.where(np.arange(length) < lengths, ids, padding), logits.astype("float32")


def expected(batches, padding=0):
    """Accuracy, perplexity and number of all real tokens together, in float64."""
    right, surprise = [], []
    for ids, logits in batches:
        logits = logits.astype("float64")
        log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        chosen = np.take_along_axis(log_probabilities, ids[..., None], axis=-1)[..., 0]
        right.extend((logits.argmax(axis=-1) == ids)[ids != padding])
        surprise.extend(-chosen[ids != padding])
    return np.mean(right), np.exp(np.mean(surprise)), len(right)


@given(st.integers(0, 9999), st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9)), min_size=1))
def test_every_real_token_counts_alike_in_whatever_batch_it_comes(seed, shapes):
    rng = np.random.default_rng(seed)
    batches = [batch(rng, *shape) for shape in [*shapes, (2, 11)]]
    batches[-1][0][0, 0] = 5  # At least one real token.
    for metric, value in zip([m() for m in METRICS], expected(batches), strict=True):
        for ids, logits in batches:
            metric.update_state(ids, logits)
        np.testing.assert_allclose(metric.result(), value, rtol=1e-4)


@every_metric
def test_a_new_epoch_starts_from_nothing(metric_class):
    rng = np.random.default_rng(0)
    one, other = batch(rng, 3, 5), batch(rng, 2, 7)
    metric, fresh = metric_class(), metric_class()
    metric.update_state(*one)
    metric.reset_state()
    metric.update_state(*other)
    fresh.update_state(*other)
    assert metric.result() == fresh.result()


@pytest.mark.parametrize(("metric_class", "nothing"), [*zip(METRICS, [0, 1, 0], strict=True)])
def test_no_token_is_no_division_by_zero(metric_class, nothing):
    metric = metric_class()
    assert metric.result() == nothing
    metric.update_state(np.zeros((2, 3), "int32"), np.ones((2, 3, V)))
    assert metric.result() == nothing


@pytest.mark.prove
@every_metric
@pytest.mark.parametrize("dtype", ["int64", "uint16", "float32"])
def test_ids_may_come_in_any_type(metric_class, dtype):
    ids, logits = batch(np.random.default_rng(0), 3, 5)
    metric, other = metric_class(), metric_class()
    metric.update_state(ids.astype(dtype), logits)
    other.update_state(ids, keras.ops.cast(logits, "float32"))
    assert metric.result() == other.result()


@pytest.mark.parametrize("metric_class", [MaskedAccuracy, Perplexity])
def test_logits_may_come_in_half_precision(metric_class):
    ids, logits = batch(np.random.default_rng(0), 3, 5)
    half, full = metric_class(), metric_class()
    half.update_state(ids, keras.ops.cast(logits, "bfloat16"))
    full.update_state(ids, logits)
    assert half.result().dtype == "float32"
    np.testing.assert_allclose(half.result(), full.result(), rtol=0.02)


@every_metric
def test_the_padding_id_is_an_argument(metric_class):
    ids, logits = batch(np.random.default_rng(0), 3, 5, padding=6)
    accuracy, perplexity, tokens = expected([(ids, logits)], padding=6)
    metric = metric_class(padding_id=6)
    metric.update_state(ids, logits)
    value = {MaskedAccuracy: accuracy, Perplexity: perplexity, Tokens: tokens}[metric_class]
    np.testing.assert_allclose(metric.result(), value, rtol=1e-5)


@pytest.mark.parametrize("of_texts", [False, True])
def test_sample_weights_weigh_the_tokens(of_texts):
    rng = np.random.default_rng(0)
    batches = [batch(rng, 3, 5), batch(rng, 2, 7)]
    metrics = [metric() for metric in METRICS]
    right, surprise, total = 0, 0, 0
    for ids, logits in batches:
        weights = rng.uniform(0, 3, ids.shape[: 1 if of_texts else 2]).astype("float32")
        for metric in metrics:
            metric.update_state(ids, logits, sample_weight=weights)
        each = (ids != 0) * (weights[:, None] if of_texts else weights)
        log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        chosen = np.take_along_axis(log_probabilities, ids[..., None], axis=-1)[..., 0]
        right += (each * (logits.argmax(axis=-1) == ids)).sum()
        surprise -= (each * chosen).sum()
        total += each.sum()
    found = [float(metric.result()) for metric in metrics]
    expected = right / total, np.exp(surprise / total), total
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@every_metric
def test_keras_can_write_it_down_and_read_it_again(metric_class):
    metric = metric_class(padding_id=5, name="mine")
    again = keras.metrics.deserialize(keras.metrics.serialize(metric))
    assert type(again) is metric_class
    assert again.get_config() == metric.get_config()
    assert (again.padding_id, again.name) == (5, "mine")


def test_their_names_are_those_in_the_progress_bar():
    assert [metric().name for metric in METRICS] == ["accuracy", "perplexity", "tokens"]


@every_metric
def test_a_name_in_the_place_of_the_padding_id_is_refused(metric_class):
    """Keras's own metrics take their name first."""
    with pytest.raises(TypeError, match="Received: padding_id='acc'"):
        metric_class("acc")


@pytest.mark.parametrize("is_left_out", [0, 1])  # Of R-Drop, of SimCut.
def test_a_token_with_two_views_counts_once(is_left_out):
    ids = np.repeat(np.array([[7, 8, 3], [7, 3, 0]]), 2, axis=0)
    marks = np.broadcast_to(np.array([0, is_left_out] * 2)[:, None], ids.shape)
    views = np.stack([ids, marks], axis=-1)[:, :, None]
    assert int(Tokens()(views, np.zeros((4, 3, 10), "float32"))) == 5
