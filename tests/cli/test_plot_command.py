"""`kformer plot`: a picture each, and one line for what cannot be drawn."""

import json
import shutil

import pytest


def drawn(path):
    return path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "arguments",
    [
        ("positions", "--d-model", 32, "--length", 20),
        ("schedule", "--recipe", "tiny", "--recipe", "base", "--steps", 5000),
        ("schedule",),
    ],
)
def test_a_picture_is_drawn(command, tmp_path, arguments):
    picture = tmp_path / "p.png"
    result = command("plot", *arguments, "--output", picture)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"The picture is {picture}\n" and drawn(picture)


def test_the_learning_curves_of_a_run_are_drawn_again(command, tiny_run, tmp_path):
    result = command("plot", "history", tiny_run[0], "--output", tmp_path / "h.png")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "h.png").read_bytes() == (tiny_run[0] / "history.png").read_bytes()


def test_attention_is_one_of_the_pictures(command, toy_keras, tmp_path):
    result = command(
        "plot", "attention", toy_keras, "wir ruft uns .", "--output", tmp_path / "a.png"
    )
    assert result.returncode == 0 and drawn(tmp_path / "a.png")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("positions", "--d-model", 7), "`d_model` must be even"),
        (("positions", "--length", 1), "`length` must be at least 2. Received: length=1."),
        (("schedule", "--recipe", "huge"), "Received: recipe='huge'"),
        (("schedule", "--steps", 0), "`steps` must be at least 1. Received: steps=0."),
    ],
)
def test_what_cannot_be_drawn_is_refused(refused, tmp_path, arguments, said):
    assert said in refused("plot", *arguments, "--output", tmp_path / "p.png")


def test_a_picture_needs_a_name_that_says_its_format(refused, tmp_path):
    line = refused("plot", "positions", "--output", tmp_path / "p.bmp")
    assert "must end in .pdf, .png or .svg. Received: path=" in line


def test_a_folder_without_a_history_or_with_a_damaged_one_is_refused(refused, tiny_run, tmp_path):
    line = refused("plot", "history", tmp_path, "--output", tmp_path / "h.png")
    assert "The folder of a run has a history.json" in line
    run = tmp_path / "run"
    shutil.copytree(tiny_run[0], run, ignore=shutil.ignore_patterns("checkpoints", "models"))
    config = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(json.dumps({**config, "recipe": {"monitor": "luck"}}), "utf-8")
    assert "must be as `train` writes them" in refused(
        "plot", "history", run, "--output", tmp_path / "h.png"
    )
