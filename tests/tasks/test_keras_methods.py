"""What users of Keras type: models of text are called, fitted and evaluated, by text and by ids."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.kinds import KINDS
from kformer.tasks.keras_methods import next_tokens, takes_ids
from support.reference import perturbed

SIZES = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 24}
SOURCES, TARGETS = ["der Hund", "die Katze schläft"], ["the dog sleeps", "a cat"]


@pytest.fixture(scope="module")
def models(tokenizer):
    """An untrained model of each kind, by name."""
    size = tokenizer.vocab_size
    encoder = perturbed(kformer.TransformerEncoder(size, **SIZES))
    decoder = perturbed(kformer.TransformerDecoder(size, **SIZES))
    transformer = perturbed(kformer.Transformer(size, **SIZES))
    labels = ["O", "B-X", "I-X"]
    return {
        "translator": kformer.Translator(tokenizer, transformer, max_source_length=24),
        "classifier": kformer.TextClassifier(tokenizer, encoder, labels),
        "tagger": kformer.TextTagger(tokenizer, encoder, labels),
        "language_model": kformer.LanguageModel(tokenizer, decoder, max_length=24),
        "text_encoder": kformer.TextEncoder(tokenizer, encoder),
    }


def compiled(model):
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ("text", False),
        ([], False),
        (["text"], False),
        (np.array(["text"]), False),
        (np.array(["text"], object), False),
        (tf.constant(["text"]), False),
        (tf.constant("text"), False),
        (tf.data.Dataset.from_tensors(["text"]), False),
        (iter(["text"]), False),
        ([[7, 3]], True),
        (np.array([[7, 3]]), True),
        ((np.array([[7, 3]]), np.array([[2, 8]])), True),
        ({"source": [[7]], "target": [[2]]}, True),
        (tf.constant([[7, 3]]), True),
        (tf.data.Dataset.from_tensors(([[7]], [[3]])), True),
        (keras.KerasTensor((None, None), "int32"), True),
    ],
)
def test_ids_are_told_from_text(inputs, expected):
    assert takes_ids(inputs) is expected


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        pytest.param("translator", lambda model: model.translate, marks=pytest.mark.prove),
        ("classifier", lambda model: model.classify),
        ("tagger", lambda model: model.tag),
        pytest.param("language_model", lambda model: model.generate, marks=pytest.mark.prove),
        ("text_encoder", lambda model: model.encode),
    ],
)
def test_a_call_and_predict_answer_texts(models, kind, answer):
    model = models[kind]
    expected = answer(model)(SOURCES)
    for inputs in (SOURCES, np.array(SOURCES), tf.constant(SOURCES)):
        same(model(inputs), expected)
        same(model.predict(inputs, batch_size=1, verbose=0), expected)
    same(model.predict(tf.data.Dataset.from_tensors(SOURCES)), expected)
    same(model(SOURCES[0]), answer(model)(SOURCES[0]))
    same(model.predict(SOURCES[0]), answer(model)(SOURCES[0]))
    if isinstance(expected, list) and isinstance(expected[0], str):
        assert isinstance(model.predict(SOURCES), np.ndarray)


def same(one, other):
    if isinstance(one, np.ndarray) and one.dtype != object:
        np.testing.assert_allclose(one, other, atol=1e-5)
    elif hasattr(one, "probabilities"):
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-5)
    else:
        assert list(one) == list(other)


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_ids_run_the_network(models, kind):
    ids = np.array([[2, 8, 3], [7, 3, 0]])
    inputs = (ids, ids) if kind == "translator" else ids
    model = models[kind]
    expected = model.network(inputs)
    np.testing.assert_array_equal(model(inputs), expected)
    np.testing.assert_allclose(model.predict(inputs, verbose=0), expected, atol=1e-5)


def test_a_translator_learns_from_texts_as_from_their_ids(models, tokenizer):
    model = compiled(models["translator"])
    rows = [tokenizer.with_end(tokenizer.tokenize(texts)).to_list() for texts in (SOURCES, TARGETS)]
    source = tf.ragged.constant(rows[0]).to_tensor()
    target_in, target_out, weights = next_tokens(rows[1], tokenizer.start_id, 0)
    by_text = model.evaluate(SOURCES, TARGETS, verbose=0)
    by_ids = model.evaluate((source, target_in), target_out, sample_weight=weights, verbose=0)
    assert by_text == pytest.approx(by_ids, rel=1e-5)
    history = model.fit(SOURCES, TARGETS, verbose=0, validation_data=(SOURCES, TARGETS)).history
    assert history["loss"] == pytest.approx([by_text], rel=0.2)  # With dropout.
    assert history["val_loss"][0] < by_text
    batches = tf.data.Dataset.from_tensors(((source, target_in), target_out))
    assert model.fit(batches, shuffle=False, verbose=0).history["loss"][0] > 0


def test_the_expected_ids_follow_those_that_the_decoder_reads():
    inputs, expected, weights = next_tokens([[7, 8, 3], [9, 3]], start_id=2, padding_id=0)
    np.testing.assert_array_equal(inputs, [[2, 7, 8], [2, 9, 0]])
    np.testing.assert_array_equal(expected, [[7, 8, 3], [9, 3, 0]])
    np.testing.assert_array_equal(weights, [[1, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        pytest.param("classifier", ["O", 2], marks=pytest.mark.prove),
        ("tagger", [["O", "B-X"], ["O", "B-X", 2]]),
        pytest.param("language_model", None, marks=pytest.mark.prove),
    ],
)
def test_the_other_kinds_learn_from_texts(models, kind, answers):
    model = compiled(models[kind])
    before = model.evaluate(SOURCES, answers, verbose=0)
    model.fit(SOURCES, answers, epochs=3, verbose=0)
    assert model.evaluate(SOURCES, answers, verbose=0) < before


@pytest.mark.parametrize(
    ("kind", "answers", "error", "message"),
    [
        ("translator", ["a dog"], ValueError, "Received: 2 x, 1 y"),
        ("classifier", ["O", "?"], ValueError, r"`label` must be one of O, .*label='\?'"),
        ("classifier", ["O", 3], ValueError, "label=3"),
        ("tagger", [["O"], ["O", "O", "O"]], ValueError, r"Received: \['O'\] for 'der Hund'"),
        ("language_model", TARGETS, TypeError, r"no other answers. Received: y=\['the dog"),
        ("text_encoder", TARGETS, TypeError, "kformer.TextClassifier.*Received: 2 texts"),
    ],
)
def test_wrong_answers_are_refused(models, kind, answers, error, message):
    with pytest.raises(error, match=message):
        compiled(models[kind]).fit(SOURCES, answers, verbose=0)


def test_data_sets_for_fit_have_ids(models):
    texts = tf.data.Dataset.from_tensors((SOURCES, TARGETS))
    with pytest.raises(TypeError, match=r"must have ids, such as those of `kformer\.training`"):
        compiled(models["translator"]).fit(texts)


@pytest.mark.parametrize(
    ("kind", "network"), [("translator", "transformer"), ("tagger", "classifier")]
)
def test_an_attribute_that_is_missing_names_the_network(models, kind, network):
    assert not hasattr(models[kind], "model")
    with pytest.raises(AttributeError, match=f"attribute 'model'; its network.* `{network}`"):
        models[kind].model.fit()


def test_a_format_that_keras_cannot_export_here_is_refused(models, tmp_path):
    with pytest.raises(ValueError, match="Received: format='onnx'"):
        models["translator"].export(tmp_path / "model", format="onnx")
    with pytest.raises(TypeError, match=r"Received: .*TextEncoder"):
        models["text_encoder"].export(tmp_path / "model")


@pytest.mark.prove
def test_a_callback_of_keras_saves_the_whole_model(models, tmp_path):
    path = tmp_path / "best.keras"
    checkpoint = keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True)
    classifier = compiled(models["classifier"])
    classifier.fit(SOURCES, ["O", "B-X"], verbose=0, callbacks=[checkpoint])
    same(keras.models.load_model(path).classify(SOURCES), classifier.classify(SOURCES))
    with pytest.raises(FileExistsError, match=r"Received: path='.*best\.keras'"):
        classifier.save(path, overwrite=False)
