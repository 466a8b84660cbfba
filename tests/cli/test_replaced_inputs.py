"""No command replaces a file that it reads, whatever name its output has."""

import re
import shutil
import subprocess
import sys

import pytest
import typer

import kformer
from kformer.cli.commands import app_for
from kformer.cli.terminal.replaced_inputs import is_output
from kformer.files import is_same_file
from kformer.training.preparation.held_out import hold_out
from support import TESTS

MODEL = TESTS / "saved" / "0.1.0" / "translator.tflite"
WRITTEN = re.compile(r"\b(to write|[Ww]rite|[Nn]ew folder|[Ff]older for|draw)\b")


def commands(group=None, names=()):
    """Yields the name and the parameters of each command."""
    group = group or typer.main.get_command(app_for([]))
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*names, name))
        else:
            yield " ".join((*names, name)), command.params


COMMANDS = dict(commands())


def places(name):
    """Returns the parameters of a command that name files, folders or models."""
    return [
        parameter
        for parameter in COMMANDS[name]
        if getattr(parameter.callback, "__name__", "") == "model_paths"
        or "Path" in str(parameter.type_descriptor.annotation)
    ]


def inputs(name):
    return [place for place in places(name) if not is_output(name, place.name)]


OUTPUTS = [
    (name, place.opts[0])
    for name in COMMANDS
    for place in places(name)
    if inputs(name) and is_output(name, place.name)
]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_check_knows_what_a_command_writes(name):
    """By the help of its parameters."""
    for place in places(name):
        described = WRITTEN.search(place.help.split(":")[0].split(";")[0])
        assert is_output(name, place.name) == bool(described), place.opts


@pytest.mark.sample(6)
@pytest.mark.parametrize("name, output", OUTPUTS)
def test_a_command_refuses_each_of_its_inputs_as_its_output(refused, written, name, output):
    file = written("file", "ein hund\n")
    for read in inputs(name):
        arguments = [*name.split(), output, file]
        for parameter in COMMANDS[name]:
            if parameter is read or (parameter.required and parameter.opts[0] != output):
                option = parameter.opts[:1] if parameter.param_type_name == "option" else []
                arguments += [*option, file if parameter is read else "another"]
        message = refused(*arguments)
        assert message.startswith(
            "kformer: The output must be another file than the input, which it would replace. "
            f"Received: {output} {str(file)!r}, the same as "
        )
        assert file.read_text() == "ein hund\n"


@pytest.mark.parametrize(
    "spelling", ["file", "./file", "folder/../file", "link", "folder/link", "hard link"]
)
def test_the_same_file_has_many_names(refused, written, tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    written("file", "ein hund\n")
    written_as = spelling.removeprefix("./")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder" / "link").symlink_to("../link")
    (tmp_path / "hard link").hardlink_to(tmp_path / "file")
    for option in ("--output", "--tmx"):
        message = refused("translate", MODEL, "--input", "file", option, spelling, "--kind", "html")
        assert message.endswith(f"Received: {option} {written_as!r}, the same as --input 'file'.")
        assert (tmp_path / "file").read_text() == "ein hund\n"


def test_a_folder_that_is_replaced_must_not_hold_the_model_to_start_from(refused, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(MODEL.with_suffix(".keras"), run)
    words = ["train", "--source", "a", "--target", "b", "--output", run, "--warm-start", run]
    assert refused(*words, "--overwrite") == (
        "kformer: A folder that is replaced must not hold an input. "
        f"Received: --output {str(run)!r}, which holds --warm-start "
        f"{str(run / 'translator.keras')!r}."
    )


def test_parts_of_a_text_do_not_replace_the_text(refused, written, tmp_path):
    files = [written(f"train.{side}", "a b c\n" * 20) for side in ("source", "target")]
    words = ["split", "--source", files[0], "--target", files[1], "--output", tmp_path]
    message = refused(*words, "--valid", "2")
    assert f"Received: output={str(files[0])!r}, the same as {str(files[0])!r}." in message
    with pytest.raises(ValueError, match="The output must be another file than the input"):
        hold_out(tmp_path, *files, valid=2)
    assert all(file.read_text() == "a b c\n" * 20 for file in files)


@pytest.mark.parametrize("place", ["output", "tmx"])
def test_a_document_is_not_translated_onto_itself(written, tmp_path, place):
    page = written("page.html", "<p>Ein Hund</p>")
    outputs = {"output": tmp_path / "new.html", place: page}
    with pytest.raises(ValueError, match="The output must be another file than the input"):
        kformer.translate_document(page, list, **outputs)
    assert page.read_text() == "<p>Ein Hund</p>"


def test_a_device_may_be_both():
    assert not is_same_file("/dev/null", "/dev/null")


@pytest.mark.prove
@pytest.mark.parametrize(
    "redirection, message",
    [
        ("--output text.de < text.de", "Received: --output 'text.de', the same as stdin."),
        ("--input text.de >> text.de", "Received: stdout, the same as --input 'text.de'."),
    ],
)
def test_a_redirected_text_is_not_replaced(written, tmp_path, redirection, message):
    text = written("text.de", "ein hund\n")
    line = f"{sys.executable} -m kformer translate {MODEL} {redirection}"
    result = subprocess.run(
        line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert message in result.stderr
    assert text.read_text() == "ein hund\n"
