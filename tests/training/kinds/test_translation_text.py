"""The text of a run: its report and its batches."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from kformer.training.kinds.translation_text import TextOfRun


@pytest.fixture
def files(parallel_text):
    return [[path] for path in parallel_text.values()]


def number_of_pairs(batches):
    return sum(len(target) for _, target in batches)


def epoch():
    with tf.device("CPU:0"):
        return tf.Variable(0, dtype=tf.int64)


@pytest.mark.prove
def test_there_are_batches_of_training_and_of_validation(files, tiny_recipe, tokenizer):
    training, [validation] = TextOfRun(*files).batches(tiny_recipe, tokenizer, epoch())
    assert 250 < number_of_pairs(training) <= 300
    assert number_of_pairs(validation) <= len(files[2][0].read_text("utf-8").splitlines())


@pytest.mark.prove
def test_without_validation_text_there_are_no_batches_of_it(files, tiny_recipe, tokenizer):
    text = TextOfRun(*files[:2])
    assert text.batches(tiny_recipe, tokenizer, epoch())[1] == []
    assert "Validation" not in text.report(tiny_recipe, tokenizer)


@pytest.mark.prove
def test_weights_and_the_limit_of_the_ratio_of_lengths_are_used(tiny_recipe, tokenizer, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("der hund\nder hund\n", "utf-8")
    target.write_text(f"the dog\n{'the dog ' * 9}\n", "utf-8")
    text = TextOfRun([source], [target], weights=[2.0])
    limited = dataclasses.replace(tiny_recipe, max_length_ratio=2.0)
    kept = [
        number_of_pairs(text.batches(recipe, tokenizer, epoch())[0])
        for recipe in (tiny_recipe, limited)
    ]
    assert kept == [4, 2]
    assert "1 of unlike lengths" in text.report(limited, tokenizer)


@pytest.mark.prove
def test_only_the_training_text_is_augmented(files, tiny_recipe, tokenizer):
    recipe = dataclasses.replace(tiny_recipe, piece_splitting=0.5)
    number = epoch()
    training, [validation] = TextOfRun(*files).batches(recipe, tokenizer, number)

    def ids(batches):
        return sum(int(np.count_nonzero(target)) for _, target in batches)

    first, known = ids(training), ids(validation)
    number.assign(1)
    assert ids(training) != first
    plain = TextOfRun(*files).batches(tiny_recipe, tokenizer, epoch())
    assert first > 1.2 * ids(plain[0])
    assert ids(validation) == known == ids(plain[1][0])


def test_the_report_has_the_cost_of_the_run(files, tiny_recipe, tokenizer):
    report = TextOfRun(*files).report(tiny_recipe, tokenizer)
    for words in ("300 pairs;", "pieces per word", "An epoch:", "parameters", "GiB of memory"):
        assert words in report


def test_each_validation_text_has_lines_of_its_own(files):
    text = TextOfRun(*files[:2], 2 * files[2], 2 * files[3])
    expected = tuple(file.read_text("utf-8").splitlines() for [file] in files[2:])
    assert text.validation_lines() == 2 * [expected]
