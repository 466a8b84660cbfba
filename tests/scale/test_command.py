"""`--runner`: options of Beam go to Beam; without it, nothing changes."""

import json
import sys

import pytest
import typer.main

from kformer.cli.commands import app_for
from support import toy
from support.beam import needs_beam

COMMANDS = typer.main.get_command(app_for([])).commands
RUNNER = ["--runner", "DirectRunner"]


@pytest.fixture
def table(written):
    pairs = zip(toy.SOURCES, toy.TARGETS, strict=True)
    return written("pairs.tsv", "".join(f"{source}\t{target}\n" for source, target in pairs))


@pytest.fixture
def no_beam(monkeypatch):
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.parametrize("arguments", [["--direct_num_workers=2"], ["--max-lenght", "3"]])
@pytest.mark.parametrize("words", [["prepare", "--output", "a"], ["translate", "model"]])
def test_without_a_runner_unknown_options_are_refused(refused, words, arguments):
    assert "has no option --" in refused(*words, *arguments)


@pytest.mark.parametrize(
    ("more", "of_beam"),
    [
        (["--a=1", "m.tflite", "--b", "2", "--input", "x"], ["--a=1", "--b", "2"]),
        (["m.tflite", "--streaming", "--a", "b", "--input", "x"], ["--streaming", "--a", "b"]),
        (["--input=x", "m.tflite"], []),
        (["m.tflite", "--input", "x", "--flag"], ["--flag"]),
    ],
)
def test_what_the_command_does_not_know_is_for_beam(more, of_beam):
    command = COMMANDS["translate"]
    for words in ([*RUNNER, *more], [*more, "--runner=DirectRunner"]):
        context = command.make_context("translate", [*words])
        assert context.args == of_beam
        assert str(context.params["model"]) == "m.tflite"
        assert str(context.params["input"]) == "x"


@pytest.mark.parametrize("words", [["prepare", "--output", "a"], ["translate", "model"]])
def test_without_beam_it_says_what_to_install(refused, no_beam, words):
    assert 'pip install "kformer[beam]". Received: runner=' in refused(*words, *RUNNER)


@needs_beam
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "--input and --output are files. Received: input=None, output=None."),
        (["--input", "a", "--output", "b", "--beam-size", 2], "Received: --beam-size."),
        (["--input", "a", "--output", "b", "--format", "tsv"], "Received: --format."),
        (["--input", "a", "--output", "b", "--worker", 2], "Received: --worker with the runner"),
        (["--input", "a", "--output", "b"], "There is no such file. Received: 'a'."),
    ],
)
def test_what_a_runner_cannot_do_is_refused(refused, more, message):
    assert message in refused("translate", "model", *RUNNER, *more)


@needs_beam
def test_shards_are_prepared_on_a_runner(command, table, tokenizer, tmp_path):
    tokenizer.save(tmp_path / "given.model")
    words = ["prepare", "--pairs", table, "--tokenizer", tmp_path / "given.model", "--output"]
    local = command(*words, tmp_path / "local")
    found = command(*words, tmp_path / "beam", *RUNNER, "--direct_num_workers", 2)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == local.stdout.replace("local", "beam")
    manifests = [
        json.loads((tmp_path / name / "manifest.json").read_text("utf-8"))
        for name in ("local", "beam")
    ]
    assert manifests[0] == manifests[1]


@needs_beam
def test_a_file_is_translated_on_a_runner(command, written, toy_tflite, tmp_path):
    text = written("text", "".join(f"{line}\n" for line in toy.SOURCES[:7]))
    words = ["translate", toy_tflite, "--input", text, "--output"]
    assert command(*words, tmp_path / "plain").returncode == 0
    found = command(*words, tmp_path / "beam", *RUNNER)
    assert (found.returncode, found.stdout) == (0, "")
    assert (tmp_path / "beam").read_bytes() == (tmp_path / "plain").read_bytes()


@needs_beam
def test_a_damaged_text_is_named_in_a_line(refused, written, tmp_path):
    table = written("pairs.tsv", "a\tb\nc\n")
    model = ["--tokenizer", table]
    line = refused("prepare", "--pairs", table, "--output", tmp_path / "s", *RUNNER, *model)
    assert f"Received: path='{table}'" in line
