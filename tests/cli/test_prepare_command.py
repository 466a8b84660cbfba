"""`kformer prepare`, and `kformer train` from its shards."""

import json
import signal
import subprocess
import sys
import time

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
    assert lines[0].startswith(
        f"{len(TEXT) + 2:,} pairs were read, {number:,} are in 1 shard, with"
    )
    assert "a vocabulary of 400 ids. Dropped: 1 blank, 1 identical" in lines[0]
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
        (["--pairs", "PAIRS", "--tokenizer", "a", "--pieces", "char"], "tokenizer='a', pieces="),
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


@pytest.fixture
def shards(command, table, model, tmp_path):
    result = command(
        "prepare", "--pairs", table, "--tokenizer", model, "--output", tmp_path / "shards"
    )
    assert result.returncode == 0, result.stderr
    return tmp_path / "shards"


def training(shards, output):
    return ["train", "--shards", shards, "--output", output, "--recipe", "quick"]


def test_a_run_on_shards_is_described(command, shards, tmp_path):
    result = command(*training(shards, tmp_path / "run"), "--dry-run")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"{shards}: {len(TEXT):,} pairs were read" in result.stdout
    assert "An epoch: " in result.stdout
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_damaged_shard_is_named_in_a_line(refused, command, shards, tmp_path):
    path = shards / "00000.ids.npy"
    path.write_bytes(path.read_bytes()[:-1])
    arguments = training(shards, tmp_path / "run")
    line = refused(*arguments)
    assert f"--skip-damaged (`skip_damaged=True`) leaves out the others. Received: '{path}'" in line
    result = command(*arguments, "--skip-damaged", "--dry-run")
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith("kformer: A shard must be left.")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--pairs", "PAIRS"], "on shards or on text, not on both"),
        (["--vocab-size", 300], "An existing vocabulary keeps its size. Received: vocab_size=300"),
        (["--max-length", 2], "are too long"),
        (["--shards", "nowhere"], "Received: 'nowhere', without 'manifest.json'."),
        (["--weight", 2, "--weight", 3], "Received: weights=[2.0, 3.0] for 1 pairs of files."),
    ],
)
def test_what_does_not_fit_shards_is_refused_in_a_line(
    refused, shards, table, tmp_path, more, message
):
    more = [table if argument == "PAIRS" else argument for argument in more]
    assert message in refused(*training(shards, tmp_path / "run"), *more)


@pytest.mark.prove
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(table, model, tmp_path, number):
    with table.open("a", encoding="utf-8") as file:
        file.writelines(f"der hund {i}\tthe dog {i}\n" for i in range(1_000_000))
    words = ["prepare", "--pairs", table, "--tokenizer", model, "--output", tmp_path / "shards"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kformer", *map(str, words)], stderr=subprocess.PIPE
    )
    while not [*tmp_path.glob(".shards-*/pairs/*")]:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (128 + number, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.model", "pairs.tsv"]
