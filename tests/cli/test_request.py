"""`kformer request`, against the stand-in."""

import json
import subprocess
import sys

import pytest

from support import toy
from support.serving.script import Script, rest_server
from support.serving.server_process import stand_in, write_scripted

TEXTS = toy.SOURCES[:5]
TEXT = "\n".join(TEXTS).encode()
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(params=["rest", "grpc"])
def ask(request, toy_server, command):
    """A function that runs `kformer request`."""

    def run(*arguments, stdin=b""):
        url = toy_server.url(request.param)
        result = command("request", url, *arguments, stdin=stdin)
        assert result.returncode == 0, result.stderr
        return result

    return run


def test_texts_are_arguments_or_lines(ask, toy_translator, written, tmp_path):
    expected = toy_translator.translate(TEXTS)
    assert ask(*TEXTS).stdout.splitlines() == expected
    assert ask(stdin=TEXT).stdout.splitlines() == expected
    assert ask(stdin=b"").stdout == ""
    result = ask("--input", written("de", TEXT), "--output", tmp_path / "en")
    assert (result.stdout, result.stderr) == ("", "")
    assert (tmp_path / "en").read_text().splitlines() == expected


@pytest.mark.sample(2)
def test_formats_are_those_of_translate(ask, toy_translator, command, toy_keras):
    options = ("--format", "tsv", "--n-best", 2)
    expected = command("translate", toy_keras, *options, "--beam-size", 4, stdin=TEXT).stdout
    rows, rows_expected = (
        [line.split("\t") for line in text.splitlines()]
        for text in (ask(*options, stdin=TEXT).stdout, expected)
    )
    assert [(number, text) for number, _, text in rows] == [
        (number, text) for number, _, text in rows_expected
    ]
    assert [float(score) for _, score, _ in rows] == pytest.approx(
        [float(score) for _, score, _ in rows_expected], abs=2e-3
    )
    [one] = map(json.loads, ask(TEXTS[0], "--format", "jsonl").stdout.splitlines())
    assert list(one) == ["line", "text", "score", "flags"]
    assert (one["line"], one["flags"]) == (1, [])


@pytest.mark.filterwarnings("default")
def test_what_is_wrong_with_a_translation_is_said_by_line(ask):
    result = ask(TEXTS[0], TEXTS[0] * 99, "--batch-size", 1, "--connections", 1)
    assert result.stderr.startswith("kformer: Line 2 is over the model's limit of ids")
    assert result.stdout.count("\n") == 2


def test_status_is_a_line_for_each_version(ask):
    assert ask("--status").stdout == "1\tAVAILABLE\n"


def test_a_model_that_is_not_there_has_no_status(toy_server, refused):
    assert "other" in refused("request", toy_server.rest, "--status", "--model", "other")


@pytest.mark.prove
def test_a_version_is_chosen(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("two")
    for version in (1, 2):
        write_scripted(folder, version, f"{version}: ")
    with stand_in(folder, versions=2, labels={"stable": 1}) as server:
        for choice, expected in [((), 2), (("--model-version", 1), 1), (("--label", "stable"), 1)]:
            assert command("request", server.rest, "x", *choice).stdout == f"{expected}: x\n"
        assert command("request", server.rest, "--status").stdout.count("AVAILABLE") == 2


def test_the_token_and_headers_are_sent(command, monkeypatch):
    script = Script()
    with rest_server(script) as url:
        command("request", url, "x", "--token", "abc", "--header", "X-Tenant: seven: 7")
        monkeypatch.setenv("KFORMER_TOKEN", "def")
        command("request", url, "x")
    assert script.headers[0]["Authorization"] == "Bearer abc"
    assert script.headers[0]["X-Tenant"] == "seven: 7"
    assert script.headers[1]["Authorization"] == "Bearer def"


def test_errors_of_the_server_are_one_line(refused, toy_server):
    with rest_server(Script(400, 503, 9.0)) as url:
        assert "answered 400: act 400" in refused("request", url, "x")
        assert "answered 503: act 503" in refused("request", url, "x", "--retries", 0)
        assert "Received: timeout=0.2" in refused("request", url, "x", "--timeout", 0.2)
    for url in (toy_server.rest, toy_server.grpc):
        assert "Servable not found for request: Latest(nix)" in refused(
            "request", url, "x", "--model", "nix"
        )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((NOWHERE, "x", "--retries", 0), "must be reachable. Received: url='http://127.0.0.1:1"),
        (("grpc://127.0.0.1:1", "x", "--retries", 0), "answered UNAVAILABLE: "),
        (("file:///x", "x"), "Received: url='file:///x'"),
        ((NOWHERE, "x", "--input", "y"), "not both. Received: 'x', 'y'"),
        ((NOWHERE, "x", "--n-best", 2), "Received: n_best=2, format=text"),
        ((NOWHERE, "x", "--header", "secret"), '"Name: value"'),
        ((NOWHERE, "x", "--timeout", 0), "Received: timeout=0"),
        ((NOWHERE, "--input", "/none"), "There is no such file. Received: '/none'"),
        ((NOWHERE, "x", "--ca-file", "/none"), "Received: ca_file='/none'"),
        ((NOWHERE, "--status", "--retries", 0), "must be reachable"),
    ],
)
def test_what_cannot_work_is_one_line(refused, arguments, expected):
    assert expected in refused("request", *arguments)


def test_text_that_is_not_utf8_is_refused_by_line(refused):
    with rest_server(Script()) as url:
        assert "line 2 is not" in refused("request", url, stdin=b"x\n\xff\n")


def test_rest_loads_no_large_library():
    """It starts in a fraction of a second where neither TensorFlow, Keras nor NumPy is loaded."""
    command = [sys.executable, "-X", "importtime", "-m", "kformer", "request"]
    with rest_server(Script()) as url:
        result = subprocess.run([*command, url, "x"], capture_output=True, text=True, check=True)
    assert result.stdout == "x\n"
    imported = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}
    assert "kformer.serving.rest" in imported
    assert not imported & {"tensorflow", "keras", "numpy", "grpc"}


@pytest.mark.prove
def test_a_classifier_is_refused_with_the_signature_that_it_lacks(refused, classifier_server):
    line = refused("request", classifier_server.rest, "--model", "classifier", "wir")
    assert "a signature 'serving_default', which answers translation" in line
    *_, received = line.removesuffix(".").split("Received: ")
    assert {*received.split(", ")} == {"label", "probabilities", "labels", "flags"}
