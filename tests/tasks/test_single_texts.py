"""One text gets the answer of a list of one, in every form and by every method."""

import dataclasses

import numpy as np
import pytest

import kformer
from kformer.export import ServedClassifier, ServedLanguageModel, ServedTranslator
from kformer.pocket import PocketClassifier, PocketLanguageModel, PocketTranslator
from kformer.text.labels import Prediction
from support import toy

TEXT = toy.SOURCES[0]
OF_TRANSLATORS = ("translate", "translations", "split_translations", "encode")


def plain(answer):
    """An answer in parts that can be compared: arrays as lists, records as tuples."""
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if dataclasses.is_dataclass(answer):
        return plain(tuple(vars(answer).values()))
    if isinstance(answer, list | tuple):
        return [*map(plain, answer)]
    return answer


def assert_answers_one(model, *methods, text=TEXT):
    """`model.method(text)` is the only answer to `[text]`, also for NumPy's strings."""
    for name in methods:
        ask = getattr(model, name)
        [expected] = ask([text])
        assert plain(ask(text)) == plain(ask(np.str_(text))) == plain(expected), name


def test_a_translator_in_keras(toy_translator):
    assert_answers_one(toy_translator, *OF_TRANSLATORS, "token_vectors", "source_rows")
    assert toy_translator.translate(texts=TEXT) == toy_translator.translate([TEXT])[0]
    [scored] = toy_translator.score([TEXT], ["i"])
    assert (
        toy_translator.score(TEXT, "i") == toy_translator.score(targets="i", sources=TEXT) == scored
    )
    [aligned] = toy_translator.align([TEXT], ["i"])
    assert plain(toy_translator.align(TEXT, "i")) == plain(aligned)
    assert toy_translator.translate(TEXT, prefixes="i").startswith("i")


def test_an_ensemble(toy_translator):
    ensemble = kformer.Ensemble([toy_translator])
    assert_answers_one(ensemble, "translate", "translations", "split_translations")
    assert ensemble.score(TEXT, "i") == ensemble.score([TEXT], ["i"])[0]


def test_a_translator_in_a_file_of_a_phone(short_tflite):
    assert_answers_one(PocketTranslator(short_tflite()), *OF_TRANSLATORS)


@pytest.mark.prove
def test_a_translator_in_a_saved_model(toy_saved_model):
    assert_answers_one(ServedTranslator(toy_saved_model), *OF_TRANSLATORS)


@pytest.mark.prove
def test_a_translator_in_ctranslate2(toy_translator, tmp_path):
    pytest.importorskip("ctranslate2")
    folder = kformer.export.export_ctranslate2(toy_translator, tmp_path / "folder")
    assert_answers_one(kformer.load(folder), "translate", "translations", "split_translations")
    with pytest.raises(ValueError, match=r"gives no vectors .* Received: 1 texts"):
        kformer.load(folder).encode(TEXT)


@pytest.mark.prove
def test_a_client_of_a_server(toy_server, classifier_server, language_model_server):
    with toy_server.client("rest") as client:
        assert_answers_one(client, *OF_TRANSLATORS, "tokenize")
        assert client.score(TEXT, "i") == client.score([TEXT], ["i"])[0]
    with classifier_server.client("rest", model="classifier") as client:
        assert_answers_one(client, "classify")
    with language_model_server.client("rest", model="language_model") as client:
        assert_answers_one(client, "generate", "generations", text="we")


def assert_predicts_one(classifier):
    labels, probabilities = classifier.predict([TEXT])
    prediction = classifier.predict(TEXT)
    assert isinstance(prediction, Prediction)
    assert prediction.label == labels[0]
    assert prediction.probabilities.tolist() == probabilities[0].tolist()


def test_a_classifier_in_keras(tiny_classifier):
    assert_predicts_one(tiny_classifier)


@pytest.mark.prove
def test_a_classifier_in_other_forms(classifier_saved_model, classifier_tflite):
    assert_predicts_one(ServedClassifier(classifier_saved_model))
    assert_predicts_one(PocketClassifier(classifier_tflite()))


def test_a_tagger(tokenizer):
    network = kformer.TokenClassifier(kformer.TransformerEncoder(400, 1, 16, 2, 24), 2)
    assert_answers_one(kformer.TextTagger(tokenizer, network, ["B-X", "O"]), "tag")


@pytest.mark.prove
def test_a_language_model_in_every_form(
    tiny_language_model, language_model_saved_model, language_model_tflite
):
    for model in (
        tiny_language_model,
        ServedLanguageModel(language_model_saved_model),
        PocketLanguageModel(language_model_tflite()),
    ):
        assert_answers_one(model, "generate", "generations", text="we")
    assert_answers_one(tiny_language_model, "score", text="we")


def test_scores_of_one_pair():
    assert kformer.bleu("a b c d", "a b c d").value == kformer.bleu(["a b c d"], ["a b c d"]).value
    assert kformer.chrf("a dog", "a cat") == kformer.chrf(["a dog"], ["a cat"])


def test_a_fragment_with_markup(toy_translator):
    fragment = f"<b>{TEXT}</b>"
    [expected] = kformer.translate_markup([fragment], toy_translator)
    assert kformer.translate_markup(fragment, toy_translator) == expected
