"""`kformer export` of several forms: all of them appear, or none, whatever goes wrong and when."""

import io
import itertools
import os
import signal
import subprocess
import sys
import time

import pytest
import sentencepiece

from kformer import Tokenizer, Transformer, Translator
from support import toy


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def bpe_keras(tmp_path):
    """A translator that a `.tflite` file cannot hold."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*toy.SOURCES, *toy.TARGETS]),
        model_writer=written,
        model_type="bpe",
        vocab_size=300,
        byte_fallback=True,
        **{"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3, "minloglevel": 2},
    )
    transformer = Transformer(300, 1, 16, 2, 16)
    Translator(Tokenizer(written.getvalue()), transformer).save(tmp_path / "bpe.keras")
    return tmp_path / "bpe.keras"


def test_if_one_form_fails_none_is_written(refused, bpe_keras, toy_run, tmp_path):
    message = refused(
        "export",
        bpe_keras,
        "--saved-model",
        tmp_path / "served",
        "--tflite",
        tmp_path / "a.tflite",
        "--check-source",
        toy_run.files["valid.de"],
    )
    assert "unigram" in message and "model_type" in message


@pytest.mark.parametrize(
    ("made", "web", "received"),
    [
        ("a.tflite", (), "a.tflite"),
        ("a.tflite.json", (), "a.tflite.json"),
        ("served/README.md", (), "README.md"),
        (None, ("--web", "a.tflite"), "a.tflite"),
        (None, ("--web", "."), "served"),
    ],
)
def test_places_are_checked_before_anything_is_written(
    refused, toy_keras, tmp_path, made, web, received, monkeypatch
):
    """Where a folder is in the way, or one output would be within another."""
    if made:
        (tmp_path / made).mkdir(parents=True)
    targets = ("--saved-model", tmp_path / "p" / "served", "--tflite", tmp_path / "p" / "a.tflite")
    if made:
        targets = ("--saved-model", tmp_path / "served", "--tflite", tmp_path / "a.tflite")
    page = [web[0], tmp_path / "p" / web[1]] if web else []
    assert received in refused("export", toy_keras, *targets, *page)


def test_limits_and_search_are_checked_before_anything_is_written(refused, toy_keras, tmp_path):
    both = ("--saved-model", tmp_path / "served", "--tflite", tmp_path / "a.tflite")
    for option, value, received in (
        ("--max-batch-tokens", 561, "max_batch_tokens=561"),
        ("--max-source-length", 300, "max_source_length=300"),
        ("--beam-size", 0, "beam_size=0"),
    ):
        assert received in refused("export", toy_keras, *both, option, value)


MOMENTS = [  # A line on stderr, or a path that exists; then seconds more; and what is written.
    pytest.param(".1-*", 0, signal.SIGTERM, ["--saved-model"], marks=pytest.mark.prove),
    *(
        pytest.param(
            moment, seconds, number, ["--saved-model", "--tflite"], marks=pytest.mark.prove
        )
        for moment, seconds, number in itertools.product(
            ["Translating", "Converting", "Writing the SavedModel", ".1-*", ".1-*/assets.extra/*"],
            [0, 1],
            [signal.SIGTERM, signal.SIGINT],
        )
    ),
]


@pytest.mark.parametrize(("moment", "seconds", "number", "forms"), MOMENTS)
def test_a_signal_leaves_nothing(toy_keras, tmp_path, moment, seconds, number, forms):
    served, scratch = tmp_path / "mount" / "served", tmp_path / "scratch"
    places = {"--saved-model": served, "--tflite": tmp_path / "mount" / "a.tflite"}
    served.mkdir(parents=True)
    scratch.mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "kformer",
            "export",
            toy_keras,
            *(word for form in forms for word in (form, places[form])),
            "--max-source-length",
            "32",
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    if moment.startswith("."):
        while not any(served.glob(moment)) and process.poll() is None:
            time.sleep(0.01)
    else:
        next(line for line in process.stderr if line.startswith(moment))
    time.sleep(seconds)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    left = contents(tmp_path / "mount")
    if process.returncode == 0:  # It was done before.
        assert all(places[form].exists() for form in forms)
    else:
        assert process.returncode == 128 + number, errors
        assert left == ["served"]
    assert not any(".1-" in path for path in left)
    assert [path for path in contents(scratch) if "kformer" in path or "tflite" in path] == []
