"""What the tests of pipelines share."""

from functools import partial

import pytest

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
def small_blocks(monkeypatch):
    """Has workers read files in blocks of 997 bytes."""
    from kformer.scale import line_blocks as blocks

    monkeypatch.setattr(blocks.blocks_of, "__defaults__", (997,))
