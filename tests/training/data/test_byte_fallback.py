"""Byte-fallback augmentation: the same text, other ids."""

import pytest
import tensorflow as tf

from kformer import Tokenizer
from kformer.phrasebook import phrasebook
from kformer.training.data.byte_fallback import ByteFallbackAugmentation

TEXTS = ["ich möchte ein bier", "", "die müden hunde , bitte 🙂"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("spelling") / "text"
    path.write_text("\n".join(pair.source for pair in phrasebook().train[:2000]), "utf-8")
    return Tokenizer.train(path, vocab_size=400)


def spelled(tokenizer, rate, number=0, seed=0):
    rows = tokenizer.tokenize(TEXTS)
    return ByteFallbackAugmentation(tokenizer, rate)(rows, tf.constant([seed, number], tf.int64))


def is_byte(piece):
    return piece.startswith("<0x")


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
def test_the_text_stays_the_same(tokenizer, rate):
    for number in range(11):
        rows = spelled(tokenizer, rate, number)
        assert [text.decode() for text in tokenizer.detokenize(rows).numpy()] == TEXTS


def test_a_rate_of_zero_changes_nothing(tokenizer):
    assert spelled(tokenizer, 0.0).to_list() == tokenizer.tokenize(TEXTS).to_list()


def test_a_rate_of_one_spells_all_but_the_spaces_in_bytes(tokenizer):
    for row in spelled(tokenizer, 1.0).to_list():
        assert all(is_byte(piece) or piece == "▁" for piece in tokenizer.pieces(row))


def test_the_spelling_is_that_of_the_tokenizers_byte_fallback(tokenizer):
    row = tokenizer.pieces(spelled(tokenizer, 1.0).to_list()[0])
    assert row[:4] == ["▁", "<0x69>", "<0x63>", "<0x68>"]
    unknown = tokenizer.pieces(tokenizer.tokenize(["ich 🙂"]).to_list()[0])
    assert unknown[-5:] == ["▁", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]


def test_the_share_of_spelled_pieces_is_about_the_rate(tokenizer):
    rows = tokenizer.tokenize([pair.source for pair in phrasebook().train[:2000]])
    longer = ByteFallbackAugmentation(tokenizer, 0.2)(rows, tf.constant([0, 0], tf.int64))
    every = ByteFallbackAugmentation(tokenizer, 1.0)(rows, tf.constant([0, 0], tf.int64))
    grown = longer.flat_values.shape[0] - rows.flat_values.shape[0]
    at_most = every.flat_values.shape[0] - rows.flat_values.shape[0]
    assert 0.17 < grown / at_most < 0.23


def test_the_same_seed_spells_the_same_pieces(tokenizer):
    assert spelled(tokenizer, 0.3, 5).to_list() == spelled(tokenizer, 0.3, 5).to_list()
    choices = {str(spelled(tokenizer, 0.3, n, seed).to_list()) for n in range(5) for seed in (0, 1)}
    assert len(choices) > 5
