"""The `--help` pages: groups, examples that parse, and nothing cut at 80 columns."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import typer

from kformer.cli.commands import app_for
from kformer.training.recipes.recipe import Recipe, recipe_names


def pages():
    """Yields the words of each command, such as ("classify", "train"), and the command."""
    for name, command in typer.main.get_command(app_for([])).commands.items():
        for inner, part in getattr(command, "commands", {}).items():
            yield (name, inner), part
        if not hasattr(command, "commands"):
            yield (name,), command


def test_a_page_ends_with_an_example_that_the_command_takes():
    for words, command in pages():
        assert all(len(line) <= 78 for line in command.epilog.splitlines())
        lines = command.epilog.replace("\\\n", " ").splitlines()
        calls = [shlex.split(line.rpartition("| ")[2])[1:] for line in lines]
        own = [call[len(words) :] for call in calls if tuple(call[: len(words)]) == words]
        assert own, words
        for arguments in own:
            command.make_context(words[-1], arguments)  # Raises a usage error.


def test_a_page_shows_every_option_whole_at_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words, command in pages():
        page = command.get_help(typer.Context(command, info_name=" ".join(words)))
        assert max(map(len, page.splitlines())) <= 80
        assert "…" not in page and "list[" not in page
        assert "range>" not in page and "<=" not in page and "x>" not in page
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert all(re.search(f"{option}[ \n,]", page) for option in parameter.opts)


def test_a_page_of_training_shows_the_numbers_of_its_recipe(command):
    numbers = {"train": "tiny", "classify train": "texts", "tag train": "words", "lm train": "lm"}
    for words, recipe in {**numbers, "distill": "student-tiny"}.items():
        page = " ".join(command(*words.split(), "--help").stdout.split())
        assert f"Width of the model. [{recipe}: {Recipe.named(recipe).d_model}]" in page


def test_a_page_of_training_lists_recipes_of_its_kind_alone(command):
    for words, kind in {"train": "translator", "tag train": "tagger"}.items():
        page = " ".join(command(*words.split(), "--help").stdout.replace("-\n", "-").split())
        [listed] = re.findall(r"Numbers to start from: ([\w\-, ]+)", page)
        assert listed.replace("- ", "-").split(", ") == recipe_names(kind)


def test_an_option_with_two_names_is_shown_once(command):
    for words in ("evaluate", "compare", "tune", "calibrate"):
        page = command(words, "--help").stdout
        assert page.count("--reference, --target PATH") == 1


def test_options_of_training_are_in_groups():
    commands = typer.main.get_command(app_for([])).commands
    training = [
        commands["train"],
        *(commands[name].commands["train"] for name in ("classify", "tag", "lm")),
    ]
    for command in training:
        groups = {p.rich_help_panel for p in command.params}
        assert None not in groups and len(groups) == 6


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_is_printed_as_toml(command, name):
    result = command("recipe", name)
    numbers = tomllib.loads(result.stdout)
    assert Recipe(**numbers) == Recipe.named(name)
    assert name in command("recipe").stdout


@pytest.mark.prove
def test_the_shell_completes_commands_and_options():
    def completed(words):
        environment = {
            **os.environ,
            "_KFORMER_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        code = "import sys; sys.argv = ['kformer']; from kformer.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        ).stdout.split()

    assert "translate" in completed("kformer tra") and "train" in completed("kformer tra")
    assert "--length-penalty" in completed("kformer export --len")


def test_help_before_a_command_is_its_help(command):
    for words in ([], ["recipe"], ["classify", "train"]):
        result = command("help", *words)
        assert result.returncode == 0, result.stderr
        assert result.stdout == command(*words, "--help").stdout
    assert "has no command 'trian'" in command("help", "trian").stderr
