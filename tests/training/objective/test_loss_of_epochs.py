"""`loss` in the logs of `fit` and `evaluate`: of all tokens of an epoch, whatever their batches."""

import warnings

import keras
import numpy as np
import pytest

from kformer import (
    SequenceClassifier,
    TokenClassifier,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
)
from kformer.training import AveragedAdam, MaskedCrossEntropy, Perplexity

V, K = 11, 2
SIZES = {"vocab_size": V, "num_layers": 1, "d_model": 8, "num_heads": 2, "d_ff": 12, "dropout": 0.0}
SMOOTHING, WEIGHT = 0.1, 2.5
# Rows and lengths of batches, with very different numbers of tokens in a row.
SHAPES = (7, 3), (2, 13), (1, 17)


def rows_of_ids(rng):
    """A batch of ids (B, T) for each shape, with padding at the ends."""
    for rows, length in SHAPES:
        ids = rng.integers(4, V, (rows, length))
        lengths = rng.integers(1, length + 1, rows)
        yield np.where(np.arange(length) < lengths[:, None], ids, 0).astype("int32")


def translator(rng):
    return Transformer(**SIZES), [((ids, ids), ids) for ids in rows_of_ids(rng)], 0


def language_model(rng):
    return TransformerDecoder(**SIZES), [(ids, ids) for ids in rows_of_ids(rng)], 0


def classifier(rng):
    """Some of its rows are padding, as in batches of fixed shapes."""
    model = SequenceClassifier(TransformerEncoder(**SIZES), 3)
    batches = [(ids, rng.integers(-1, 3, len(ids))) for ids in rows_of_ids(rng)]
    batches[0][1][:3] = -1
    return model, batches, -1


def tagger(rng):
    model = TokenClassifier(TransformerEncoder(**SIZES), 3)
    return model, [(ids, rng.integers(-1, 3, ids.shape)) for ids in rows_of_ids(rng)], -1


def student(rng):
    """Its expected outputs have the ids and the probabilities of a teacher."""
    model, batches, padding_id = translator(rng)
    for i, (inputs, ids) in enumerate(batches):
        places = rng.permuted(np.broadcast_to(np.arange(V), (*ids.shape, V)), axis=-1)[..., :K]
        units = rng.integers(1, 9, places.shape)
        expected = np.concatenate([ids[..., None], places, units], axis=-1)
        batches[i] = inputs, expected.astype("int32")
    return model, batches, padding_id


def of_two_views(left_out):
    def two_views(rng):
        model, batches, padding_id = translator(rng)
        for i, (inputs, ids) in enumerate(batches):
            inputs = [np.repeat(side, 2, axis=0) for side in inputs]
            inputs[0][1::2, 0] = 1
            expected = np.zeros((2 * len(ids), ids.shape[1], 1, 2), "int32")
            expected[..., 0, 0] = np.repeat(ids, 2, axis=0)
            expected[1::2, ..., 1] = left_out
            batches[i] = tuple(inputs), expected
        return model, batches, padding_id

    return two_views


KINDS = {
    "translator": translator,
    "language model": language_model,
    "classifier": classifier,
    "tagger": tagger,
    "student": student,
    "SimCut": of_two_views(1),
    "R-Drop": of_two_views(0),
}


def log_softmax(logits):
    shifted = logits.astype("float64") - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def sums(y_true, logits, padding_id):
    """The sum of the cross entropy, the tokens, the sum of the divergence, the tokens of that."""
    log_p, divergence = log_softmax(np.array(logits)), np.zeros(2)
    left_out = 0
    if y_true.ndim == 4:
        left_out, y_true = y_true[:, 0, 0, 1], y_true[..., 0, 0]
        p, q = log_p[::2], log_p[1::2]
        first = y_true[::2] != padding_id
        both = ((np.exp(p) - np.exp(q)) * (p - q)).sum(axis=-1) / 2
        divergence = np.array([both[first].sum(), first.sum()])
        left_out = left_out[:, None] * np.ones_like(y_true)
    teachers = None
    if y_true.ndim == 3:
        teachers, y_true = y_true[..., 1:], y_true[..., 0]
    labels = log_p.shape[-1]
    wanted = (1 - SMOOTHING) * np.eye(labels)[np.maximum(y_true, 0)] + SMOOTHING / labels
    if teachers is not None:
        units = np.zeros_like(log_p)
        np.put_along_axis(units, teachers[..., :K], teachers[..., K:], axis=-1)
        wanted = (wanted + units / units.sum(axis=-1, keepdims=True)) / 2
    real = (y_true != padding_id) & (np.asarray(left_out) == 0)
    costs = -(wanted * log_p).sum(axis=-1)
    return np.array([costs[real].sum(), real.sum(), *divergence])


def loss_of(model, batches, padding_id):
    """The sum over all real tokens, divided by their number, float64."""
    parts = sum(sums(expected, model(inputs), padding_id) for inputs, expected in batches)
    return parts[0] / parts[1] + WEIGHT * (parts[2] / parts[3] if parts[3] else 0)


def compiled(model, padding_id, **options):
    loss = MaskedCrossEntropy(SMOOTHING, padding_id, consistency_weight=WEIGHT)
    model.compile(AveragedAdam(**options), loss)
    return model


class Batches(keras.utils.PyDataset):
    """Batches in their order."""

    def __init__(self, batches):
        super().__init__()
        self._batches = batches

    def __len__(self):
        return len(self._batches)

    def __getitem__(self, place):
        return self._batches[place]


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_of_validation_is_the_sum_over_real_tokens_by_their_number(kind):
    model, batches, padding_id = KINDS[kind](np.random.default_rng(3))
    compiled(model, padding_id)
    scores = model.evaluate(Batches(batches), verbose=0, return_dict=True)
    expected = loss_of(model, batches, padding_id)
    np.testing.assert_allclose(scores["loss"], expected, rtol=1e-5)
    by_rows = [loss_of(model, [batch], padding_id) for batch in batches]
    rows = [len(batch[1]) for batch in batches]
    assert abs(np.average(by_rows, weights=rows) - expected) > 1e-4 * expected  # Keras's loss.


@pytest.mark.parametrize("accumulated", [None, 2])
def test_so_is_the_loss_of_training_also_with_accumulated_gradients(accumulated):
    model, batches, padding_id = language_model(np.random.default_rng(5))
    options = {"learning_rate": 0.0, "gradient_accumulation_steps": accumulated}
    compiled(model, padding_id, **options)
    history = model.fit(
        Batches(batches), validation_data=Batches(batches[1:]), epochs=2, shuffle=False, verbose=0
    ).history
    for name, part in ("loss", batches), ("val_loss", batches[1:]):
        expected = loss_of(model, part, padding_id)
        np.testing.assert_allclose(history[name], [expected] * 2, rtol=1e-5)


def test_perplexity_is_that_of_the_loss_without_smoothing():
    model, batches, _ = language_model(np.random.default_rng(7))
    model.compile(loss=MaskedCrossEntropy(0.0), metrics=[Perplexity()])
    scores = model.evaluate(Batches(batches), verbose=0, return_dict=True)
    np.testing.assert_allclose(np.exp(scores["loss"]), scores["perplexity"], rtol=1e-5)


class AsInKeras(TransformerDecoder):
    """A language model whose `loss` in the logs is Keras's."""

    compile = keras.Model.compile
    compute_loss = keras.Model.compute_loss


def test_the_model_learns_as_with_the_loss_of_keras():
    weights, losses = [], []
    for kind in TransformerDecoder, AsInKeras:
        keras.utils.set_random_seed(9)
        _, batches, padding_id = language_model(np.random.default_rng(9))
        model = compiled(kind(**SIZES), padding_id, learning_rate=0.01)
        fit = model.fit(Batches(batches), epochs=3, shuffle=False, verbose=0)
        weights.append(model.get_weights())
        losses.append(fit.history["loss"])
    for ours, theirs in zip(*weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert np.abs(np.subtract(*losses)).min() > 1e-3


def test_a_loaded_model_has_the_same_loss(tmp_path):
    model, batches, padding_id = language_model(np.random.default_rng(11))
    compiled(model, padding_id).save(tmp_path / "model.keras")
    with warnings.catch_warnings(action="error"):
        loaded = keras.saving.load_model(tmp_path / "model.keras")
    loss = loaded.evaluate(Batches(batches), verbose=0)
    np.testing.assert_allclose(loss, loss_of(model, batches, padding_id), rtol=1e-5)
    assert [metric.name for metric in loaded.metrics] == ["loss"]
    assert len(loaded.metrics_variables) == 2  # As many as checkpoints of earlier versions have.


def test_losses_without_tokens_stay_as_keras_has_them():
    model, batches, _ = language_model(np.random.default_rng(13))
    targets = [(ids, np.array(model(ids)) + np.float32(i)) for i, (ids, _) in enumerate(batches)]
    model.compile(loss="mse")
    loss = model.evaluate(Batches(targets), verbose=0)
    rows = [rows for rows, _ in SHAPES]
    np.testing.assert_allclose(loss, np.average([0, 1, 4], weights=rows), rtol=1e-4)
