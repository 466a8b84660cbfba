"""A whole run, from labelled text to a classifier in a folder."""

import dataclasses
import json
from itertools import islice

import numpy as np
import pytest

import kformer
from kformer.phrasebook import reviews
from kformer.text.label_scores import class_scores
from kformer.training import Recipe, train, train_classifier
from kformer.training.data.batching import BatchOptions
from kformer.training.kinds.classification_learner import classification_windows
from kformer.training.kinds.classification_report import labelled_report
from kformer.training.kinds.classification_task import (
    ClassificationTask,
    prepare_classifier,
)
from kformer.training.run.labelling_options import ClassificationOptions
from kformer.training.run.training_task import TextOfRun
from support.disturbances import PowerCut
from support.training.same_run import assert_same_run

PARTS = ("", "val_", "val_short_")  # Of the text; prefixes of the scores in the history.


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, parts = tmp_path_factory.mktemp("reviews"), reviews()
    paths = {}
    for name, number in (("train", 200), ("valid", 40)):
        paths[name] = folder / f"{name}.tsv"
        lines = (f"{one.label}\t{one.text}\n" for one in islice(getattr(parts, name), number))
        paths[name].write_text("".join(lines), "utf-8")
    paths["short"] = folder / "short.tsv"
    few = paths["valid"].read_text("utf-8").splitlines(keepends=True)[:7]
    paths["short"].write_text("".join(few), "utf-8")
    return paths


@pytest.fixture(scope="module")
def recipe(tiny_recipe):
    return dataclasses.replace(tiny_recipe, norm_first=True, keep_best=2, average=2)


@pytest.fixture(scope="module")
def trained(files, recipe):
    """Trains with `recipe` and some changes."""

    def trained(output, changes=(), **options):
        numbers = dataclasses.replace(recipe, **dict(changes))
        valid = [files["valid"], files["short"]]
        return train_classifier(numbers, files["train"], output, valid, **options)

    return trained


@pytest.fixture(scope="module")
def run(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    return folder, trained(folder)


def test_the_folder_holds_what_that_of_a_translator_does(run):
    folder, classifier = run
    names = {"classifier.keras", "history.json", "history.png", "run.json", "checkpoints", "models"}
    assert {path.name for path in folder.iterdir()} == names
    config = json.loads((folder / "run.json").read_text("utf-8"))
    assert (config["task"], config["texts"], config["finished"]) == ("classification", 200, True)
    assert config["labels"] == ["negative", "positive"] == list(classifier.labels)
    history = json.loads((folder / "history.json").read_text("utf-8"))
    assert {*history} == {
        *(f"{part}{name}" for part in PARTS for name in ("loss", "accuracy", "f1")),
        "texts/s",
        "epoch",
        "step",
    }


def test_the_validation_scores_are_those_of_its_probabilities(run, files):
    folder, _ = run
    history = json.loads((folder / "history.json").read_text("utf-8"))
    last = sorted((folder / "models").glob("step-*.keras"))[-1]
    classifier = kformer.load(last)
    for part, file in zip(PARTS[1:], (files["valid"], files["short"]), strict=True):
        examples = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
        expected = [label for label, _ in examples]
        labels, probabilities = classifier.predict([text for _, text in examples])
        right = np.array([classifier.labels.index(label) for label in expected])
        scores = class_scores(classifier.labels, expected, labels)
        assert history[f"{part}accuracy"][-1] == pytest.approx(scores.accuracy)
        assert history[f"{part}f1"][-1] == pytest.approx(scores.macro_f1)
        logs = np.log(probabilities)
        smoothed = 0.9 * logs[np.arange(len(right)), right] + 0.1 * logs.mean(axis=1)
        assert history[f"{part}loss"][-1] == pytest.approx(-smoothed.mean(), rel=1e-4)


@pytest.mark.prove
def test_a_run_that_was_broken_off_ends_like_one_that_was_not(run, trained, tmp_path):
    with pytest.raises(ZeroDivisionError):
        trained(tmp_path / "run", callbacks=[PowerCut(1)])
    trained(tmp_path / "run")
    assert_same_run(tmp_path / "run", run[0], model="classifier.keras")


@pytest.mark.prove
@pytest.mark.parametrize("freeze", [True, False])
def test_it_starts_from_the_encoder_of_a_translator(trained, tiny_run, tmp_path, freeze):
    folder, translator = tiny_run
    changes = {"epochs": 1, "keep_best": 0, "average": 0, "ema_momentum": 0.0}
    classifier = trained(
        tmp_path / "run", changes, warm_start=folder / "translator.keras", freeze=freeze
    )
    assert classifier.tokenizer.model == translator.tokenizer.model
    texts = ["ein bier", "wir"]
    same = np.allclose(classifier.encode(texts), translator.encode(texts), atol=1e-5)
    assert same is freeze


@pytest.mark.prove
def test_it_starts_from_a_classifier_with_its_head(trained, run, tmp_path):
    folder, classifier = run
    changes = {"epochs": 1, "learning_rate_scale": 1e-9, "keep_best": 0, "average": 0}
    path = folder / "classifier.keras"
    tuned = trained(tmp_path / "run", changes, warm_start=path)
    texts = ["the film was good", "the film was not good"]
    expected = classifier.predict(texts).probabilities
    np.testing.assert_allclose(tuned.predict(texts).probabilities, expected, atol=1e-4)


def test_a_run_of_another_kind_is_not_resumed(run, recipe, parallel_text, tmp_path):
    sides = parallel_text["train.de"], parallel_text["train.en"]
    config = json.loads((run[0] / "run.json").read_text("utf-8"))
    (tmp_path / "run.json").write_text(json.dumps({**config, "finished": False}), "utf-8")
    with pytest.raises(FileExistsError, match="of another kind, classification instead of trans"):
        train(recipe, *sides, tmp_path)


@pytest.mark.parametrize(
    ("changes", "options", "said"),
    [
        ({"monitor": "bleu"}, {}, "`monitor` must be one of loss, accuracy"),
        ({"max_length_ratio": 2.0}, {}, "has no target: .* Received: max_length_ratio=2.0"),
        ({"noise": "join=0.1"}, {}, "among symbols, .* Received: noise='join=0.1'"),
        ({}, {"pooling": "max"}, "`pooling` must be one of mean, first"),
        ({}, {"freeze": True}, "`freeze` needs `warm_start`"),
    ],
)
def test_what_does_not_fit_a_classifier_is_refused(files, tmp_path, changes, options, said):
    recipe = Recipe.named("quick", **changes)
    with pytest.raises(ValueError, match=said):
        prepare_classifier(recipe, files["train"], tmp_path / "run", files["valid"], **options)
    assert not (tmp_path / "run").exists()


def test_the_recipe_for_real_text_trains_without_validation_text_too(files, tmp_path):
    """It chooses by accuracy, as the loss rises while more texts are right; see the guide."""
    recipe = Recipe.named("texts")
    assert recipe.monitor == "accuracy"
    assert prepare_classifier(recipe, files["train"], tmp_path / "run").recipe.monitor == "accuracy"
    with pytest.raises(ValueError, match=r"need validation text\. Received: patience=1"):
        prepare_classifier(
            dataclasses.replace(recipe, patience=1), files["train"], tmp_path / "run"
        )


def test_an_encoder_of_another_width_does_not_fit(files, run, tmp_path):
    options = {"warm_start": run[0] / "classifier.keras", "exact_sizes": {"d_model"}}
    with pytest.raises(ValueError, match="d_model=64 instead of 16"):
        prepare_classifier(Recipe.named("quick"), files["train"], tmp_path / "run", **options)


def report_on(train, valid, tokenizer, recipe):
    options = ClassificationOptions()
    task = ClassificationTask({"train": [str(train)], "valid": [*map(str, valid)]}, options)
    options = BatchOptions.for_training(recipe)
    training, *validation = (
        classification_windows(split, tokenizer, task.labels, options)
        for split in (task.training, *task.validation)
    )
    return labelled_report(task, tokenizer, TextOfRun(training, validation))


def test_the_report_counts_texts_and_warns(written, recipe, tokenizer):
    train = written(
        "a.tsv", "gut\twir\ngut\twir\nso\twir\nso\t\n" + "schlecht\tdas haus ist alt\n" * 20
    )
    found = report_on(train, [train], tokenizer, recipe)
    assert found.counts == {"gut": 2, "schlecht": 20, "so": 1}
    assert (found.blank, found.cut, found.duplicates, found.contradictions) == (1, 0, 20, 1)
    assert (found.validation, found.seen) == (24, 23)
    said = " ".join(found.warnings())
    assert "4.3 % of the texts have the label 'so'" not in said
    for part in ("repeat one with another label", "sort -u", "are training texts"):
        assert part in said
    short = dataclasses.replace(recipe, max_length=4)
    cut = report_on(train, [], tokenizer, short)
    assert cut.cut == 20 and "cut: raise --max-length" in str(cut)
