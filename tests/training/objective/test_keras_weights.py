"""Weights of samples and of classes, as `fit` and `evaluate` of Keras pass them on."""

import numpy as np
import pytest

from kformer import SequenceClassifier, Transformer, TransformerDecoder, TransformerEncoder
from kformer.training import MaskedAccuracy, MaskedCrossEntropy, Perplexity, Tokens

SIZES = (30, 1, 8, 2, 12)
IDS = np.array([[5, 6, 7, 3], [8, 3, 0, 0], [9, 7, 3, 0]])


def test_weighted_metrics_of_a_network_are_those_of_its_logits():
    model = TransformerDecoder(*SIZES)
    weights = np.random.default_rng(0).uniform(0, 3, IDS.shape).astype("float32")
    model.compile(
        loss=MaskedCrossEntropy(0.0),
        weighted_metrics=[MaskedAccuracy(), Perplexity(), Tokens()],
    )
    scores = model.evaluate(IDS, IDS, sample_weight=weights, verbose=0, return_dict=True)
    logits = np.array(model(IDS))
    surprise = np.log(np.exp(logits).sum(axis=-1))
    surprise -= np.take_along_axis(logits, IDS[..., None], axis=-1)[..., 0]
    weights = weights * (IDS != 0)
    right = logits.argmax(axis=-1) == IDS
    expected = {
        "loss": (weights * surprise).sum() / (IDS != 0).sum(),
        "accuracy": (weights * right).sum() / weights.sum(),
        "perplexity": np.exp((weights * surprise).sum() / weights.sum()),
        "tokens": weights.sum(),
    }
    assert scores.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(scores[name], value, rtol=1e-4)


@pytest.mark.prove
@pytest.mark.parametrize("method", ["fit", "train_on_batch"])
def test_tokens_have_no_class_weights(method):
    for model, inputs in (
        (TransformerDecoder(*SIZES), IDS),
        (Transformer(*SIZES), (IDS, IDS)),
    ):
        model.compile(loss=MaskedCrossEntropy())
        with pytest.raises(ValueError, match=r"`sample_weight`.*Received: class_weight=\{5: 2.0\}"):
            getattr(model, method)(inputs, IDS, class_weight={5: 2.0})


@pytest.mark.prove
def test_class_weights_of_a_classifier_weigh_its_texts():
    model = SequenceClassifier(TransformerEncoder(*SIZES, dropout=0.0), 3, dropout=0.0)
    model.encoder.trainable = False
    labels = np.array([0, 2, 1])
    model.compile("sgd", loss=MaskedCrossEntropy(0.0, padding_id=-1))
    model.optimizer.learning_rate = 0.0
    logits = np.array(model(IDS))
    costs = np.log(np.exp(logits).sum(axis=-1)) - logits[np.arange(3), labels]
    loss = model.train_on_batch(IDS, labels, class_weight={0: 0.5, 1: 3.0, 2: 0.0})
    np.testing.assert_allclose(loss, (costs * [0.5, 0.0, 3.0]).mean(), rtol=1e-2)
