"""The size of a text, which is counted as far as the pace depends on it."""

import pytest
import sentencepiece

from kformer.training import Recipe
from kformer.training.kinds.language_task import prepare_language_model
from kformer.training.kinds.translation_task import prepare_translation
from kformer.training.run import text_size
from kformer.training.run.text_size import ids_of_pairs, ids_of_texts
from support import toy
from support.training import pairs


@pytest.fixture
def files(tmp_path):
    """Two corpora: source and target of 50 lines, and of 30."""
    lines = list(zip(toy.SOURCES, toy.TARGETS, strict=True))
    parts = pairs.write(tmp_path, lines[:50], "a"), pairs.write(tmp_path, lines[50:], "b")
    return [*zip(*parts, strict=True)]


@pytest.fixture
def model(files, tmp_path):
    recipe = Recipe.named("quick", vocab_size=290)
    return prepare_translation(recipe, *map(list, files), tmp_path / "run").vocabularies.source


def length(model, text):
    return len(sentencepiece.SentencePieceProcessor(model_proto=model).encode(text)) + 1


def test_pairs_count_by_their_longer_side_as_often_as_they_are_read(files, model):
    longer = [
        max(length(model, source), length(model, target))
        for source, target in zip(toy.SOURCES, toy.TARGETS, strict=True)
    ]
    counted = ids_of_pairs(*files, (model, model), [2.5, 1])
    assert counted == round(2.5 * sum(longer[:50]) + sum(longer[50:]))


def test_counting_ends_where_the_text_is_large(files, model, monkeypatch):
    monkeypatch.setattr(text_size, "LARGE_TEXT", 70)

    def texts():
        yield from toy.SOURCES[:9]
        raise AssertionError("The text should not be read further.")

    assert ids_of_texts(texts(), model) == 70
    assert ids_of_pairs(*files, (model, model), [1, 1]) == 70


def test_a_run_counts_its_corpora_by_their_weights(files, tmp_path):
    recipe = Recipe.named("tiny", vocab_size=290)
    even, weighted = (
        prepare_translation(recipe, *map(list, files), tmp_path / "run", weights=weights)
        for weights in (None, [40.0, 1.0])
    )
    assert even.recipe.epochs > weighted.recipe.epochs


def test_a_language_model_by_an_open_recipe_gets_a_pace_for_its_text(files, tmp_path):
    recipe = Recipe.named("tiny", vocab_size=280)
    prepared = prepare_language_model(recipe, list(files[0]), tmp_path / "run")
    assert prepared.recipe.epochs > 20 and prepared.recipe.tokens_per_batch < 3072
