"""`kformer classify`: train, predict, evaluate."""

import json
import re

import numpy as np
import pytest
from sklearn import metrics

import kformer
from kformer import TextClassifier, TransformerEncoder
from support import toy
from support.reference import perturbed

LABELS = ["gut", "schlecht"]
EXAMPLES = [("gut" if i % 3 else "schlecht", text) for i, text in enumerate(toy.SOURCES[:40])]


@pytest.fixture(scope="module")
def classifier(toy_translator, tmp_path_factory):
    encoder = TransformerEncoder.from_transformer(toy_translator.transformer)
    path = tmp_path_factory.mktemp("classifier") / "classifier.keras"
    perturbed(TextClassifier(toy_translator.tokenizer, encoder, LABELS)).save(path)
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("labelled") / "test.tsv"
    path.write_text("".join(f"{label}\t{text}\n" for label, text in EXAMPLES), "utf-8")
    return path


def test_each_line_gets_a_label_and_its_probability(command, classifier):
    stdin = "\n".join([*toy.SOURCES[:9], ""]).encode() + b"\n"
    result = command("classify", "predict", classifier, stdin=stdin)
    assert (result.returncode, result.stderr) == (0, "")
    labels, probabilities = kformer.load(classifier).predict([*toy.SOURCES[:9], ""])
    lines = [f"{label}\t{row.max():.4f}" for label, row in zip(labels, probabilities, strict=True)]
    assert result.stdout.splitlines() == lines
    result = command("classify", "predict", classifier, "--format", "jsonl", stdin=stdin)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["line"] for one in found] == [*range(1, 11)]
    assert [one["label"] for one in found] == labels
    values = np.array([[one["probabilities"][label] for label in LABELS] for one in found])
    np.testing.assert_allclose(values, probabilities, atol=1e-6)
    assert [one["probability"] for one in found] == values.max(axis=1).tolist()


def test_the_scores_are_those_of_scikit_learn_and_the_picture_is_drawn(
    command, classifier, labelled, tmp_path
):
    picture = tmp_path / "matrix.png"
    result = command("classify", "evaluate", classifier, "--test", labelled, "--picture", picture)
    assert (result.returncode, result.stderr) == (0, "")
    expected, texts = zip(*EXAMPLES, strict=True)
    predicted = kformer.load(classifier).predict(texts).labels
    accuracy = 100 * metrics.accuracy_score(expected, predicted)
    f1 = 100 * metrics.f1_score(expected, predicted, average="macro", labels=LABELS)
    assert re.search(rf"accuracy +{accuracy:.2f}  percent of 40 texts", result.stdout)
    if {*predicted} == {*LABELS}:
        assert re.search(rf"macro F1 +{f1:.2f}", result.stdout)
    rows = re.findall(r"^(?:gut|schlecht) +(\d+) +(\d+)", result.stdout, re.MULTILINE)
    matrix = metrics.confusion_matrix(expected, predicted, labels=LABELS)
    np.testing.assert_array_equal(np.array(rows, int), matrix)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.prove
def test_training_ends_with_a_classifier_and_a_dry_run_with_nothing(command, labelled, tmp_path):
    output = tmp_path / "run"
    numbers = ["--recipe", "quick", "--vocab-size", 280, "--epochs", 1]
    arguments = ["classify", "train", "--train", labelled, "--output", output, *numbers]
    dry = command(*arguments, "--dry-run")
    assert dry.returncode == 0 and not output.exists()
    assert "40 texts; 40 are used" in dry.stdout and "2 labels: gut 65 %" in dry.stdout
    result = command(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"The classifier is {output / 'classifier.keras'}"
    assert "texts/s" in result.stdout
    assert kformer.load(output / "classifier.keras").labels == tuple(LABELS)


@pytest.mark.parametrize(
    ("content", "valid", "said"),
    [
        ("gut\tja\ngut\tnein\n", None, "only label is 'gut'"),
        ("gut\tja\nschlecht\tnein\n", "gutt\tja\n", "'gutt' in "),
        ("gut\tja\nschlecht\t\n", None, "where 'schlecht' has none"),
        ("gut ja\n", None, "where line 1 has no tab"),
    ],
)
def test_text_that_teaches_nothing_is_refused_in_a_line(refused, tmp_path, content, valid, said):
    train, output = tmp_path / "train.tsv", tmp_path / "run"
    train.write_text(content, "utf-8")
    more = []
    if valid:
        (tmp_path / "valid.tsv").write_text(valid, "utf-8")
        more = ["--valid", tmp_path / "valid.tsv"]
    line = refused("classify", "train", "--train", train, "--output", output, *more)
    assert said in line
    assert not output.exists()


def test_a_translator_gives_no_labels(refused, toy_keras, labelled):
    line = refused("classify", "evaluate", toy_keras, "--test", labelled)
    assert "must be able to classify" in line and line.endswith("which holds a Translator.")


def test_a_classifier_translates_nothing(refused, classifier):
    line = refused("translate", classifier, stdin=b"wir\n")
    assert "must be able to translate" in line and line.endswith("which holds a TextClassifier.")


def test_labels_that_it_never_learned_are_refused(refused, classifier, tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text("gut\tja\nmittel\tnein\n", "utf-8")
    line = refused("classify", "evaluate", classifier, "--test", path)
    assert "those of the classifier: gut, schlecht. Received: 'mittel'" in line
