"""Runs that learn several directions of translation in one model."""

import keras
import numpy as np
import pytest

import kformer
from kformer.text.vocabulary import with_languages
from kformer.training import Direction, train
from kformer.training.kinds.translation_learner import new_model, new_translator
from kformer.training.kinds.translation_task import prepare_translation
from support.disturbances import PowerCut
from support.training.same_run import read, weights_of


@pytest.fixture
def texts(parallel_text):
    """The arguments of a run of both directions by their names."""
    de, en, valid_de, valid_en = map(str, parallel_text.values())
    return {
        "directions": [f"de-en:{de}:{en}", f"en-de:{en}:{de}"],
        "valid_directions": [f"de-en:{valid_de}:{valid_en}", f"en-de:{valid_en}:{valid_de}"],
    }


def prepared(recipe, output, *files, **options):
    return prepare_translation(recipe, *(files or (None, None)), output, **options)


def test_both_directions_are_two_directions_of_the_same_files(
    texts, parallel_text, tiny_recipe, tmp_path
):
    de, en, valid_de, valid_en = parallel_text.values()
    short = prepare_translation(
        tiny_recipe, de, en, tmp_path / "a", valid_de, valid_en, both_directions="de-en"
    )
    long = prepared(tiny_recipe, tmp_path / "a", **texts)
    assert short.vocabularies == long.vocabularies
    assert short.config["files"] == {
        "source": [str(de)],
        "target": [str(en)],
        "valid_source": [str(valid_de)],
        "valid_target": [str(valid_en)],
    }
    assert long.config["options"]["directions"] == ["de-en", "en-de"]
    assert long.config["files"]["source"] == [str(de), str(en)]
    for run in (short, long):
        assert run.task.directions == ["de-en", "en-de"] == run.task.validation_names
        assert run.tokenizers[0].target_languages == {"en": ">>en<<", "de": ">>de<<"}
        assert run.config["pairs"] == 600
    size = long.vocabularies.sizes()["vocab_size"]
    assert long.tokenizers[0].language_ids == {"en": size - 2, "de": size - 1}


def test_one_target_language_needs_no_symbol(texts, tiny_recipe, tmp_path):
    run = prepared(tiny_recipe, tmp_path / "a", directions=texts["directions"][:1])
    assert not run.tokenizers[0].target_languages and run.task.target_language == "en"


@pytest.mark.prove
def test_a_run_of_two_directions_translates_into_both_and_resumes_exactly(
    texts, tiny_recipe, tmp_path
):
    whole = train(tiny_recipe, output=tmp_path / "whole", **texts)
    with pytest.raises(ZeroDivisionError):
        train(tiny_recipe, output=tmp_path / "run", **texts, callbacks=[PowerCut(1)])
    train(tiny_recipe, output=tmp_path / "run", **texts)
    np.testing.assert_equal(weights_of(tmp_path / "run"), weights_of(tmp_path / "whole"))
    history = read(tmp_path / "whole" / "history.json")
    for name in ("loss", "perplexity"):
        both = [history[f"val_{direction}_{name}"] for direction in ("de-en", "en-de")]
        np.testing.assert_allclose(np.mean(both, axis=0), history[f"val_{name}"])
    assert whole.target_languages == ("en", "de")
    assert whole.about["directions"] == ["de-en", "en-de"]
    assert whole.transformer.target_vocab_size is None
    for code, i in whole.tokenizer.language_ids.items():
        assert whole.into(code).source_rows(["haus"])[0][0] == i
    with pytest.raises(ValueError, match="one of the model's languages: en, de"):
        whole.translate(["haus"])


def test_a_direction_is_added_to_a_model_that_has_symbols(
    tokenizer, parallel_text, tiny_recipe, tmp_path
):
    languages = {"en": ">>en<<", "de": ">>de<<"}
    model = with_languages(tokenizer.model, languages)
    extended = kformer.Tokenizer(model, None, languages)
    old = new_translator(tiny_recipe, extended, directions=["de-en", "en-de"])
    old.save(tmp_path / "old.keras")
    text = Direction("de-fr", *[*parallel_text.values()][:2])
    run = prepared(
        tiny_recipe, tmp_path / "run", directions=[text], warm_start=tmp_path / "old.keras"
    )
    new = new_model(run, 1)
    assert new.target_languages == ("en", "de", "fr")
    assert new.about["directions"] == ["de-en", "en-de", "de-fr"]
    assert "target_language" not in new.about
    assert new.transformer.target_vocab_size is None
    before, after = (
        keras.ops.convert_to_numpy(each.transformer.source_embedding.table) for each in (old, new)
    )
    size = old.tokenizer.vocab_size
    assert new.tokenizer.language_ids["fr"] == size
    np.testing.assert_array_equal(after[:size], before)
    mean = before[[*old.tokenizer.language_ids.values()]].mean(axis=0)
    np.testing.assert_allclose(after[size], mean, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_language": "en"}, r"does not go with them\. Received: target_language='en'"),
        ({"columns": ["de", "en"]}, r"a column for each .*columns=\['de', 'en'\], directions="),
        ({"both_directions": "de-en"}, r"not as both\. .* both_directions='de-en', beside 2 of"),
        ({"valid_directions": None}, r"validated by direction.* 2 training and 0 validation"),
        ({"valid_directions": ["en-fr:{0}:{0}"]}, r"translates into: de, en\. .*='en-fr'"),
    ],
)
def test_directions_must_fit_together(
    options, message, texts, parallel_text, tiny_recipe, tmp_path
):
    file = parallel_text["valid.de"]
    valid = (file, file) if options == {"valid_directions": None} else ()
    if valid_directions := options.get("valid_directions"):
        options = {"valid_directions": [text.format(file) for text in valid_directions]}
    with pytest.raises(ValueError, match=message):
        prepare_translation(tiny_recipe, None, None, tmp_path / "a", *valid, **{**texts, **options})
