"""The program in C++ of `native/translate.cc`: a `.tflite` file without Python."""

import subprocess
from pathlib import Path

import ai_edge_litert
import pytest
import toy
from compiling import compiled

from kformer.pocket import PocketTranslator

RUNTIME = Path(ai_edge_litert.__file__).parent / "libLiteRt.so"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not RUNTIME.is_file():
        pytest.skip("LiteRT's package has no library here.")
    folder = tmp_path_factory.mktemp("program")
    return compiled("translate", folder, RUNTIME, f"-Wl,-rpath,{RUNTIME.parent}")


@pytest.fixture(scope="module")
def translate(program):
    """(file, texts) -> a list of (truncated, score, translation)."""

    def run(file, texts):
        source = b"".join(text.encode() + b"\0" for text in texts)
        said = subprocess.run([program, file], input=source, capture_output=True, check=True).stdout
        *answers, _ = said.decode().split("\0")
        return [answer.split(" ", 2) for answer in answers[: len(texts)]]

    return run


def test_it_says_what_python_says(translate, toy_tflite):
    texts = [*toy.SOURCES[:10], "", "ein haus 🐕 ruft"]
    answers = translate(toy_tflite, texts)
    assert [text for _, _, text in answers] == PocketTranslator(toy_tflite).translate(texts)
    assert {truncated for truncated, _, _ in answers} == {"0"}
    assert all(float(score) <= 0 for _, score, _ in answers)


def test_it_tells_what_it_cut(translate, toy_tflite):
    [(truncated, _, _)] = translate(toy_tflite, ["haus " * 500])
    assert int(truncated) & 1


def test_a_file_that_is_none_is_refused(program, tmp_path):
    (tmp_path / "none.tflite").write_bytes(b"nothing")
    result = subprocess.run([program, tmp_path / "none.tflite"], input=b"", capture_output=True)
    assert result.returncode == 2
    assert "must be a TFLite model" in result.stderr.decode()
