"""The encoder alone, and with a head on it."""

import keras
import numpy as np
import pytest

from kformer import SequenceClassifier, Transformer, TransformerEncoder
from support.reference import perturbed

SIZES = {"vocab_size": 30, "num_layers": 2, "d_model": 16, "num_heads": 2, "d_ff": 24}
IDS = np.array([[5, 6, 7, 3], [8, 3, 0, 0], [3, 0, 0, 0]])


def classifier(num_classes=3, pooling="mean", **settings):
    encoder = TransformerEncoder(**SIZES, **settings)
    return perturbed(SequenceClassifier(encoder, num_classes, pooling))


@pytest.mark.sample(2)
@pytest.mark.parametrize("settings", [{}, {"norm_first": True, "activation": "gelu"}])
def test_the_encoder_of_a_transformer_computes_what_its_encode_does(settings):
    transformer = perturbed(Transformer(**SIZES, **settings))
    transformer.encoder.layers[0].feed_forward.parts[0].enable_lora(2)
    encoder = TransformerEncoder.from_transformer(transformer, dropout=0.3)
    assert settings.items() <= encoder.get_config().items()
    assert encoder.get_config()["dropout"] == 0.3
    np.testing.assert_allclose(encoder(IDS), transformer.encode(IDS), atol=1e-5)
    vectors, weights = encoder.attend(IDS)
    np.testing.assert_array_equal(vectors, encoder(IDS))
    expected = transformer.attend((IDS, IDS)).encoder_self
    np.testing.assert_allclose(np.stack(weights), np.stack(expected), atol=1e-6)


@pytest.mark.prove
def test_an_encoder_shares_no_memory_with_the_transformer_that_it_came_from():
    transformer = perturbed(Transformer(**SIZES))
    encoder = TransformerEncoder.from_transformer(transformer)
    before = np.array(encoder(IDS))
    perturbed(transformer)
    np.testing.assert_array_equal(encoder(IDS), before)


@pytest.mark.prove
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_its_probabilities_are_those_of_the_equations(pooling):
    model = classifier(pooling=pooling)
    kernel, bias = map(np.array, model.head.weights)
    for ids, probabilities in zip(IDS, np.array(model.probabilities(IDS)), strict=True):
        vectors = np.array(model.encoder(ids[None, ids != 0]))[0]
        pooled = vectors.mean(axis=0) if pooling == "mean" else vectors[0]
        exponentials = np.exp(pooled @ kernel + bias)
        np.testing.assert_allclose(probabilities, exponentials / exponentials.sum(), atol=1e-5)


def test_padding_changes_nothing():
    model = classifier()
    padded = np.pad(IDS, [(0, 0), (0, 5)])
    np.testing.assert_allclose(model(padded), model(IDS), atol=1e-6)


def test_a_row_of_padding_alone_has_the_logits_of_the_bias():
    model = classifier()
    logits = model(np.array([[5, 6, 3], [0, 0, 0]]))
    np.testing.assert_allclose(logits[1], model.head.bias, atol=1e-6)
    np.testing.assert_allclose(logits[0], model(np.array([[5, 6, 3]]))[0], atol=1e-5)


@pytest.mark.prove
@pytest.mark.parametrize("trainable", [pytest.param(True, marks=pytest.mark.prove), False])
def test_fit_changes_a_frozen_encoder_not_at_all(trainable):
    model = classifier(2)
    model.encoder.trainable = trainable
    before = [np.array(weight) for weight in model.encoder.weights]
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss, metrics=["accuracy"])
    labels = np.array([0, 1, 1])
    history = model.fit(IDS, labels, epochs=40, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] / 2
    after = map(np.array, model.encoder.weights)
    same = [np.array_equal(*pair) for pair in zip(before, after, strict=True)]
    assert any(same) is (not trainable) and all(same) is (not trainable)


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize` method")
@pytest.mark.parametrize("mode", [None, "int8"])
def test_a_keras_file_brings_it_back_also_quantized(mode, tmp_path):
    model = classifier()
    if mode:
        model.quantize(mode)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(IDS), model(IDS))
    np.testing.assert_allclose(model.copy()(IDS), model(IDS), atol=0.2 if mode else 1e-6)
    assert {weight.dtype for weight in model.copy().weights} == {"float32"}


def test_in_16_bits_its_logits_are_float32():
    encoder = TransformerEncoder(**SIZES, dtype="mixed_bfloat16")
    model = SequenceClassifier(encoder, 2, dtype="mixed_bfloat16")
    assert model(IDS).dtype == "float32" and model.compute_output_shape((7, None)) == (7, 2)
    assert type(model).from_config(model.get_config()).encoder.compute_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ({"encoder": Transformer}, "encoder=<class"),
        ({"num_classes": 1}, "num_classes=1"),
        ({"pooling": "max"}, "pooling='max'"),
    ],
)
def test_it_refuses_what_it_cannot_use(arguments, received):
    settings = {"encoder": TransformerEncoder(**SIZES), "num_classes": 2, **arguments}
    with pytest.raises((TypeError, ValueError), match=received):
        SequenceClassifier(**settings)
