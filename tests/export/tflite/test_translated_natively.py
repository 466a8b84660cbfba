"""The program in C++ of `native/translate.cc`: a `.tflite` file without Python."""

import subprocess

import pytest

from kformer.pocket import PocketTranslator
from support import toy
from support.native.native_program import answers, compiled_program


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


def test_it_reports_cut_texts(translate, toy_tflite):
    [cut] = translate(toy_tflite, ["haus " * 500])
    assert cut.truncated & 1


def test_a_malformed_file_is_refused(program, tmp_path):
    (tmp_path / "none.tflite").write_bytes(b"nothing")
    result = subprocess.run([program, tmp_path / "none.tflite"], input=b"", capture_output=True)
    assert result.returncode == 2
    assert "must be a TFLite model" in result.stderr.decode()
