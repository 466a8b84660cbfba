"""The text of a run: its report and its batches."""

import dataclasses
import types

import numpy as np
import pytest
import tensorflow as tf

from kformer.training.data.mixture import Mixture
from kformer.training.kinds.translation_learner import report, scores
from kformer.training.kinds.translation_task import prepare_translation


@pytest.fixture
def files(parallel_text):
    return [[path] for path in parallel_text.values()]


@pytest.fixture
def prepared(tokenizer, tmp_path):
    """Prepares a run on files of source and target, and of validation text."""
    tokenizer.save(tmp_path / "model")

    def prepare(recipe, source, target, *valid, **options):
        folder = tmp_path / "run"
        options |= {"tokenizer": tmp_path / "model"}
        return prepare_translation(recipe, source, target, folder, *valid, **options)

    return prepare


def number_of_pairs(batches):
    return sum(len(target) for _, target in batches)


def epoch():
    with tf.device("CPU:0"):
        return tf.Variable(0, dtype=tf.int64)


@pytest.mark.prove
def test_there_are_batches_of_training_and_of_validation(files, tiny_recipe, prepared):
    training, [validation] = prepared(tiny_recipe, *files).text
    assert 250 < number_of_pairs(training.dataset()) <= 300
    assert number_of_pairs(validation.dataset()) <= len(files[2][0].read_text("utf-8").splitlines())


@pytest.mark.prove
def test_without_validation_text_there_are_no_batches_of_it(files, tiny_recipe, prepared):
    run = prepared(tiny_recipe, *files[:2])
    assert run.text.validation == []
    assert "Validation" not in report(run)


@pytest.mark.prove
def test_weights_and_the_limit_of_the_ratio_of_lengths_are_used(tiny_recipe, prepared, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("der hund\nder hund\n", "utf-8")
    target.write_text(f"the dog\n{'the dog ' * 9}\n", "utf-8")
    limited = dataclasses.replace(tiny_recipe, max_length_ratio=2.0)
    runs = [
        prepared(recipe, [source], [target], weights=[2.0]) for recipe in (tiny_recipe, limited)
    ]
    assert [number_of_pairs(run.text.training.dataset()) for run in runs] == [4, 2]
    assert "2 pairs; 1 are used." in report(runs[1]) and "1 of unlike lengths" in report(runs[1])


@pytest.mark.prove
def test_only_the_training_text_is_augmented(files, tiny_recipe, prepared):
    recipe = dataclasses.replace(tiny_recipe, piece_splitting=0.5)
    number, text = epoch(), prepared(recipe, *files).text
    training, validation = text.training.dataset(number), text.validation[0].dataset()

    def ids(batches):
        return sum(int(np.count_nonzero(target)) for _, target in batches)

    first, known = ids(training), ids(validation)
    number.assign(1)
    assert ids(training) != first
    plain = prepared(tiny_recipe, *files).text
    assert first > 1.2 * ids(plain.training.dataset(epoch()))
    assert ids(validation) == known == ids(plain.validation[0].dataset())


def test_the_report_has_the_cost_of_the_run(files, tiny_recipe, prepared):
    words_of_report = report(prepared(tiny_recipe, *files))
    for words in ("300 pairs;", "pieces per word", "An epoch:", "parameters", "GiB of memory"):
        assert words in words_of_report


def test_the_text_is_read_once_for_its_report_and_once_in_a_pass(
    files, tiny_recipe, prepared, monkeypatch
):
    read, opened = [], Mixture._file
    monkeypatch.setattr(
        Mixture, "_file", lambda self, file: read.append(file) or opened(self, file)
    )
    run = prepared(tiny_recipe, *files)
    words_of_report, batches = report(run), run.text.training.dataset()
    assert f"{batches.cardinality()} batches" in words_of_report
    training, validation = [[str(path) for [path] in part] for part in (files[:2], files[2:])]
    assert sorted(read) == sorted([*training, *training, *validation])


def test_each_validation_text_has_lines_of_its_own(files, tiny_recipe, prepared):
    recipe = dataclasses.replace(tiny_recipe, monitor="bleu")
    run = prepared(recipe, *files[:2], 2 * files[2], 2 * files[3])
    callbacks = [
        callback
        for [callback] in scores(
            run, types.SimpleNamespace(target_language="en", target_languages=())
        )
    ]
    expected = [file.read_text("utf-8").splitlines() for [file] in files[2:]]
    assert [[callback.sources, callback.references] for callback in callbacks] == 2 * [expected]
