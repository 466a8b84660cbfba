"""Held-out text: each pair in one part, no sentence in two, and the unlike text is unlike."""

import os
import pty
import random
import shlex
import subprocess
import sys

import numpy as np
import pytest
import typer

from kformer.cli.commands import app_for
from kformer.training.preparation.held_out import hold_out
from support.training.pairs import WORDS, sentence

RARE = ["Quark", "Xylophon", "Zwölfzylinder", "Yacht"]


@pytest.fixture
def text(tmp_path):
    """Files of 300 usual pairs, of which pairs 10, 20, ... have rare words, and 7 others."""
    rng = random.Random(1)
    pairs = [(f"{i} {sentence(6, rng)}", f"{sentence(6, rng)} {i}") for i in range(300)]
    for i in range(10, 300, 10):
        words = rng.choices(RARE, k=4)
        pairs[i] = (f"{' '.join(words)} {i}", f"{i} {' '.join(words[::-1])} !")
    pairs += [pairs[0]] * 3 + [
        (pairs[1][0].upper() + " !", "something else"),
        ("", "blank"),
        ("x", ""),
    ]
    files = tmp_path / "all.de", tmp_path / "all.en"
    for file, lines in zip(files, zip(*pairs, strict=True), strict=True):
        file.write_text("".join(f"{line}\n" for line in lines))
    return files, pairs


def parts_in(folder):
    """The pairs of each part."""
    parts = {}
    for file in folder.glob("*.source"):
        sides = [
            file.with_suffix(suffix).read_text().splitlines() for suffix in (".source", ".target")
        ]
        parts[file.stem] = list(zip(*sides, strict=True))
    return parts


def test_every_pair_is_in_one_part_and_held_out_sentences_are_in_no_other(text, tmp_path):
    files, pairs = text
    division = hold_out(tmp_path / "parts", *files, valid=60, test=40, unlike=10)
    parts = parts_in(tmp_path / "parts")
    assert {name: len(part) for name, part in parts.items()} == {
        "train": division.train,
        **{"valid": 60, "test": 40, "unlike": 10},
    }
    assert sum(map(len, parts.values())) + division.dropped == len(pairs)
    for part in parts.values():
        in_order = iter(pairs)
        assert all(pair in in_order and all(pair) for pair in part)
    for side in range(2):
        seen = [
            {"".join(filter(str.isalnum, pair[side].lower())) for pair in part}
            for part in parts.values()
        ]
        assert sum(map(len, seen)) == len(set.union(*seen))


def test_the_unlike_text_has_rare_words(text, tmp_path):
    hold_out(tmp_path / "parts", *text[0], valid=0, unlike=15)
    part = parts_in(tmp_path / "parts")["unlike"]
    rare = [any(word in source for word in RARE) for source, _ in part]
    assert np.mean(rare) > 0.9


def test_the_seed_chooses_the_pairs(text, tmp_path):
    folders = [tmp_path / name for name in ("first", "second", "other")]
    for folder, seed in zip(folders, (3, 3, 4), strict=True):
        hold_out(folder, *text[0], valid=50, seed=seed)
    first, second, other = map(parts_in, folders)
    assert first == second
    assert first["valid"] != other["valid"]


def test_too_few_pairs_are_refused_and_nothing_is_written(text, tmp_path):
    with pytest.raises(ValueError, match=r"valid=400, of \d+ that can be valid text"):
        hold_out(tmp_path / "parts", *text[0], valid=400)
    assert not (tmp_path / "parts").exists()
    assert set(WORDS).isdisjoint(RARE)


def test_the_command_writes_the_parts_of_any_file_of_pairs(command, text, tmp_path):
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"{source}\t{target}\n" for source, target in text[1][:300]))
    output = tmp_path / "parts"
    result = command("split", "--pairs", table, "--output", output, "--valid", 20, "--unlike", 5)
    assert (result.returncode, result.stderr) == (0, "")
    parts = parts_in(output)
    lines = result.stdout.splitlines()
    assert "Next:" not in result.stdout
    for name in ("train", "valid", "unlike"):
        assert f"{output / name}.source, .target: {len(parts[name])} pairs" in lines


def test_people_are_told_the_command_that_trains_on_the_parts(text, tmp_path):
    files = "--source", text[0][0], "--target", text[0][1], "--valid", "20", "--test", "9"
    terminal, output = pty.openpty()
    command = ["kformer", "split", *map(str, files), "--output", str(tmp_path / "parts")]
    code = f"import sys; sys.argv = {command}; from kformer.cli import main; main()"
    subprocess.run([sys.executable, "-c", code], stdout=output, check=True)
    os.close(output)
    last = os.read(terminal, 9999).decode().splitlines()[-1]
    assert last.startswith("Next: kformer train --source ")
    arguments = shlex.split(last)[3:]
    train = typer.main.get_command(app_for(["train"]))
    context = train.commands["train"].make_context("train", arguments)
    assert context.params["valid_source"] == [tmp_path / "parts" / "valid.source"]
    assert all(path.is_file() for path in context.params["source"] + context.params["target"])
