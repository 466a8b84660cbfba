"""`kformer train --pairs`: tables of pairs."""

import json
import shutil

import pytest

from support import toy


def options(output):
    return ["--output", output, "--recipe", "quick", "--vocab-size", 300]


@pytest.mark.prove
def test_a_table_is_described_as_two_files_are(command, training, tmp_path, toy_run):
    files = [
        toy_run.files[name].read_text("utf-8").splitlines() for name in ("train.de", "train.en")
    ]
    table = tmp_path / "pairs.jsonl"
    records = [{"de": de, "en": en} for de, en in zip(*files, strict=True)]
    table.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    arguments = ["train", "--pairs", table, "--columns", "de,en", *options(tmp_path / "run")]
    found = command(*arguments, "--dry-run")
    expected = command(*training, "--dry-run")
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines(), expected.stdout.splitlines()
    assert len(lines[0]) == len(lines[1]) > 5
    differing = [pair for pair in zip(*lines, strict=True) if pair[0] != pair[1]]
    # The one names the place of a pair, the other a time that is measured.
    assert all("longest sentence has" in line or "Training takes" in line for line, _ in differing)
    assert f"of {table})." in found.stdout


@pytest.mark.parametrize(
    ("name", "content", "more", "message"),
    [
        ("a.tsv", "ja\tyes\nnein\n", [], "a.tsv', where line 2 has no tab: 'nein'"),
        ("a.csv", "de,fr\na,b\n", [], "whose first line is 'de,fr'"),
        ("a.tsv", "ja\tyes\n", ["--columns", "de,en"], "whose first line is 'ja"),
        ("a.jsonl", '{"source": "a", "target": "b"}\n{\n', [], "a.jsonl', where line 2 is not"),
        ("a.jsonl", '{"source": "a"}\n', [], "column 'target'"),
        ("a.tsv", "ja\tyes\n", ["--columns", "de"], "columns=('de',)"),
        ("a.tsv", "ja\tyes\n", ["--source", "b"], "not as both"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_a_line(
    refused, written, tmp_path, name, content, more, message
):
    path = written(name, content)
    assert message in refused("train", "--pairs", path, *more, *options(tmp_path / "run"))


def test_some_text_must_be_given(refused, tmp_path):
    line = refused("train", *options(tmp_path / "run"))
    assert "needs --source and --target, --pairs, --direction, or --shards" in line


@pytest.mark.prove
def test_an_export_is_checked_with_the_table_that_the_run_recorded(command, toy_keras, tmp_path):
    table = tmp_path / "valid.tsv"
    pairs = zip(toy.SOURCES[:9], toy.TARGETS[:9], strict=True)
    table.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    model = shutil.copy(toy_keras, tmp_path)
    config = {"files": {"valid_pairs": [str(table)]}, "options": {"columns": None}}
    (tmp_path / "run.json").write_text(json.dumps(config), "utf-8")
    result = command("export", model, "--tflite", tmp_path / "a.tflite")
    assert result.returncode == 0, result.stderr
    assert "9 of 9" in result.stdout and "BLEU" in result.stdout
