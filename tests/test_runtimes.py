"""A `.tflite` file gives the same in every runtime: in C++, in TensorFlow's, in old versions.

The program in C++ uses the C API of LiteRT, declares what it calls, and is linked with the library
in the Python package: bytes in and bytes out, and no Python.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import ai_edge_litert
import numpy as np
import odd_text
import pytest
import tensorflow as tf
import toy
from ai_edge_litert.interpreter import Interpreter
from answer_in_a_runtime import answer
from compiling import compiled

from kformer.pocket import PocketTranslator
from kformer.pocket_manifest import read_manifest

S = toy.SHORT
ROOM = 6 * S  # Most bytes.
TEXTS = [*toy.SOURCES[:20], "", "  ", "das häus 🐕‍🦺", "e\u0301 ﬁ ½ \u2581", "日本 wir"]
CUT = [b"a" * (ROOM - 1) + "ä".encode(), "ä".encode() * 3 * S + b"a", b"wir " * 50, b"x" * 500]
ODD = [*odd_text.texts(40, toy.SOURCES), b"\xff wir \xc3", *CUT]
LIBRARIES = Path(ai_edge_litert.__file__).parent
DECLARED = (2, 1, 6)  # The oldest version of LiteRT that the program's declarations fit.
OLD = {"1.0.0": "numpy<2", "1.4.0": "numpy<3"}  # What the oldest was built with.


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The compiled program."""
    version = importlib.metadata.version("ai-edge-litert")
    if tuple(map(int, version.split(".")[:3])) < DECLARED:
        pytest.skip(f"ai-edge-litert {version} has another C API than the program declares.")
    if not (LIBRARIES / "libLiteRt.so").is_file():
        pytest.skip("The package ai-edge-litert has no libLiteRt.so here.")
    return compiled(
        "translate",
        tmp_path_factory.mktemp("native"),
        *("-Wall", "-Wextra", "-Werror"),
        *(f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-l:libLiteRt.so"),
    )


@pytest.fixture(scope="module", params=["float32", "int8", "int4"])
def exported(request, short_tflite):
    return short_tflite(precision=request.param)


@pytest.fixture(scope="module")
def expected(exported):
    """What the installed LiteRT answers to `TEXTS` and `ODD`, in Python."""
    translate = Interpreter(str(exported)).get_signature_runner("translate")
    answers = [answer(translate, text) for text in inputs()]
    assert [said.decode() for said, *_ in answers[: len(TEXTS)]] == translated(exported)
    assert 4 <= sum(truncated & 1 for *_, truncated in answers) < len(ODD)
    return answers


def inputs():
    return [*(text.encode() for text in TEXTS), *ODD]


def translated(path):
    translations = PocketTranslator(path, workers=1).translate(TEXTS)
    assert len({*translations}) > 15
    return translations


def assert_same(found, expected):
    """The bytes are the same, and the scores up to the last digits of float32."""
    for (said, score, truncated), wanted in zip(found, expected, strict=True):
        assert (said, truncated) == (wanted[0], wanted[2])
        np.testing.assert_allclose(score, wanted[1], rtol=1e-4, atol=1e-4)


def assert_same_of_another_version(found, expected, path):
    """As `assert_same`; but versions round products of integers each in a way of its own."""
    precision = read_manifest(path)["precision"]
    if precision == "float32":
        assert_same(found, expected)
        return
    same = [row[0] == wanted[0] for row, wanted in zip(found, expected, strict=True)]
    assert np.mean(same) >= {"int8": 0.9, "int4": 0.75}[precision]
    assert all(row[0].decode() is not None for row in found)


def run(program, path, texts):
    """Runs the program on byte strings without a zero."""
    content = b"".join(text + b"\0" for text in texts)
    return subprocess.run([program, path], input=content, capture_output=True, check=False)


def in_cpp(program, path, texts):
    """What the program answers: for each text as `answer`."""
    result = run(program, path, texts)
    assert result.returncode == 0, result.stderr.decode()
    *found, rest = result.stdout.split(b"\0")
    assert rest == b""
    fields = [answer.split(b" ", 2) for answer in found]
    return [(said, float(score), int(truncated)) for truncated, score, said in fields]


def test_a_program_without_python_says_the_same(program, exported, expected):
    assert_same(in_cpp(program, exported, inputs()), expected)


def test_a_megabyte_is_truncated_and_harms_no_other(program, exported):
    [(said, _, truncated), harmless] = in_cpp(program, exported, [b"wir " * 250_000, b"wir"])
    assert said.decode() and truncated & 1
    assert harmless == in_cpp(program, exported, [b"wir"])[0]


def test_what_is_no_translator_is_refused_in_one_line(program, tmp_path):
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"no model")
    for path in (broken, tmp_path / "missing.tflite"):
        result = run(program, path, [b"wir"])
        assert result.returncode == 2 and result.stdout == b""
        last = result.stderr.decode().strip().splitlines()[-1]
        assert last == f"translate: The file must be a TFLite model. Received: {path}"


@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
def test_the_interpreter_of_tensorflow_says_the_same(exported, expected):
    translate = tf.lite.Interpreter(str(exported)).get_signature_runner("translate")
    found = [answer(translate, text) for text in inputs()]
    assert_same_of_another_version(found, expected, exported)


@pytest.mark.prove
@pytest.mark.parametrize("version", OLD)
def test_old_versions_say_the_same(version, exported, expected, tmp_path):
    install = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--target", tmp_path, "--no-deps", "--only-binary", ":all:"),
        *(f"ai-edge-litert=={version}", OLD[version]),
    ]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"ai-edge-litert {version} cannot be installed: {installed.stderr[-300:]}")
    result = subprocess.run(
        [sys.executable, Path(__file__).with_name("answer_in_a_runtime.py"), exported],
        input=json.dumps([text.hex() for text in inputs()]),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    place, rows = json.loads(result.stdout)
    assert Path(place).is_relative_to(tmp_path)
    found = [(bytes.fromhex(said), *others) for said, *others in rows]
    assert_same_of_another_version(found, expected, exported)
