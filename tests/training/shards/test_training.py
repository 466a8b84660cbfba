"""Whole runs on shards."""

import dataclasses

import pytest

from kformer.training import PreparationOptions, prepare_shards, train
from kformer.training.kinds.translation_task import prepare_translation
from kformer.training.run.run_config import difference
from support.disturbances import PowerCut
from support.training.same_run import assert_same_run, read


@pytest.fixture(scope="module")
def prepared(parallel_text, tokenizer, made_once):
    """A folder of shards of the training text."""

    def write(folder):
        tokenizer.save(folder / "given.model")
        files = parallel_text["train.de"], parallel_text["train.en"]
        options = PreparationOptions(min_letters=0, max_length_ratio=0)
        prepare_shards(folder / "s", *files, tokenizer=folder / "given.model", options=options)
        return folder / "s"

    return made_once("prepared_shards", write)


@pytest.fixture
def arguments(prepared, parallel_text, tmp_path):
    return {
        "shards": prepared,
        "output": tmp_path / "run",
        "valid_source": parallel_text["valid.de"],
        "valid_target": parallel_text["valid.en"],
    }


@pytest.mark.prove
def test_a_run_that_was_broken_off_ends_as_an_uninterrupted_one(arguments, tiny_recipe, tmp_path):
    train(tiny_recipe, **arguments)
    cut = {**arguments, "output": tmp_path / "cut"}
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            train(tiny_recipe, **cut, callbacks=[PowerCutAtBatch(3)], checkpoint_seconds=0)
    train(tiny_recipe, **cut)
    assert_same_run(tmp_path / "cut", tmp_path / "run")
    config = read(tmp_path / "run" / "run.json")
    assert config["files"]["shards"] == [str(arguments["shards"] / "manifest.json")]
    assert config["pairs"] > 250


class PowerCutAtBatch(PowerCut):
    """Breaks off after some batches."""

    def __init__(self, batch):
        super().__init__(epoch=None)
        self.batch = batch

    def on_train_batch_end(self, batch, logs=None):
        if batch == self.batch:
            raise ZeroDivisionError("power cut")


def test_a_run_resumes_without_the_same_shards(
    parallel_text, tokenizer, tiny_recipe, small_shards, tmp_path
):
    tokenizer.save(tmp_path / "given.model")
    files = parallel_text["train.de"], parallel_text["train.en"]
    shards = tmp_path / "shards"
    prepare_shards(shards, *files, tokenizer=tmp_path / "given.model")
    given = {"shards": shards, "output": tmp_path / "run", "skip_damaged": True}
    whole = prepare_translation(tiny_recipe, None, None, **given).config
    (shards / "00001.ids.npy").unlink()
    with pytest.warns(UserWarning, match="is missing"):
        found = prepare_translation(tiny_recipe, None, None, **given).config
    assert whole["options"]["left_out"] == []
    assert difference(whole, found) == f"with left_out=[] instead of ['{shards / '00001'}']"


def test_the_report_counts_what_is_trained_on(arguments, tiny_recipe):
    prepared = prepare_translation(
        dataclasses.replace(tiny_recipe, max_length=20), None, None, **arguments
    )
    report = prepared.task.report(prepared)
    pairs = prepared.config["pairs"]
    assert f"300 pairs were read, {pairs} are in 1 shard, with" in report
    assert f"{pairs} pairs; " in report and "too long, 0 of unlike lengths." in report
    assert "Validation: 40 pairs." in report
    assert not arguments["output"].exists()


def test_noise_needs_text(arguments, tiny_recipe):
    recipe = dataclasses.replace(tiny_recipe, noise="robust")
    with pytest.raises(ValueError, match=r"shards hold ids.* Received: noise='robust' with shards"):
        prepare_translation(recipe, None, None, **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "a.de", "target": "a.en"}, "on shards or on text, not on both"),
        ({"pairs": [("a", "b")]}, "on shards or on text, not on both"),
        ({"tokenizer": "other.model"}, r"prepare them with --tokenizer. Received: '.*other.model'"),
        ({"weights": [1.0, 2.0]}, r"Received: weights=\[1.0, 2.0\] for 1 pairs of files"),
        ({"shards": "none"}, r"a folder that `kformer prepare` wrote.*without 'manifest.json'"),
    ],
)
def test_what_does_not_fit_shards_is_refused(
    arguments, tiny_recipe, parallel_text, tmp_path, changes, message
):
    if "tokenizer" in changes:
        from kformer import Tokenizer

        Tokenizer.train(parallel_text["train.de"], 300).save(tmp_path / "other.model")
        changes = {"tokenizer": tmp_path / "other.model"}
    given = {"source": None, "target": None, **arguments, **changes}
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        prepare_translation(tiny_recipe, **given)


def test_where_the_recipe_leaves_no_pair_the_counts_say_so(arguments, tiny_recipe):
    with pytest.raises(
        ValueError, match=r"\d+ are too long, 0 are of unlike lengths. Received: max"
    ):
        prepare_translation(dataclasses.replace(tiny_recipe, max_length=2), None, None, **arguments)
