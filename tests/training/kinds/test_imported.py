"""A translator that others have trained is trained further."""

import dataclasses

import pytest

import kformer
from kformer.training import train
from support.pretrained import marian

WORDS = marian.vocabulary((">>deu<<", ">>fra<<"))


@pytest.fixture
def folder(tmp_path):
    network = marian.transformer(WORDS.pieces, num_layers=1)
    folder = marian.write_folder(tmp_path / "marian", WORDS, network)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n", "utf-8")
    return folder


@pytest.mark.prove
def test_vocabulary_and_language_are_kept(folder, parallel_text, tiny_recipe, tmp_path):
    other = kformer.from_marian(folder, "fra")
    other.save(tmp_path / "other.keras")
    files = [*parallel_text.values()][:2]
    recipe = dataclasses.replace(tiny_recipe, epochs=1)
    trained = train(recipe, *files, tmp_path / "run", warm_start=tmp_path / "other.keras")
    for translator in (trained, kformer.load(tmp_path / "run" / "translator.keras")):
        assert translator.tokenizer.model == other.tokenizer.model
        assert translator.tokenizer.prefix == ">>fra<<"
        assert translator.source_rows(["der hund"]) == other.source_rows(["der hund"])
        assert translator.about["licence"] == "mit"
    sources, targets = (path.read_text("utf-8").splitlines()[:50] for path in files)
    learned, before = (
        sum(one.log_probability for one in one.score(sources, targets)) for one in (trained, other)
    )
    assert learned > before


def test_one_language_must_be_chosen_before(folder, parallel_text, tiny_recipe, tmp_path):
    kformer.from_marian(folder).save(tmp_path / "several.keras")
    files = [*parallel_text.values()][:2]
    with pytest.raises(ValueError, match=r"one target language.*into deu, fra"):
        train(tiny_recipe, *files, tmp_path / "run", warm_start=tmp_path / "several.keras")
