"""Models of several target languages, of which one is chosen for each translation."""

import json
import zipfile

import keras
import numpy as np
import pytest
import tensorflow as tf

import kformer
from support import toy
from support.pretrained import marian
from support.serving.server_process import batching_of, stand_in

LANGUAGES = ("deu", "fra", "ita")
WORDS = marian.vocabulary(tuple(f">>{code}<<" for code in LANGUAGES))
IDS = {code: WORDS.pieces.index(f">>{code}<<") for code in LANGUAGES}
TEXTS = [
    "der hund schläft .",
    "",
    "☃ haus",
    "  ",
    "meine mutter",
    "vater und mutter",
    "wir haben zwei kinder",
    "ein haus",
]
REFUSED = "one of the model's languages: deu, fra, ita. Received: target_language="


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that holds a MarianMTModel, and what was made of it."""
    keras.utils.set_random_seed(8)  # Each text has another translation in some language.
    network = marian.transformer(WORDS.pieces)
    folder = tmp_path_factory.mktemp("pretrained")
    never = [WORDS.padding_id, *IDS.values()]
    config = {"max_position_embeddings": 16, "bad_words_ids": [[i] for i in never]}
    marian.write_folder(folder / "marian", WORDS, network, **config)
    return folder


@pytest.fixture(scope="module")
def path(folder):
    translator = kformer.from_marian(folder / "marian")
    translator.save(folder / "several.keras")
    return folder / "several.keras"


@pytest.fixture(scope="module")
def translator(path):
    return kformer.load(path)


@pytest.fixture(scope="module")
def exports(path, folder):
    """The forms of the model by name, written and checked by `kformer export`."""
    (folder / "check.txt").write_text("".join(f"{text}\n" for text in TEXTS), "utf-8")
    forms = {"SavedModel": folder / "served", "tflite": folder / "several.tflite"}
    made = toy.run_command(
        "export",
        path,
        "--saved-model",
        forms["SavedModel"],
        "--tflite",
        forms["tflite"],
        "--check-source",
        folder / "check.txt",
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout.count(f"{len(TEXTS)} of {len(TEXTS)}") == 3, made.stdout
    return forms


EXPORTED = [pytest.param(name, marks=pytest.mark.prove) for name in ("SavedModel", "tflite")]


@pytest.fixture(params=["keras", *EXPORTED])
def form(request, translator):
    if request.param == "keras":
        return translator
    return kformer.load(request.getfixturevalue("exports")[request.param])


@pytest.mark.prove
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_translates_into_the_language_that_is_chosen(language, form, folder):
    fixed = kformer.from_marian(folder / "marian", language)
    expected = fixed.translate(TEXTS)
    assert form.translate(TEXTS, target_language=language) == expected
    assert form.into(language).translate(TEXTS) == expected
    several = form.translations(TEXTS, target_language=language)
    assert [best.text for best, *_ in several] == expected
    np.testing.assert_allclose(form.into(language).encode(TEXTS), fixed.encode(TEXTS), atol=1e-4)
    assert form.target_languages == LANGUAGES and form.into(language).target_languages == ()
    assert (form.target_language, form.into(language).target_language) == (None, language)
    assert fixed.target_language == language


def test_the_translations_differ(translator):
    said = [translator.translate(TEXTS, target_language=language) for language in LANGUAGES]
    assert all(
        len({*of_text}) > 1 for text, *of_text in zip(TEXTS, *said, strict=True) if text.strip()
    )
    assert all(len({*of_language}) > 5 for of_language in said)


@pytest.mark.parametrize("language", [None, "eng", ""])
def test_a_language_must_be_one_of_the_model(language, form):
    for call in (
        lambda: form.translate(TEXTS, target_language=language),
        lambda: form.translations([], target_language=language),
        lambda: form.into(language),
    ):
        with pytest.raises(ValueError, match=f"{REFUSED}{language!r}"):
            call()


def test_what_has_no_argument_for_it_needs_a_chosen_one(form):
    with pytest.raises(ValueError, match=f"{REFUSED}None"):
        form.encode(TEXTS)


def test_a_model_without_a_choice_refuses_one(form):
    chosen = form.into("fra")
    with pytest.raises(ValueError, match=r"none, because it has no choice\. Received: .*'fra'"):
        chosen.translate(TEXTS, target_language="fra")
    assert chosen.into(None) is chosen


@pytest.mark.prove
def test_scores_tokens_and_alignment_are_of_the_language(translator, folder):
    fixed = kformer.from_marian(folder / "marian", "ita")
    targets = ["the dog sees", "", "a house", "", *["my mother"] * 4]
    scores = translator.score(TEXTS, targets, target_language="ita")
    assert scores == fixed.score(TEXTS, targets)
    assert scores != translator.score(TEXTS, targets, target_language="fra")
    [[best]] = translator.translations(TEXTS[:1], target_language="ita")
    assert best.source_tokens[0] == "▁" and best.attention.shape[1] == len(best.source_tokens)
    aligned = translator.into("ita").align(TEXTS, targets)
    for alignment, expected in zip(aligned, fixed.align(TEXTS, targets), strict=True):
        assert alignment[:-1] == expected[:-1]
        np.testing.assert_array_equal(alignment.weights, expected.weights)


@pytest.mark.prove
def test_the_phone_file_names_the_languages_and_their_ids(exports):
    with zipfile.ZipFile(exports["tflite"]) as archive:
        metadata = json.loads(archive.read("kformer.json"))
        vectors = json.loads(archive.read("test_vectors.json"))
    assert metadata["target_languages"] == IDS
    assert {vector["target_language"] for vector in vectors} == {*LANGUAGES}
    for vector in vectors:
        blank = not vector["text"].strip()
        assert blank or vector["ids"][0] == IDS[vector["target_language"]]


@pytest.mark.prove
def test_a_request_names_a_language_for_each_text(exports, translator):
    served = kformer.load(exports["SavedModel"])
    asked = ["fra", "eng", "deu", "ita", "", "ita", "fra", "FRA"]
    inputs = {"text": tf.constant(TEXTS), "target_language": tf.constant(asked)}
    flag = "unknown target language (known: deu fra ita)"
    for name in ("serving_default", "beam", "encode", "tokenize"):
        flags = served.signatures[name](**inputs)["flags"].numpy().reshape(len(asked), -1)[:, 0]
        unknown = [flag in flags.decode() for flags in flags]
        assert unknown == [code not in LANGUAGES for code in asked]
    found = served.signatures["serving_default"](**inputs)["translation"].numpy()
    for text, code, said in zip(TEXTS, asked, found, strict=True):
        known = code in LANGUAGES
        expected = translator.translate(text, split=False, target_language=code) if known else ""
        assert said.decode() == expected
    inputs["target_language"] = inputs["target_language"][:1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many languages as texts"):
        served.signatures["serving_default"](**inputs)


@pytest.mark.prove
@pytest.mark.parametrize("protocol", ["rest", "grpc"])
def test_a_client_asks_for_a_language(protocol, exports, translator):
    folder = exports["SavedModel"]
    with stand_in(folder, batching=batching_of(folder)) as server:
        client = server.client(protocol)
        for language in LANGUAGES:
            given = {"target_language": language}
            expected = translator.translate(TEXTS, split=False, **given)
            assert client.translate(TEXTS, **given) == expected
            two = client.translations(TEXTS, n_best=2, **given)
            options = kformer.SearchOptions(4, n_best=4)
            wanted = translator.translations(TEXTS, options, details=False, **given)
            assert [one[0].text for one in two] == [one[0].text for one in wanted]
            vectors = translator.into(language).encode(TEXTS)
            np.testing.assert_allclose(client.encode(TEXTS, **given), vectors, atol=1e-4)
            rows = translator.into(language).source_rows(TEXTS)
            assert [list(one.ids) for one in client.tokenize(TEXTS, **given)] == rows
            targets = ["the dog sees"] * len(TEXTS)
            scores = [one.log_probability for one in client.score(TEXTS, targets, **given)]
            wanted = [one.log_probability for one in translator.score(TEXTS, targets, **given)]
            np.testing.assert_allclose(scores, wanted, atol=1e-3)
        for ask in (client.translate, client.encode, client.tokenize):
            with pytest.raises(ValueError, match=r"'eng': unknown .*\(known: deu fra ita\)"):
                ask(TEXTS, target_language="eng")
        with pytest.raises(kformer.serving.ServerError, match="target_language"):
            client.translate(TEXTS)


def test_a_tokenizer_without_a_chosen_language_makes_no_other_model(translator):
    encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
    with pytest.raises(ValueError, match=r"one target language.* Received: deu, fra, ita"):
        kformer.TextEncoder(translator.tokenizer, encoder)
    kformer.TextEncoder(translator.tokenizer.into("fra"), encoder)
    with pytest.raises(ValueError, match=r"must be chosen.*deu, fra, ita"):
        translator.tokenizer.tokenize(TEXTS)
