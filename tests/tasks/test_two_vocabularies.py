"""A run with a vocabulary for each side: from text to a saved translator, and on from there."""

import dataclasses
import json

import numpy as np
import pytest

from kformer import Tokenizer, load
from kformer.training import train
from support.disturbances import PowerCut


@pytest.fixture(scope="module")
def recipe(tiny_recipe):
    numbers = {"vocab_size": 390, "target_vocab_size": 370, "epochs": 2}
    return dataclasses.replace(tiny_recipe, **numbers)


@pytest.fixture(scope="module")
def files(parallel_text):
    return list(parallel_text.values())[:2]


@pytest.fixture(scope="module")
def run(recipe, files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    train(recipe, *files, folder)
    return folder


@pytest.mark.prove
def test_each_side_is_written_in_its_own_vocabulary(run, files):
    translator = load(run / "translator.keras")
    assert translator.tokenizer.model == Tokenizer.train(files[0], 390).model
    assert translator.target_tokenizer.model == Tokenizer.train(files[1], 370).model
    assert len(translator.translate(["der hund schläft", ""])) == 2
    record = json.loads((run / "run.json").read_text("utf-8"))
    assert record["vocab_sizes"] == {"vocab_size": 390, "target_vocab_size": 370}


@pytest.mark.prove
def test_a_run_that_was_cut_short_ends_with_the_same_weights(run, recipe, files, tmp_path):
    with pytest.raises(ZeroDivisionError, match="power cut"):
        train(recipe, *files, tmp_path, callbacks=[PowerCut(epoch=1)])
    kept = {path.name for path in (tmp_path / "checkpoints").glob("*.model")}
    assert kept == {"tokenizer.model", "target_tokenizer.model"}
    resumed = train(recipe, *files, tmp_path)
    weights = load(run / "translator.keras").transformer.get_weights()
    for one, other in zip(weights, resumed.transformer.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.prove
def test_a_run_may_start_from_it_or_use_its_vocabularies(run, recipe, files, tmp_path):
    path = run / "translator.keras"
    recipe = dataclasses.replace(recipe, epochs=1, target_vocab_size=0)
    for name in ("warm_start", "tokenizer"):
        made = train(recipe, *files, tmp_path / name, **{name: path})
        first = load(path)
        assert made.tokenizer.model == first.tokenizer.model
        assert made.target_tokenizer.model == first.target_tokenizer.model
        options = json.loads((tmp_path / name / "run.json").read_text("utf-8"))["options"]
        assert len(options[name]) == 64
