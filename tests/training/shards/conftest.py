"""What the tests of shards share."""

from functools import partial

import pytest

from kformer.training import PreparationOptions, prepare_shards
from kformer.training.preparation import shards_writer as prepare
from support.training import pairs


@pytest.fixture
def write(tmp_path):
    """A function that writes pairs as two files and returns their paths."""
    return partial(pairs.write, tmp_path)


@pytest.fixture
def model(tokenizer, tmp_path):
    """The path of a SentencePiece model of 400 ids."""
    tokenizer.save(tmp_path / "given.model")
    return tmp_path / "given.model"


@pytest.fixture
def small_shards(monkeypatch):
    """Has shards hold some 30 pairs instead of half a million."""
    monkeypatch.setattr(prepare, "PAIRS_PER_SHARD", 30)


@pytest.fixture
def shards(write, model, small_shards, tmp_path):
    """A function that writes pairs as shards, all but blank ones, and returns their folder."""

    def prepared(pairs, name="shards"):
        options = PreparationOptions(min_letters=0, max_length_ratio=0, keep_identical=True)
        prepare_shards(tmp_path / name, *write(pairs, name), tokenizer=model, options=options)
        return tmp_path / name

    return prepared
