"""A package of Argos Translate: what it reads, and that its answers are CTranslate2's."""

import importlib.util
import json
import subprocess
import sys
import zipfile

import keras
import pytest
import sentencepiece

import kformer
from kformer.export import export_argos_package, export_ctranslate2
from support import argos_translate, toy
from support.pretrained import marian

ctranslate2 = pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
LANGUAGES = {"source_language": "de", "target_language": "en"}
# How Argos Translate 1.11 searches.
SEARCH = {"beam_size": 4, "num_hypotheses": 4, "length_penalty": 0.2, "replace_unknowns": True}


@pytest.fixture(scope="module")
def translator(toy_translator):
    copied = toy_translator.copy()
    copied.about |= LANGUAGES
    return copied


def opened(path, folder):
    """Returns the one folder of a package, as Argos Translate unpacks it."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    (package,) = (path for path in folder.iterdir())
    return package


def answers_of(model, splitter, texts, compute_type="default"):
    """Returns what CTranslate2 answers with a folder, as Argos Translate asks it."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(splitter))
    found = ctranslate2.Translator(str(model), compute_type=compute_type).translate_batch(
        [pieces.encode(text, out_type=str) for text in texts], **SEARCH
    )
    joined = [pieces.decode_pieces(result.hypotheses[0]) for result in found]
    return [text.replace("▁", " ").replace("_", " ") for text in joined]


def test_its_answers_are_those_of_ctranslate2s_folder(translator, tmp_path):
    folder = export_ctranslate2(translator, tmp_path / "folder")
    path = export_argos_package(translator, tmp_path / "de-en.argosmodel")
    package = opened(path, tmp_path / "opened")
    texts = [*toy.SOURCES[:20], "猫 ☃☂", " a  b ", "</s> <s>"]
    answers = answers_of(package / "model", package / "sentencepiece.model", texts)
    assert answers == answers_of(folder, folder / "source.spm", texts)
    assert len({*answers}) > 8
    assert json.loads((package / "metadata.json").read_text()) == {
        "package_version": "1.0",
        "argos_version": "1.9.0",
        "from_code": "de",
        "from_name": "German",
        "to_code": "en",
        "to_name": "English",
    }


def test_it_is_read_back_as_the_translator(translator, tmp_path):
    path = export_argos_package(translator, tmp_path / "de-en.argosmodel")
    copied = kformer.from_ctranslate2(path)
    assert copied.translate(toy.SOURCES[:9]) == translator.translate(toy.SOURCES[:9])
    assert copied.about.items() >= LANGUAGES.items()


def test_a_translator_of_marian_with_two_models_of_pieces_becomes_one(tmp_path):
    keras.utils.set_random_seed(3)
    words = marian.vocabulary()
    folder = marian.write_folder(tmp_path / "marian", words, marian.transformer(words.pieces))
    translator = kformer.from_marian(folder)
    translator.about |= LANGUAGES
    assert translator.tokenizer.model != translator.target_tokenizer.model
    package = opened(export_argos_package(translator, tmp_path / "a.argosmodel"), tmp_path / "b")
    texts = ["der hund schläft .", "meine mutter trinkt 猫 tee", "ein ☃ haus"]
    answers = answers_of(package / "model", package / "sentencepiece.model", texts)
    folder = export_ctranslate2(translator, tmp_path / "folder")
    source, target = (
        sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        for side in ("source", "target")
    )
    results = ctranslate2.Translator(str(folder)).translate_batch(
        source.encode(texts, out_type=str), **SEARCH
    )
    joined = [target.decode_pieces(result.hypotheses[0]) for result in results]
    assert answers == [text.replace("▁", " ").replace("_", " ") for text in joined]
    assert any(answers)


def test_sentences_are_split_by_the_package_that_was_chosen(translator, tmp_path):
    model = tmp_path / "de.onnx"
    model.write_bytes(argos_translate.sentence_model())
    first = export_argos_package(translator, tmp_path / "first.argosmodel", model)
    second = export_argos_package(translator, tmp_path / "second.argosmodel", first)
    package = opened(second, tmp_path / "opened")
    assert (package / "minisbd" / "de.onnx").read_bytes() == model.read_bytes()
    none = export_argos_package(translator, tmp_path / "none.argosmodel")
    with pytest.raises(ValueError, match=r"must hold `minisbd` or `stanza`.*none\.argosmodel"):
        export_argos_package(translator, tmp_path / "new.argosmodel", none)
    assert not (tmp_path / "new.argosmodel").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("argostranslate") is None, reason="Not installed: argostranslate."
)
def test_argos_translate_installs_it_and_answers_alike(translator, tmp_path):
    (tmp_path / "de.onnx").write_bytes(argos_translate.sentence_model())
    path = export_argos_package(translator, tmp_path / "de-en.argosmodel", tmp_path / "de.onnx")
    texts = [*toy.SOURCES[:20]]
    command = [sys.executable, argos_translate.__file__, path, tmp_path / "home"]
    output = subprocess.check_output(command, input=json.dumps(texts).encode())
    package = opened(path, tmp_path / "opened")
    answers = answers_of(package / "model", package / "sentencepiece.model", texts, "auto")
    assert json.loads(output)["answers"] == [answer.removeprefix(" ") for answer in answers]


@pytest.mark.parametrize(
    ("about", "name", "sentences", "message"),
    [
        ({}, "a.zip", None, "must end in .argosmodel. Received: '.*a.zip'"),
        (
            {"target_language": None},
            "a.argosmodel",
            None,
            "source_language='de', target_lang.*None",
        ),
        ({}, "a.argosmodel", "a.txt", "MiniSBD, .onnx, or as in another package.*a.txt"),
    ],
)
def test_what_no_package_can_hold_is_refused(about, name, sentences, message, translator, tmp_path):
    copied = translator.copy()
    copied.about |= about
    if sentences:
        (tmp_path / sentences).write_bytes(b"")
        sentences = tmp_path / sentences
    with pytest.raises(ValueError, match=message):
        export_argos_package(copied, tmp_path / name, sentences)


def test_pieces_that_the_sources_tokenizer_writes_otherwise_are_refused(two_vocabularies, tmp_path):
    copied = two_vocabularies.copy()
    copied.about |= LANGUAGES
    with pytest.raises(ValueError, match="one SentencePiece model for both languages"):
        export_argos_package(copied, tmp_path / "a.argosmodel")


@pytest.mark.prove
def test_the_command_writes_and_checks_it(command, toy_keras, toy_run, tmp_path):
    path = tmp_path / "new" / "de-en.argosmodel"
    check = ("--check-source", toy_run.files["valid.de"])
    languages = ("--source-language", "de", "--target-language", "en", "--licence", "MIT")
    result = command(
        "export", toy_keras, "--argos", path, "--precision", "int8", *languages, *check
    )
    assert result.returncode == 0, result.stderr
    *_, exported, written = result.stdout.splitlines()
    assert exported.startswith("Argos Translate int8 ") and written == f"Written: {path}"
    package = opened(path, tmp_path / "opened")
    card = (package / "README.md").read_text("utf-8")
    assert "license: mit" in card and "package for Argos Translate, int8" in card
    assert not (package / "model" / "MODEL_CARD.md").exists()


def test_what_the_command_refuses_is_one_line_and_nothing_written(refused, toy_keras, tmp_path):
    assert "--argos-sentences is for a package: give --argos, too." in refused(
        "export", toy_keras, "--ctranslate2", tmp_path / "a", "--argos-sentences", "de.onnx"
    )
    assert "must end in .argosmodel. Received: " in refused(
        "export", toy_keras, "--argos", tmp_path / "de-en.zip"
    )
