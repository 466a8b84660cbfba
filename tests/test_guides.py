"""What the README says to type works as it stands there."""

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kformer.cli.translate import translate
from kformer.phrasebook import phrasebook

README = Path(__file__).parent.parent.joinpath("README.md").read_text("utf-8")
SMALL = ["--recipe", "quick", "--epochs", "1", "--vocab-size", "400"]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    """An empty folder with the text files that the README names."""
    pairs = phrasebook().train
    for name, part in (("train", pairs[:600]), ("val", pairs[600:620]), ("test", pairs[620:640])):
        for language, side in (("de", 0), ("en", 1)):
            text = "".join(f"{pair[side]}\n" for pair in part)
            (tmp_path / f"{name}.{language}").write_text(text, "utf-8")
    return tmp_path


def run(command, folder, stdin=""):
    result = subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, encoding="utf-8", timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_commands_work_in_their_order(folder):
    (block,) = blocks("sh")
    printed = []
    for line in block.strip().splitlines():
        text, _, command = line.rpartition(" | ")
        words = shlex.split(command)
        assert words[0] == "kformer"
        extra = SMALL if words[1] == "train" else []
        stdin = shlex.split(text)[1] + "\n" if text else ""
        printed.append(run([sys.executable, "-m", *words, *extra], folder, stdin))
    assert printed[1].count("\n") == 1
    assert "BLEU" in printed[2] and "version:" in printed[2]
    assert [line.split("\t")[0] for line in printed[-2].splitlines()] == ["1", "1", "1"]
    assert printed[-1].startswith("perplexity ")
    for made in (
        "served/de-en/1/saved_model.pb",
        "de-en.tflite",
        "de-en.tflite.json",
        "attention.png",
    ):
        assert (folder / made).is_file(), made
    assert run([sys.executable, "-c", blocks("python")[1]], folder).endswith(" [0]\n")


def test_the_scripts_work_but_for_their_numbers(folder):
    first, _, second = blocks("python")
    small = first.replace("8000", "400").replace("epochs=20", "epochs=1")
    assert small != first
    assert run([sys.executable, "-W", "error::UserWarning", "-c", small], folder)
    assert (folder / "translator.keras").is_file()
    run([sys.executable, "-c", second], folder)


def test_the_flags_of_translating_exist():
    section = README.split("## Translating\n")[1].split("\n## ")[0]
    flags = {flag.replace("-", "_") for flag in re.findall("`--([a-z-]+)", section)}
    assert flags - {"summary"} <= {*inspect.signature(translate).parameters}
    assert len(flags) > 15


def test_the_script_around_fit_has_about_ten_statements():
    import ast

    assert len(ast.parse(blocks("python")[0]).body) <= 13
