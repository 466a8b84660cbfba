"""`kformer prepare`, and `kformer train` from its shards."""

import json

import pytest

from support import toy

TEXT = list(zip(toy.SOURCES, toy.TARGETS, strict=True))


@pytest.fixture
def table(written):
    return written("pairs.tsv", "".join(f"{source}\t{target}\n" for source, target in TEXT))


@pytest.fixture
def model(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "given.model")
    return tmp_path / "given.model"


def test_it_tells_what_it_kept_and_dropped(command, table, model, tmp_path):
    table.write_text(table.read_text("utf-8") + "\thallo\nja\tja\n", "utf-8")
    shards = tmp_path / "shards"
    result = command("prepare", "--pairs", table, "--tokenizer", model, "--output", shards)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    number = json.loads((shards / "manifest.json").read_text("utf-8"))["pairs"]
    assert lines[0].startswith(f"{len(TEXT) + 2:,} pairs were read, {number:,} are in 1 shards. ")
    assert "Dropped: 1 blank, 1 identical" in lines[0]
    assert lines[1:] == [f"The shards are in {shards}."]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "or from files of pairs. Received: source=[], target=[], pairs=[]."),
        (["--source", "no.de", "--target", "no.en"], "no such file. Received: 'no.de'."),
        (["--pairs", "PAIRS", "--max-length", 1], "at least 2. Received: max_length=1."),
        (["--pairs", "PAIRS", "--max-length-ratio", 0.5], "Received: max_length_ratio=0.5."),
        (["--pairs", "PAIRS", "--min-letters", 2], "at most 1. Received: min_letters=2.0."),
        (["--pairs", "PAIRS", "--pieces", "words"], "Received: pieces='words'."),
        (["--pairs", "PAIRS", "--columns", "de"], "Received: columns=('de',)."),
        (["--pairs", "PAIRS", "--source-script", "Lateinisch"], "Received: 'Lateinisch'."),
        (["--pairs", "PAIRS", "--tokenizer", "PAIRS"], "Received: path='PAIRS'."),
        (["--pairs", "PAIRS", "--source-script", "Cyrillic"], "other_script"),
    ],
)
def test_what_cannot_be_prepared_is_refused_in_a_line(refused, table, tmp_path, arguments, message):
    arguments = [table if argument == "PAIRS" else argument for argument in arguments]
    line = refused("prepare", "--output", tmp_path / "shards", *arguments)
    assert message.replace("PAIRS", str(table)) in line


def test_an_existing_folder_is_refused(refused, table, tmp_path):
    (tmp_path / "shards").mkdir()
    line = refused("prepare", "--pairs", table, "--output", tmp_path / "shards")
    assert "existing folder is not replaced" in line
