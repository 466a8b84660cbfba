"""`kformer export` of a classifier: the same table, and one clear line for what it cannot do."""

import json

import pytest

import kformer
from kformer import TextEncoder
from support import toy

TEXTS = toy.SOURCES[:20]


@pytest.fixture
def saved(tiny_classifier, tmp_path):
    path = tmp_path / "classifier.keras"
    tiny_classifier.save(path)
    return path


@pytest.mark.prove
def test_it_is_checked_on_the_labelled_text_of_its_run(command, saved, tiny_classifier, tmp_path):
    labels = tiny_classifier.predict(TEXTS).labels
    labels[:5] = ["bad"] * 5
    valid = tmp_path / "valid.tsv"
    pairs = zip(labels, TEXTS, strict=True)
    valid.write_text("".join(f"{label}\t{text}\n" for label, text in pairs), "utf-8")
    recorded = {"task": "classification", "files": {"valid": [str(valid)]}, "options": {}}
    (tmp_path / "run.json").write_text(json.dumps(recorded))
    tflite, served = tmp_path / "c.tflite", tmp_path / "served"
    result = command(
        "export",
        saved,
        "--saved-model",
        served,
        "--tflite",
        tflite,
        "--licence",
        "CC0",
        "--max-source-length",
        toy.SHORT,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines() == [
        "Classifying 20 sentences in Python, to compare with ...",
        "Converting to a .tflite file, float32 ...",
        "Classifying 20 sentences with the .tflite file ...",
        "Writing the SavedModel ...",
        "Classifying 20 sentences with the SavedModel ...",
    ]
    head, *table, version, file = result.stdout.splitlines()
    assert head.split() == ["form", "MB", "accuracy", "%", "as", "Python"]
    found = tiny_classifier.predict(TEXTS).labels
    accuracy = sum(map(str.__eq__, found, labels)) / 20
    assert accuracy < 1
    assert [row.split()[0] for row in table] == ["Python", "SavedModel", ".tflite"]
    assert all(row.endswith(f"{100 * accuracy:.2f}  20 of 20") for row in table)
    assert (version, file) == (f"Written: {served}", f"Written: {tflite}")
    report = json.loads(tflite.with_name("c.tflite.json").read_text("utf-8"))
    assert (report["equal_to_python"], report["accuracy"]) == (20, accuracy)
    assert report["accuracy_of_python"] == accuracy and not {"bleu", "bleu_signature"} & {*report}
    assert [kformer.load(path).predict(TEXTS).labels for path in (served, tflite)] == [found, found]
    assert kformer.load(tflite).manifest["licence"] == "CC0"


@pytest.mark.parametrize(
    "options", [("--beam-size", 4), ("--length-penalty", 1), ("--web", "page")]
)
def test_it_has_neither_a_search_nor_a_web_page(refused, saved, tmp_path, options):
    message = refused("export", saved, "--tflite", tmp_path / "c.tflite", *options)
    assert "A classifier has neither" in message
    assert f"Received: {options[0]} with '{saved}'" in message


def test_held_out_text_must_be_given_if_the_run_recorded_none(refused, saved, tmp_path):
    message = refused("export", saved, "--tflite", tmp_path / "c.tflite")
    assert "give --check-source" in message


def test_a_reference_must_be_a_label_of_the_classifier(command, saved, written, tmp_path):
    source, labels = written("texts", "wir\nuns\n"), written("labels", "bad\nugly\n")
    checks = ("--check-source", source, "--check-reference", labels)
    result = command("export", saved, "--tflite", tmp_path / "c.tflite", *checks)
    assert result.returncode == 2 and result.stderr.endswith("Received: 'ugly'.\n")
    assert not (tmp_path / "c.tflite").exists()


def test_a_text_encoder_is_not_exported(refused, tiny_classifier, tmp_path):
    encoder = TextEncoder(tiny_classifier.tokenizer, tiny_classifier.classifier.encoder)
    encoder.save(tmp_path / "e.keras")
    message = refused("export", tmp_path / "e.keras", "--tflite", tmp_path / "e.tflite")
    assert message.endswith(f"Received: '{tmp_path / 'e.keras'}', which holds a text encoder.")
