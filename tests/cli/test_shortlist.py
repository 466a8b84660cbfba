"""`kformer shortlist`, and --shortlist of the commands that search."""

import numpy as np
import pytest

import kformer
from support import toy


@pytest.fixture(scope="module")
def table(toy_shortlist, tmp_path_factory):
    path = tmp_path_factory.mktemp("shortlist") / "table.npz"
    toy_shortlist.save(path)
    return path


def test_it_writes_the_table_that_is_learnt_from_the_text(
    command, toy_keras, toy_run, toy_shortlist, tmp_path
):
    files = ["--source", toy_run.files["train.de"], "--target", toy_run.files["train.en"]]
    output = tmp_path / "new" / "table.npz"
    result = command("shortlist", toy_keras, *files, "--output", output, "--size", 61)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"{output}: 61 candidates, ")
    learnt = kformer.Shortlist.load(output)
    assert vars(learnt).keys() == vars(toy_shortlist).keys()
    for name, value in vars(toy_shortlist).items():
        np.testing.assert_array_equal(getattr(learnt, name), value)


@pytest.mark.prove
def test_commands_search_among_its_candidates(command, toy_keras, toy_run, table, written):
    text = written("text.de", "".join(f"{line}\n" for line in toy.SOURCES[:3]))
    reference = written("text.en", "".join(f"{line}\n" for line in toy.TARGETS[:3]))
    translated = command("translate", toy_keras, "--input", text, "--shortlist", table)
    assert translated.stdout == command("translate", toy_keras, "--input", text).stdout != ""
    scores = ["evaluate", toy_keras, "--source", text, "--reference", reference]
    assert command(*scores, "--shortlist", table).stdout == command(*scores).stdout != ""


def test_what_does_not_go_with_a_table_is_refused(
    refused, toy_keras, toy_tflite, toy_run, table, tmp_path
):
    files = ["--source", toy_run.files["train.de"], "--target", toy_run.files["train.en"]]
    line = refused("shortlist", toy_keras, *files, "--output", tmp_path / "table.txt")
    assert "must end in .npz" in line
    line = refused("translate", toy_tflite, "--shortlist", table)
    assert line.endswith(f"Received: --shortlist with {str(toy_tflite)!r}.")
    check = ["--check-source", toy_run.files["valid.de"], "--shortlist", table]
    line = refused("export", toy_keras, "--ctranslate2", tmp_path / "folder", *check)
    assert "without --shortlist" in line
    line = refused("translate", toy_keras, "--shortlist", toy_keras, stdin=b"a\n")
    assert "must hold a shortlist" in line
