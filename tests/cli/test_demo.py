"""The demo keeps what the README promises of it."""

import re

import pytest

from support import toy


@pytest.mark.prove
def test_the_demo_is_right_about_97_percent_and_its_three_forms_agree(tmp_path):
    result = toy.run_command("demo", "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    scores = re.search(r"like those of training +(\d+) +([\d.]+)", result.stdout)
    assert int(scores[1]) == 500
    assert float(scores[2]) >= 97
    unseen = re.search(r"with combinations never seen +(\d+) +([\d.]+)", result.stdout)
    assert int(unseen[1]) >= 300
    agreement = re.findall(r"(?:SavedModel|\.tflite) .* (\d+) of (\d+)", result.stdout)
    assert agreement == [("900", "900")] * 2
    for name in ("run/translator.keras", "served/1/saved_model.pb", "translator.tflite"):
        assert (tmp_path / name).is_file()
    assert (tmp_path / "attention.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.prove
def test_the_demo_of_a_classifier_reads_what_a_bag_of_words_cannot(tmp_path):
    """Of 97 percent of the held-out reviews; `tests/phrasebook/test_reviews.py` has the bag."""
    result = toy.run_command("demo", "--classifier", "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    rows = re.findall(
        r"^ *(like|with \w+) .* (\d+) +([\d.]+) +[\d.]+$", result.stdout, re.MULTILINE
    )
    numbers = {(name, int(number)): float(share) for name, number, share in rows}
    held_out = [share for (name, number), share in numbers.items() if number == 1000]
    assert len(held_out) == 2 and sum(held_out) / 2 >= 97
    turning = [share for (name, number), share in numbers.items() if name == "with negation"]
    assert len(turning) == 2 and min(turning) >= 60 + 10
    agreement = re.findall(r"(?:SavedModel|\.tflite) .* (\d+) of (\d+)", result.stdout)
    assert agreement == [("2000", "2000")] * 2
    for name in ("run/classifier.keras", "served/1/saved_model.pb", "classifier.tflite"):
        assert (tmp_path / name).is_file()
    assert (tmp_path / "confusion.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.prove
def test_the_demo_of_a_language_model_has_learnt_the_grammar(tmp_path):
    result = toy.run_command("demo", "--lm", "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    perplexity = re.search(r"like those of training +500 +([\d.]+)", result.stdout)
    assert float(perplexity[1]) < 5
    derived = re.search(r"the phrasebook has ([\d.]+) %", result.stdout)
    assert float(derived[1]) >= 95
    agreement = re.findall(r"(?:SavedModel|\.tflite) .* (\d+) of (\d+)", result.stdout)
    assert agreement == [("900", "900")] * 2
    for name in ("run/language_model.keras", "served/1/saved_model.pb", "language_model.tflite"):
        assert (tmp_path / name).is_file()
    assert (tmp_path / "attention.png").read_bytes().startswith(b"\x89PNG")
