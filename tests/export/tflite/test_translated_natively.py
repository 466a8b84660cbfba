"""The program in C++ of `native/translate.cc`: a `.tflite` file without Python."""

import subprocess

import pytest

import kformer
from kformer.export import export_tflite
from kformer.pocket import PocketTranslator
from support import toy
from support.native.native_program import answers, compiled_program
from support.pretrained import opennmt_tf


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled_program(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def translate(program):
    """(file, texts) -> a list of `Answer`."""
    return lambda file, texts: answers(program, file, [text.encode() for text in texts])


def test_it_translates_as_python_does(translate, toy_tflite):
    texts = [*toy.SOURCES[:10], "", "ein haus 🐕 ruft"]
    found = translate(toy_tflite, texts)
    assert [one.text for one in found] == PocketTranslator(toy_tflite).translate(texts)
    assert {one.truncated for one in found} == {0}
    assert all(one.score <= 0 for one in found)


@pytest.mark.prove
def test_an_imported_model_translates_as_in_python(translate, tmp_path):
    """With other positions and norms, two vocabularies and an output of its own."""
    imported = kformer.from_opennmt_tf(opennmt_tf.write_run(tmp_path), num_heads=4)
    file = export_tflite(imported, tmp_path / "a.tflite", max_source_length=24)
    texts = opennmt_tf.SENTENCES
    found = [one.text for one in translate(file, texts)]
    assert found == imported.translate(texts)
    assert len({*found}) == len(texts)


def test_it_reports_cut_texts(translate, toy_tflite):
    [cut] = translate(toy_tflite, ["haus " * 500])
    assert cut.truncated & 1


def test_a_malformed_file_is_refused(program, tmp_path):
    (tmp_path / "none.tflite").write_bytes(b"nothing")
    result = subprocess.run([program, tmp_path / "none.tflite"], input=b"", capture_output=True)
    assert result.returncode == 2
    assert "must be a TFLite model" in result.stderr.decode()
