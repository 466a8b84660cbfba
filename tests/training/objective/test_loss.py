"""The loss, against the distribution that it never builds."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer import TokenEmbedding
from kformer.backend import is_tensorflow
from kformer.training import MaskedAccuracy, MaskedCrossEntropy, Perplexity, Tokens
from support.backend import value_and_gradients

B, T, V = 3, 5, 7
smoothings = pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 0.9])


def log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def smoothed(ids, label_smoothing):
    """The expected distribution of each token, float64 (..., V)."""
    return (1 - label_smoothing) * np.eye(V)[ids] + label_smoothing / V


def cross_entropy(ids, logits, label_smoothing):
    """-sum_v p(v) log q(v) of each token, float64."""
    return -(smoothed(ids, label_smoothing) * log_softmax(logits.astype("float64"))).sum(axis=-1)


def loss_of(ids, logits, label_smoothing):
    """The mean over real tokens, float64."""
    return cross_entropy(ids, logits, label_smoothing)[ids != 0].mean()


def example(dtype="float32"):
    ids = np.array([[4, 1, 6, 3, 0], [3, 0, 0, 0, 0], [1, 2, 5, 6, 3]])
    return ids, np.random.normal(scale=3, size=(B, T, V)).astype(dtype)


@given(st.integers(0, 9999), st.floats(0, 0.99))
def test_a_token_costs_the_cross_entropy_with_the_smoothed_distribution(seed, label_smoothing):
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, V, (1, 1))
    logits = rng.normal(scale=rng.choice([0.1, 1, 30]), size=(1, 1, V)).astype("float32")
    expected = cross_entropy(ids, logits, label_smoothing)[0, 0]
    loss = MaskedCrossEntropy(label_smoothing)(ids, logits)
    np.testing.assert_allclose(loss, expected, rtol=1e-4, atol=1e-4)


@smoothings
def test_the_loss_is_the_mean_over_real_tokens(label_smoothing):
    ids, logits = example()
    loss = MaskedCrossEntropy(label_smoothing)(ids, logits)
    assert loss.shape == () and loss.dtype == "float32"
    np.testing.assert_allclose(loss, loss_of(ids, logits, label_smoothing), rtol=1e-5)


def test_labels_of_texts_cost_what_the_same_ids_of_tokens_do():
    ids, logits = example()
    texts = MaskedCrossEntropy(0.1)(ids[2], logits[2])  # (T,), as a classifier's labels (B,)
    np.testing.assert_allclose(texts, loss_of(ids[2:], logits[2:], 0.1), rtol=1e-5)


@pytest.mark.sample(3)
@smoothings
def test_the_gradient_is_the_probability_less_the_expected_one(label_smoothing):
    ids, logits = example()
    loss = MaskedCrossEntropy(label_smoothing)
    _, [gradient] = value_and_gradients(lambda logits: loss(ids, logits), logits)
    probabilities = np.exp(log_softmax(logits.astype("float64")))
    real = (ids != 0)[..., None]
    expected = real * (probabilities - smoothed(ids, label_smoothing)) / real.sum()
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def of_teachers(ids, rng):
    """Random probabilities of two ids at each place: in `y_true`, and as an array (B, T, V)."""
    places = np.argsort(rng.random((*ids.shape, V)), axis=-1)[..., :2]
    units = rng.integers(1, 2**16, places.shape)
    probabilities = np.zeros((*ids.shape, V))
    np.put_along_axis(probabilities, places, units / units.sum(axis=-1, keepdims=True), axis=-1)
    return np.concatenate([ids[..., None], places, units], axis=-1).astype("int32"), probabilities


def test_half_of_a_students_loss_is_the_cross_entropy_with_its_teachers():
    ids, logits = example()
    y_true, probabilities = of_teachers(ids, np.random.default_rng(0))
    of_tokens = -(probabilities * log_softmax(logits.astype("float64"))).sum(axis=-1)
    expected = (loss_of(ids, logits, 0.1) + of_tokens[ids != 0].mean()) / 2
    loss = MaskedCrossEntropy(0.1)
    np.testing.assert_allclose(loss(y_true, logits), expected, rtol=1e-5)
    _, [gradient] = value_and_gradients(lambda logits: loss(y_true, logits), logits)
    wanted = (smoothed(ids, 0.1) + probabilities) / 2
    real = (ids != 0)[..., None]
    difference = np.exp(log_softmax(logits.astype("float64"))) - wanted
    np.testing.assert_allclose(gradient, real * difference / real.sum(), atol=1e-6)


def divergence(logits, other):
    """The mean of KL(p || q) and KL(q || p) of each token, float64."""
    log_p, log_q = log_softmax(logits.astype("float64")), log_softmax(other.astype("float64"))
    forth = (np.exp(log_p) * (log_p - log_q)).sum(axis=-1)
    back = (np.exp(log_q) * (log_q - log_p)).sum(axis=-1)
    return (forth + back) / 2


@pytest.mark.parametrize("left_out", [0, 1])
def test_two_views_cost_their_cross_entropy_and_their_divergence(left_out):
    ids, logits = example()
    _, other = example()
    rows = np.stack([logits, other], axis=1).reshape(2 * B, T, V)
    y_true = np.zeros((2 * B, T, 1, 2), int)
    y_true[..., 0, 0] = np.repeat(ids, 2, axis=0)
    y_true[1::2, ..., 1] = left_out
    losses = [loss_of(ids, view, 0.1) for view in (logits, other)]
    expected = losses[0] if left_out else np.mean(losses)
    expected += 2.5 * divergence(logits, other)[ids != 0].mean()
    loss = MaskedCrossEntropy(0.1, consistency_weight=2.5)
    np.testing.assert_allclose(loss(y_true, rows), expected, rtol=1e-5)
    seen = Tokens()
    seen.update_state(y_true, rows)
    assert seen.result() == np.count_nonzero(ids)


def test_two_views_of_labelled_texts_are_compared():
    ids, logits = example()
    y_true = np.repeat(ids[2], 2)[:, None, None] * [1, 0] + np.tile([0, 1], T)[:, None, None] * [
        0,
        1,
    ]
    rows = np.stack([logits[2], logits[0]], axis=1).reshape(2 * T, V)
    expected = loss_of(ids[2], logits[2], 0.1) + 3 * divergence(logits[2], logits[0]).mean()
    np.testing.assert_allclose(MaskedCrossEntropy(0.1)(y_true, rows), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint16", "float32"])
def test_ids_may_come_in_any_type(dtype):
    ids, logits = example()
    np.testing.assert_allclose(
        MaskedCrossEntropy()(ids.astype(dtype), logits), loss_of(ids, logits, 0.1), rtol=1e-5
    )


def test_logits_in_half_precision_are_summed_in_full():
    ids, logits = example()
    half = keras.ops.cast(logits, "bfloat16")
    loss = MaskedCrossEntropy()(ids, half)
    assert loss.dtype == "float32"
    rounded = keras.ops.convert_to_numpy(keras.ops.cast(half, "float32"))
    expected = loss_of(ids, rounded, 0.1)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_large_ids_survive_a_small_float_type_of_keras():
    before = keras.config.floatx()
    keras.config.set_floatx("bfloat16")  # 8 bits of precision: 257 would become 256.
    try:
        logits = np.zeros((1, 1, 300), "float32")
        logits[..., 257] = 9
        assert MaskedCrossEntropy(0.0)(np.array([[257]]), logits) < 0.1
    finally:
        keras.config.set_floatx(before)


def test_the_padding_id_is_an_argument():
    ids, logits = example()
    moved = np.where(ids == 0, 6, np.where(ids == 6, 0, ids))
    swapped = logits[..., [6, 1, 2, 3, 4, 5, 0]]
    np.testing.assert_allclose(
        MaskedCrossEntropy(padding_id=6)(moved, swapped),
        MaskedCrossEntropy()(ids, logits),
        rtol=1e-6,
    )


def test_keras_can_write_it_down_and_read_it_again():
    loss = MaskedCrossEntropy(0.2, padding_id=5, name="mine")
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert type(again) is MaskedCrossEntropy
    assert again.get_config() == loss.get_config()
    assert (again.label_smoothing, again.padding_id, again.name) == (0.2, 5, "mine")


def test_ids_may_have_an_axis_of_size_1():
    ids, logits = example()
    loss = MaskedCrossEntropy(0.1)
    np.testing.assert_array_equal(loss(ids[..., None], logits), loss(ids, logits))
    labels = ids[:, 0]
    expected = loss(labels, logits[:, 0])
    np.testing.assert_array_equal(loss(labels[:, None], logits[:, 0]), expected)


@pytest.mark.parametrize("shape", [(B,), (B, T + 1), (B, T, 2), (B, T, 4), (B, 1, T)])
def test_what_has_another_shape_is_refused(shape):
    logits = example()[1]
    received = r"Received: y_true of shape \({}\).*logits of shape \(3, 5, 7\)"
    numbers = ", ".join(map(str, shape)) + "," * (len(shape) == 1)
    for one in (MaskedCrossEntropy(), MaskedAccuracy().update_state, Tokens().update_state):
        with pytest.raises(ValueError, match=received.format(numbers)):
            one(np.ones(shape, "int32"), logits)


def test_vectors_of_classes_are_no_labels_and_floats_no_teachers():
    with pytest.raises(ValueError, match=r"Received: y_true of shape \(5, 7\)"):
        MaskedCrossEntropy(padding_id=-1)(np.eye(V)[:T], np.ones((T, V), "float32"))
    ids, logits = example()
    with pytest.raises(ValueError, match=r"shape \(3, 5, 7\) and dtype='float32'"):
        MaskedCrossEntropy()(np.eye(V, dtype="float32")[ids], logits)


WRONG = [-100, -1, V, 999, 2.5, float("nan")]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_an_id_is_refused(wrong):
    ids, logits = example()
    ids = ids.astype("float32" if isinstance(wrong, float) else "int32")
    ids[1, 2] = wrong
    for one in (MaskedCrossEntropy(), Perplexity().update_state, Tokens().update_state):
        with pytest.raises(ValueError, match=r"from 0 to 6, .* Received: y_true with values from"):
            one(ids, logits)


@pytest.mark.prove
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("from_embedding", [False, True])
def test_in_a_graph_what_cannot_be_an_id_ends_training(wrong, from_embedding):
    ids, logits = example()
    ids = ids.astype("float32" if isinstance(wrong, float) else "int32")
    ids[1, 2] = wrong
    embedding = TokenEmbedding(V, 4)
    embedding.build()

    def loss(logits):
        scored = embedding.logits(logits[..., :4]) if from_embedding else logits
        return MaskedCrossEntropy()(ids, scored)

    if is_tensorflow():
        with pytest.raises(Exception, match=r"from 0 to 6, .*Received: y_true with values from"):
            value_and_gradients(loss, logits)
    else:
        assert np.isnan(value_and_gradients(loss, logits)[0])


def test_teachers_have_ids_of_the_vocabulary():
    ids, logits = example()
    y_true, _ = of_teachers(ids, np.random.default_rng(0))
    y_true[0, 0, 1] = V
    with pytest.raises(ValueError, match=r"with values from 0 to 7 and of shape \(3, 5, 5\)"):
        MaskedCrossEntropy()(y_true, logits)


def test_the_padding_id_may_be_out_of_range():
    ids, logits = example()
    expected = MaskedCrossEntropy()(ids, logits)
    padded = np.where(ids == 0, -100, ids)
    loss = MaskedCrossEntropy(padding_id=-100)
    np.testing.assert_allclose(loss(padded, logits), expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (B,), (B, 1), (B, T), (B, T, 1)])
def test_sample_weights_are_of_texts_or_of_tokens(shape):
    ids, logits = example()
    weights = np.random.default_rng(0).uniform(0, 3, shape).astype("float32")
    of_tokens = weights[..., 0] if len(shape) == 3 else weights
    of_tokens = np.broadcast_to(of_tokens[:, None] if len(shape) == 1 else of_tokens, (B, T))
    costs = cross_entropy(ids, logits, 0.1) * of_tokens * (ids != 0)
    loss = MaskedCrossEntropy(0.1)(ids, logits, sample_weight=weights)
    np.testing.assert_allclose(loss, costs.sum() / (ids != 0).sum(), rtol=1e-5)


def test_sample_weights_of_labels_have_their_shape():
    ids, logits = example()
    weights = np.array([0.5, 0, 2], "float32")
    costs = cross_entropy(ids[:, 0], logits[:, 0], 0.1) * weights
    for one in (weights, weights[:, None]):
        loss = MaskedCrossEntropy(0.1)(ids[:, 0], logits[:, 0], one)
        np.testing.assert_allclose(loss, costs.mean(), rtol=1e-5)


@pytest.mark.parametrize("shape", [(T,), (1, T), (B, T, 2), (B, T + 1)])
def test_other_sample_weights_are_refused(shape):
    ids, logits = example()
    with pytest.raises(ValueError, match=r"Received: sample_weight of shape \(.*ids of shape"):
        MaskedCrossEntropy()(ids, logits, np.ones(shape, "float32"))


def test_without_a_reduction_each_token_has_its_own_loss():
    ids, logits = example()
    weights = np.array([0.5, 0, 2], "float32")
    loss = MaskedCrossEntropy(0.1, reduction="none")
    expected = cross_entropy(ids, logits, 0.1) * (ids != 0) * weights[:, None]
    np.testing.assert_allclose(loss(ids, logits, weights), expected, atol=1e-5)
    found, _ = value_and_gradients(lambda logits: loss(ids, logits), logits)
    np.testing.assert_allclose(found, loss(ids, logits), atol=1e-5)


def test_other_reductions_are_refused_and_the_old_name_of_the_mean_is_read():
    with pytest.raises(ValueError, match="Received: reduction='sum'"):
        MaskedCrossEntropy(reduction="sum")
    config = MaskedCrossEntropy().get_config() | {"reduction": "sum"}  # As of 0.1.0.
    assert MaskedCrossEntropy.from_config(config).reduction == "sum_over_batch_size"


@pytest.mark.parametrize("label_smoothing", [-0.1, 1, 1.5])
def test_the_smoothing_is_a_share(label_smoothing):
    with pytest.raises(ValueError, match=f"Received: label_smoothing={label_smoothing}"):
        MaskedCrossEntropy(label_smoothing)
