"""Text in, labels and probabilities out; vectors from any encoder."""

import keras
import numpy as np
import pytest

import kformer
from kformer import TextClassifier, TextEncoder, Transformer, TransformerEncoder, Translator
from support import toy
from support.reference import perturbed

SIZES = (400, 2, 16, 2, 24)
LABELS = ["bad", "sehr gut", "so là là"]
TEXTS = ["ich möchte ein bier", "", "das haus", "👍🏽", "wir"]


@pytest.fixture
def classifier(tokenizer):
    encoder = perturbed(TransformerEncoder(*SIZES))
    return perturbed(TextClassifier(tokenizer, encoder, LABELS, max_source_length=24))


@pytest.fixture
def text_encoder(tokenizer):
    return TextEncoder(tokenizer, perturbed(TransformerEncoder(*SIZES)), max_source_length=24)


def test_the_label_is_the_most_probable_one(classifier):
    labels, probabilities = classifier.predict(TEXTS)
    assert labels == [LABELS[i] for i in probabilities.argmax(axis=1)]
    assert probabilities.shape == (5, 3) and probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


def test_neither_the_batch_nor_the_order_changes_an_answer(classifier):
    together = classifier.predict(TEXTS)
    for batch_size in (1, 2):
        found = classifier.predict(TEXTS[::-1], batch_size)
        assert found.labels == together.labels[::-1]
        np.testing.assert_allclose(found.probabilities[::-1], together.probabilities, atol=1e-6)


def test_no_text_gives_no_rows(classifier):
    labels, probabilities = classifier.predict([])
    assert labels == [] and probabilities.shape == (0, 3)


def test_progress_is_told(classifier):
    done = []
    classifier.predict(TEXTS, 2, done.append)
    assert sum(done) == 5


def test_of_a_long_text_the_beginning_counts_and_a_warning_says_so(classifier):
    text = toy.SOURCES[0] + " und" * 30
    with pytest.warns(UserWarning, match="Sentence 1 has .* over the limit of 24: .* classified"):
        found = classifier.predict([text])
    with pytest.warns(UserWarning):
        assert np.array_equal(found.probabilities, classifier.predict([text + " nie"])[1])


@pytest.mark.prove
@pytest.mark.parametrize("form", ["classifier", "text_encoder"])
def test_a_keras_file_is_all_that_it_needs(form, request, tmp_path):
    model = request.getfixturevalue(form)
    model.save(tmp_path / "model.keras")
    for loaded in (
        kformer.load(tmp_path / "model.keras"),
        type(model).load(tmp_path / "model.keras"),
    ):
        assert type(loaded) is type(model) and loaded.max_source_length == 24
        np.testing.assert_array_equal(loaded.encode(TEXTS), model.encode(TEXTS))
        if form == "classifier":
            assert loaded.labels == tuple(LABELS)
            np.testing.assert_array_equal(loaded.predict(TEXTS)[1], model.predict(TEXTS)[1])


@pytest.mark.prove
def test_it_trains_as_any_keras_model_and_is_saved_with_the_optimizer(classifier, tmp_path):
    ids = np.array([[7, 8, 3], [9, 3, 0]])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    classifier.compile(keras.optimizers.Adam(0.01), loss)
    losses = classifier.fit(ids, np.array([2, 0]), epochs=30, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2
    classifier.save(tmp_path / "model.keras")
    loaded = TextClassifier.load(tmp_path / "model.keras")
    assert loaded.optimizer.iterations == 30
    np.testing.assert_allclose(loaded.predict(TEXTS)[1], classifier.predict(TEXTS)[1], atol=1e-6)


@pytest.mark.prove
def test_an_encoder_with_its_tokenizer_gives_the_vectors_of_its_translator(tokenizer):
    translator = Translator(tokenizer, perturbed(Transformer(*SIZES)))
    encoder = TransformerEncoder.from_transformer(translator.transformer)
    for model in (TextEncoder(tokenizer, encoder), TextClassifier(tokenizer, encoder, LABELS)):
        np.testing.assert_allclose(model.encode(TEXTS), translator.encode(TEXTS), atol=1e-5)
        pairs = zip(model.token_vectors(TEXTS), translator.token_vectors(TEXTS), strict=True)
        for own, expected in pairs:
            np.testing.assert_allclose(own, expected, atol=1e-5)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("labels", "rule"),
    [
        (["one"], "two labels or more"),
        (["a", "b", "a"], "distinct. Received: 'a' twice"),
        (["a", ""], "blank"),
        (["a", "b\tc"], "tabs"),
        (["a", "b\0"], r"U\+0000 .* Received: 'b\\x00'"),
        (["a", "\ud83d"], r"surrogate pair. Received: '\\ud83d'"),
        ("ab", "list of strings"),
        ([0, 1], "list of strings"),
    ],
)
def test_labels_that_no_file_can_hold_are_refused(tokenizer, labels, rule):
    with pytest.raises((TypeError, ValueError), match=rule):
        TextClassifier(tokenizer, TransformerEncoder(*SIZES), labels)


def test_an_encoder_of_another_vocabulary_is_refused(tokenizer):
    encoder = TransformerEncoder(399, *SIZES[1:])
    for make in (TextEncoder, lambda *pair: TextClassifier(*pair, LABELS)):
        with pytest.raises(ValueError, match="vocabulary size 399 of the encoder, 400"):
            make(tokenizer, encoder)
    with pytest.raises(ValueError, match="padding_id=1 of the encoder, 0"):
        TextEncoder(tokenizer, TransformerEncoder(*SIZES, padding_id=1))


def test_each_kind_says_which_one_a_file_holds(classifier, text_encoder, tmp_path):
    classifier.save(tmp_path / "c.keras")
    text_encoder.save(tmp_path / "e.keras")
    with pytest.raises(ValueError, match=r"A translator is .*, which holds a classifier."):
        Translator.load(tmp_path / "c.keras")
    with pytest.raises(ValueError, match=r"A classifier is .*, which holds a text encoder."):
        TextClassifier.load(tmp_path / "e.keras")
