"""What people type by habit works, or is answered at once, before TensorFlow is imported."""

import sys

import numpy as np
import pytest

import kformer
from kformer import Translation
from kformer.inference.facts import ModelFacts
from support.processes import run_python

BLOCKED = "import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None\n"


@pytest.fixture
def translated(monkeypatch):
    """Has every model translate by upper case, without loading it; returns what it was asked."""
    asked = []

    class Translator:
        target_languages = ()
        facts = ModelFacts(about={})

        def translations(self, texts, options, progress, **_):
            asked.extend(texts)
            return [[Translation(t.upper(), 0.0)] for t in texts]

        def into(self, _):
            return self

    monkeypatch.setattr("kformer.cli.translate.open_ensemble", lambda *_: Translator())
    monkeypatch.setattr("kformer.cli.common_models.saved_form", lambda _: "tflite")
    return asked


def test_texts_behind_the_model_are_translated(command, translated, tmp_path):
    result = command("translate", "model", "ein hund", "", "ja\nnein")
    assert (result.returncode, result.stdout) == (0, "EIN HUND\n\nJA NEIN\n")
    assert translated == ["ein hund", "", "ja\nnein"]
    command("translate", "model", "ein", "--output", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "EIN\n"


def test_a_text_that_is_a_file_or_beside_a_file_is_refused(refused, translated, written):
    file = written("a.txt", "ein")
    for words in (["translate", "model"], ["request", "http://localhost:1"]):
        assert refused(*words, file).endswith(
            f"--input reads a file. Received: {str(file)!r}, a file."
        )
        assert "Give texts or --input, not both." in refused(*words, "ja", "--input", file)
    assert "read from --input for a document" in refused(
        "translate", "model", "ja", "--kind", "html"
    )
    assert translated == []


@pytest.mark.parametrize("more", [[], ["--output"]])
def test_an_empty_file_becomes_an_empty_one(command, translated, written, tmp_path, more):
    output = tmp_path / "out"
    arguments = [*more, output] if more else []
    result = command("translate", "model", "--input", written("empty", ""), *arguments)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not more or output.read_bytes() == b""


def test_a_server_is_not_asked_for_an_empty_file(command, written):
    result = command("request", "http://localhost:1", "--input", written("empty", ""))
    assert (result.returncode, result.stdout) == (0, "")


def test_vectors_are_written_to_a_file_of_numpy(refused, tmp_path):
    line = refused("encode", "model", "--output", tmp_path / "v.txt")
    assert line == (
        f"kformer: The file's name must end in .npy. Received: output={str(tmp_path / 'v.txt')!r}."
    )


@pytest.mark.parametrize("name", ["marian", "bergamot", "ctranslate2", "fairseq", "opennmt"])
def test_a_missing_folder_is_named_before_anything_is_imported(
    refused, tmp_path, name, monkeypatch
):
    monkeypatch.setitem(sys.modules, "kformer.imports.assembly", None)
    line = refused("import", name, tmp_path / "nosuch", "--output", tmp_path / "a.keras")
    assert line == (
        f"kformer: There is no such file or folder. Received: {str(tmp_path / 'nosuch')!r}."
    )


def test_a_checkpoint_is_the_beginning_of_names(refused, tmp_path):
    for name in ("ckpt-5.index", "ckpt-5.data-00000-of-00001"):
        (tmp_path / name).write_bytes(b"")
    options = "--output", tmp_path / "a.keras"
    assert "no such file or folder" in refused(
        "import", "opennmt-tf", tmp_path / "ckpt-6", *options
    )
    assert "no such file or folder" not in refused(
        "import", "opennmt-tf", tmp_path / "ckpt-5", *options
    )


def test_a_file_that_cannot_be_written_has_the_name_that_was_typed(tmp_path):
    """The message does not show the temporary file beside it."""

    def fail(*_):
        raise OSError(5, "Input/output error", str(temporary / "part"))

    with pytest.raises(OSError) as raised, kformer.files.replacing(tmp_path / "out") as temporary:
        fail()
    assert raised.value.filename == str(tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "do"), [(["lm", "generate"], "generate"), (["classify", "predict"], "classify")]
)
def test_a_model_of_another_kind_is_refused_without_tensorflow(words, do, tokenizer, tmp_path):
    sizes = {"num_layers": 1, "d_model": 8, "num_heads": 1, "d_ff": 8}
    path = tmp_path / "translator.keras"
    kformer.Translator(tokenizer, kformer.Transformer(tokenizer.vocab_size, **sizes)).save(path)
    code = (
        f"sys.argv = ['kformer', *{words!r}, {str(path)!r}]; import kformer.cli; kformer.cli.main()"
    )
    assert run_python("-c", BLOCKED + code).stderr == (
        f"kformer: The model must be able to {do}. "
        f"Received: {str(path)!r}, which holds a Translator.\n"
    )


def test_the_name_of_a_picture_is_said_in_words(refused, tmp_path, toy_keras):
    line = refused("attention", toy_keras, "ja", "--output", tmp_path / "a.xyz")
    assert "must end in .pdf, .png or .svg. Received: path=" in line


def test_references_are_targets_too(command, written):
    text = written("a.txt", "a dog\n")
    options = "evaluate", "--hypotheses", text
    first = command(*options, "--reference", text)
    assert command(*options, "--target", text).stdout == first.stdout
    assert first.returncode == 0


def test_vectors_of_no_lines_are_an_empty_array(command, toy_tflite, written, tmp_path):
    output = tmp_path / "v.npy"
    assert (
        command(
            "encode", toy_tflite, "--input", written("empty", ""), "--output", output
        ).returncode
        == 0
    )
    assert np.load(output).shape[0] == 0
