"""What the model card of a published model tells goes into every form."""

import keras
import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from kformer.imports.readme_card import read_card
from support.pretrained import marian

CARD = """---
language:
- de
- no
tags:
- translation
license: cc-by-4.0
---

# opus-mt-de-no

## Citation Information

@misc{nobody,
  title = {Nothing},
}

## More
"""
ABOUT = {
    "licence": "cc-by-4.0",
    "languages": ["de", "no"],
    "citation": "@misc{nobody,\n  title = {Nothing},\n}",
}


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (CARD, ABOUT),
        ("---\nlanguage: en\nlicense: [mit, apache-2.0]\n---\n", {"licence": "mit, apache-2.0"}),
        ("---\n---\n# How to cite\nSo.", {"citation": "So."}),
        ("# A model\n---\nlicense: mit\n---\n", {}),
        ("", {}),
    ],
)
def test_head_and_citation_are_read(text, about, tmp_path):
    (tmp_path / "README.md").write_text(text, "utf-8")
    found = read_card(tmp_path)
    assert found == about | ({"languages": ["en"]} if "language: en" in text else {})


def test_a_folder_may_lack_a_card(tmp_path):
    assert read_card(tmp_path) == {}


@pytest.mark.parametrize("head", ["a: [", "- a", "a: &a [b]\nlanguage: *a", "a: " + "[" * 9999])
def test_a_head_that_is_no_yaml_is_refused(head, tmp_path):
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\n", "utf-8")
    with pytest.raises(ValueError, match=r"YAML of names.*README\.md"):
        read_card(tmp_path)


@pytest.mark.prove
def test_it_is_in_every_form_and_shown(tmp_path, command):
    words = marian.vocabulary((">>deu<<", ">>fra<<"))
    keras.utils.set_random_seed(1)
    network = marian.transformer(words.pieces, num_layers=1)
    folder = marian.write_folder(tmp_path / "a", words, network, max_position_embeddings=16)
    (folder / "README.md").write_text(CARD, "utf-8")
    path = tmp_path / "a.keras"
    kformer.from_marian(folder).save(path)
    translator = kformer.load(path)
    about = {"single_sentences": True, "reads_capitals": False, "scripts": ["Latin"], **ABOUT}
    assert translator.about == translator.copy().about == about
    assert translator.into("fra").about == {**about, "target_language": "fra"}
    version = export_saved_model(translator, tmp_path / "served")
    file = export_tflite(translator, tmp_path / "a.tflite", about={"licence": "another"})
    citation = "@misc{nobody, title = {Nothing}, }"
    for form in (path, version, file):
        shown = command("inspect", form).stdout
        licence = "another" if form == file else "cc-by-4.0"
        for line in (f"licence     {licence}", f"citation    {citation}", "languages   de, no"):
            assert f"{line}\n" in shown
        assert "into        one of deu, fra\n" in shown
