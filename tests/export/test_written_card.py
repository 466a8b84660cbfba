"""The model card of an export: metadata for the hub, and the facts of run, check and licence."""

import hashlib
import json

import pytest
import yaml

from kformer.export.model_card import model_card, size_facts
from kformer.training import training_facts
from support import toy

FACTS = {
    "kind": "translator",
    "kformer": "1.2.3",
    "beam_size": 4,
    "length_penalty": 0.6,
    "num_layers": 3,
    "d_model": 128,
    "parameters": 1_234_567,
    "max_source_length": 61,
    "bytes": 7_654_321,
}
CHECKED = {"sentences": 50, "equal": 47, "ties": 3, "bleu": 31.26, "bleu_of_python": 31.5}


def parts_of(card):
    """Returns the metadata of a card, and its sections by heading."""
    empty, front, text = card.split("---\n", 2)
    title, *sections = text.split("\n## ")
    assert empty == "" and title.startswith("\n# ")
    return yaml.safe_load(front), dict(section.split("\n\n", 1) for section in sections)


@pytest.mark.parametrize(
    ("changes", "front"),
    [
        ({"source_language": "de", "target_language": "en"}, {"language": ["de", "en"]}),
        ({"source_language": "no", "target_language": "sv"}, {"language": ["no", "sv"]}),
        (
            {"directions": ["de-en", "fr-en", "en-de"], "target_languages": {"en": 4, "de": 5}},
            {"language": ["de", "fr", "en"]},
        ),
        ({"licence": "CC BY 4.0"}, {"license": "cc-by-4.0"}),
        ({"licence": "Apache-2.0"}, {"license": "apache-2.0"}),
        ({"licence": "Ask us"}, {"license": "other", "license_name": "ask-us"}),
        ({"checked": CHECKED}, {"metrics": ["bleu"]}),
    ],
)
def test_the_metadata_has_what_is_known_by_the_names_of_the_hub(changes, front):
    found, _ = parts_of(model_card("SavedModel", {**FACTS, **changes}))
    known = {"library_name": "kformer", "pipeline_tag": "translation"}
    assert found == known | front


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        ("classifier", "text-classification"),
        ("tagger", "token-classification"),
        ("language model", "text-generation"),
    ],
)
def test_every_kind_has_the_hubs_name_of_its_task(kind, task):
    front, _ = parts_of(model_card(".tflite", {**FACTS, "kind": kind}))
    assert front["pipeline_tag"] == task


def test_an_export_that_knows_nothing_says_so():
    _, sections = parts_of(model_card("SavedModel", FACTS))
    assert "does not know what the model was trained on" in sections["Training"]
    assert "was not checked" in sections["Scores"]
    assert "No licence is recorded" in sections["Licence"]


def test_scores_are_those_of_the_check_and_limits_those_of_the_export():
    facts = {**FACTS, "checked": CHECKED, "precision": "int8", "quality_estimate": {}}
    _, sections = parts_of(model_card("SavedModel", facts))
    assert "| Python | 31.50 |\n| SavedModel | 31.26 |" in sections["Scores"]
    assert "Of 50 held-out texts, 47 were answered as in Python." in sections["Scores"]
    limits = sections["Limits"]
    assert "61 ids" in limits and "rounded (int8)" in limits and "`unsure`" in limits
    _, sections = parts_of(model_card("SavedModel", FACTS))
    assert "rounded" not in sections["Limits"] and "unsure" not in sections["Limits"]


def test_sizes_are_those_of_the_network(tiny_classifier, toy_translator):
    for model, encoder in (
        (tiny_classifier, tiny_classifier.network.encoder),
        (toy_translator, toy_translator.transformer),
    ):
        sizes = size_facts(model)
        assert sizes["parameters"] == sum(weight.numpy().size for weight in model.network.weights)
        assert sizes["d_model"] == encoder.d_model


def test_facts_of_a_run_name_files_without_folders_and_the_epoch_that_was_kept(toy_run):
    facts = training_facts(toy_run.folder)
    [source] = facts["files"]["source"]
    content = (toy_run.folder.parent / "train.de").read_bytes()
    assert source == {
        "name": "train.de",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    assert {*facts["files"]} == {"source", "target", "valid_source", "valid_target"}
    assert facts["pairs"] == content.count(b"\n")
    history = json.loads((toy_run.folder / "history.json").read_text())
    assert facts["best"]["val_loss"] == min(history["val_loss"])
    at = history["epoch"].index(facts["best"]["epoch"])
    assert facts["best"]["val_accuracy"] == history["val_accuracy"][at]
    assert (
        facts["recipe"]["d_model"]
        == json.loads((toy_run.folder / "run.json").read_text())["recipe"]["d_model"]
    )


def test_a_folder_without_a_run_has_no_facts(tmp_path):
    assert training_facts(tmp_path) is None


def test_kformer_export_writes_a_card_for_each_form(toy_run, toy_exports):
    folder = toy_run.folder.parent
    checksum = hashlib.sha256((folder / "train.en").read_bytes()).hexdigest()
    reports = {
        folder / "served/1/assets.extra/MODEL_CARD.md": "served/1/assets.extra/kformer.json",
        folder / "toy.tflite.md": "toy.tflite.json",
    }
    for path, name in reports.items():
        card, report = path.read_text("utf-8"), json.loads((folder / name).read_text("utf-8"))
        front, sections = parts_of(card)
        assert front["language"] == ["de", "en"]
        assert (front["license"], front["license_name"]) == ("other", "cc0")
        assert checksum in sections["Training"] and "`train.en`" in sections["Training"]
        assert str(folder) not in card
        bleu = report.get("checked", report)["bleu"]
        assert f"| {bleu:.2f} |" in sections["Scores"]
        held_out = len(toy.SOURCES[toy.HELD_OUT])
        assert f"Of {held_out} held-out texts" in sections["Scores"]
        assert sections["Licence"].startswith("CC0") and "Nobody (2026)" in sections["Citation"]
    readme = (folder / "served/README.md").read_text("utf-8")
    assert "(1/assets.extra/MODEL_CARD.md)" in readme
