"""`kformer compare`: two translations of a text, their scores, and the sentences that differ."""

import re

import pytest

from kformer.cli.compare import changes
from kformer.text.scores import bleu, chrf
from support import toy

SOURCES, REFERENCES = toy.SOURCES[toy.HELD_OUT], toy.TARGETS[toy.HELD_OUT]


@pytest.fixture
def text(written):
    """The options for the held-out text."""
    source, reference = written("source", "\n".join(SOURCES)), written("ref", "\n".join(REFERENCES))
    return "--source", source, "--reference", reference


def damaged(number):
    """The references, of which every n-th one has its first word only."""
    return [line.split()[0] if i % number == 0 else line for i, line in enumerate(REFERENCES)]


def test_scores_and_changed_sentences_of_two_files_are_shown(command, text, written):
    lines = damaged(3), damaged(2)
    first, second = (written(f"{i}.txt", "\n".join(texts)) for i, texts in enumerate(lines))
    result = command("compare", first, second, *text, "--number", "2")
    assert (result.returncode, result.stderr) == (0, "")
    rows = result.stdout.splitlines()
    for row, texts in zip(rows[1:3], lines, strict=True):
        for score in (bleu(texts, REFERENCES), chrf(texts, REFERENCES)):
            assert f"{score.value:.2f} ± " in row
    better = [i for i in range(len(REFERENCES)) if i % 3 == 0 and i % 2]
    worse = [i for i in range(len(REFERENCES)) if i % 2 == 0 and i % 3]
    number = len(REFERENCES)
    assert (
        f"By chrF, {len(better)} of {number} sentences are better in the second, {len(worse)} "
        f"worse, {number - len(better) - len(worse)} as good."
    ) in rows
    shown = re.findall(r"(Better|Worse) by [\d.]+, line (\d+)", result.stdout)
    assert [name for name, _ in shown] == ["Better"] * 2 + ["Worse"] * 2
    for name, line in shown:
        i = int(line) - 1
        assert i in (better if name == "Better" else worse)
        start = next(k for k, row in enumerate(rows) if row.endswith(f", line {line}"))
        texts = SOURCES[i], lines[0][i], lines[1][i], REFERENCES[i]
        assert [row.split(maxsplit=1)[1] for row in rows[start + 1 : start + 5]] == [*texts]


def test_changes_are_sorted_by_the_difference_of_their_chrf():
    compared = changes(SOURCES, damaged(3), damaged(2), REFERENCES)
    differences = [change.difference for change in compared]
    assert differences == sorted(differences)
    for change in compared:
        _, first, second, reference = change.texts
        scores = [chrf([text], [reference]).value for text in (first, second)]
        assert change.difference == pytest.approx(scores[1] - scores[0])


@pytest.mark.prove
def test_a_model_is_compared_with_its_own_translations(command, toy_model, text, tmp_path):
    kept = tmp_path / "kept.txt"
    command("translate", toy_model, "--input", text[1], "--output", kept)
    result = command("compare", toy_model, kept, *text)
    assert f"0 worse, {len(SOURCES)} as good." in result.stdout
    assert "p 1.000" in result.stdout


def test_files_of_another_length_are_refused(command, text, written):
    short = written("short.txt", "one line\n")
    result = command("compare", short, short, *text)
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1
    assert str(short) in result.stderr
