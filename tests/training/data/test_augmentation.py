"""Subword regularization and byte-fallback augmentation: the same text, other ids."""

import itertools

import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.phrasebook import phrasebook
from kformer.text import vocabulary
from kformer.training.data.respelling import (
    ByteFallbackAugmentation,
    SubwordRegularization,
    best_splits,
)

SENTENCES = [pair.source for pair in phrasebook().train[:2000]]
TEXTS = ["ich möchte ein bier", "", "die müden hunde , bitte 🙂"]

both = pytest.mark.parametrize("augmentation", [SubwordRegularization, ByteFallbackAugmentation])


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("augmentation") / "text"
    path.write_text("\n".join(SENTENCES), "utf-8")
    return Tokenizer.train(path, vocab_size=600)


@pytest.fixture(scope="module")
def library(tokenizer):
    return sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)


def augmented(augmentation, tokenizer, texts, rate, number=0, seed=0):
    rows = tokenizer.tokenize(texts)
    return augmentation(tokenizer, rate)(rows, tf.constant([seed, number], tf.int64))


def said(tokenizer, rows):
    return [text.decode() for text in tokenizer.detokenize(rows).numpy()]


words = st.sampled_from(sorted({word for line in SENTENCES for word in line.split()}))
strange = st.text(st.sampled_from("aeinß ▁🙂\u0301ﬁ<0x41>"), max_size=7)


@both
@given(
    text=st.lists(words | strange, max_size=11).map(" ".join),
    rate=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    number=st.integers(0, 5),
)
def test_the_text_stays_the_same(tokenizer, augmentation, text, rate, number):
    rows = augmented(augmentation, tokenizer, [text], rate, number)
    assert said(tokenizer, rows) == said(tokenizer, tokenizer.tokenize([text]))


@both
def test_lines_and_indentation_stay_the_same(tmp_path, augmentation):
    text = "def f(x):\n    if x:\n        return x\n    print(x)\n"
    (tmp_path / "text").write_text(text * 50, "utf-8")
    model = vocabulary.learn(tmp_path / "text", 400, at_most=True, line_breaks=True)
    tokenizer = Tokenizer(model)
    assert any(piece.startswith("▁▁") for piece in tokenizer.pieces(range(tokenizer.vocab_size)))
    rows = augmented(augmentation, tokenizer, [text], 1.0)
    assert said(tokenizer, rows) == [text]


@both
def test_a_rate_of_zero_changes_nothing(tokenizer, augmentation):
    rows = augmented(augmentation, tokenizer, TEXTS, 0.0)
    assert rows.to_list() == tokenizer.tokenize(TEXTS).to_list()


@both
def test_the_share_of_changed_pieces_is_about_the_rate(tokenizer, augmentation):
    before, longer, longest = (
        augmented(augmentation, tokenizer, SENTENCES, rate).flat_values.shape[0]
        for rate in (0.0, 0.2, 1.0)
    )
    assert 0.17 < (longer - before) / (longest - before) < 0.23


@both
def test_the_same_seed_changes_the_same_pieces(tokenizer, augmentation):
    def rows(number, seed=0):
        return augmented(augmentation, tokenizer, TEXTS, 0.3, number, seed).to_list()

    assert rows(5) == rows(5)
    assert len({str(rows(number, seed)) for number in range(5) for seed in (0, 1)}) > 5


def test_both_run_in_a_dataset_one_after_the_other(tokenizer):
    splitting = SubwordRegularization(tokenizer, 0.5)
    spelling = ByteFallbackAugmentation(tokenizer, 0.5)
    texts = tf.data.Dataset.from_tensor_slices(TEXTS).batch(3).enumerate()
    rows = texts.map(lambda n, text: spelling(splitting(tokenizer.tokenize(text), [n, 0]), [n, 1]))
    assert said(tokenizer, next(iter(rows))) == TEXTS


# Byte-fallback augmentation


def test_a_rate_of_one_spells_all_but_the_spaces_in_bytes(tokenizer):
    for row in augmented(ByteFallbackAugmentation, tokenizer, TEXTS, 1.0).to_list():
        assert all(piece.startswith("<0x") or piece == "▁" for piece in tokenizer.pieces(row))


def test_the_spelling_is_that_of_the_tokenizers_byte_fallback(tokenizer):
    spelled = augmented(ByteFallbackAugmentation, tokenizer, TEXTS, 1.0).to_list()
    assert tokenizer.pieces(spelled[0])[:4] == ["▁", "<0x69>", "<0x63>", "<0x68>"]
    unknown = tokenizer.pieces(tokenizer.tokenize(["ich 🙂"]).to_list()[0])
    assert unknown[-5:] == ["▁", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]


# Subword regularization


def all_splits(text):
    """Every way to cut a text into two or more parts."""
    places = range(1, len(text))
    for count in range(1, len(text)):
        for cuts in itertools.combinations(places, count):
            bounds = [0, *cuts, len(text)]
            yield [text[a:b] for a, b in itertools.pairwise(bounds)]


def test_a_split_is_the_best_of_all(tokenizer, library):
    """Every split of the shorter pieces, by the library's scores."""
    scores = {
        library.IdToPiece(i): library.GetScore(i)
        for i in range(600)
        if not (library.IsByte(i) or library.IsControl(i) or library.IsUnknown(i))
    }
    found = 0
    for i, parts in enumerate(tokenizer.pieces(row) for row in best_splits(tokenizer)):
        piece = library.IdToPiece(i)
        if piece not in scores or len(piece) > 9:
            continue
        ways = [way for way in all_splits(piece) if all(part in scores for part in way)]
        if not ways:
            assert parts == [piece]
            continue
        found += 1
        best = max(sum(scores[part] for part in way) for way in ways)
        assert parts in ways
        assert sum(scores[part] for part in parts) == pytest.approx(best, abs=1e-4)
    assert found > 200


def test_a_split_is_the_second_best_segmentation_of_sentencepiece(tokenizer, library):
    splits = best_splits(tokenizer)
    heads = [i for i in range(600) if len(library.IdToPiece(i)) > 2]
    compared = 0
    for i in (i for i in heads if library.IdToPiece(i).startswith("▁")):
        readings = library.NBestEncodeAsIds(library.IdToPiece(i).removeprefix("▁"), 2)
        if readings[0] == [i]:
            assert splits[i] == readings[1]
            compared += 1
    assert compared > 50


def test_a_rate_of_one_splits_every_piece_that_has_a_split(tokenizer):
    splits = best_splits(tokenizer)
    rows = tokenizer.tokenize(SENTENCES[:50])
    expected = [[part for i in row for part in splits[i]] for row in rows.to_list()]
    assert augmented(SubwordRegularization, tokenizer, SENTENCES[:50], 1.0).to_list() == expected
    assert sum(map(len, expected)) > 1.5 * rows.flat_values.shape[0]


def test_letters_bytes_and_special_ids_do_not_change(tokenizer, library):
    splits = best_splits(tokenizer)
    for i in range(600):
        special = library.IsByte(i) or library.IsControl(i) or library.IsUnknown(i)
        if special or len(library.IdToPiece(i)) == 1:
            assert splits[i] == [i]


def test_user_defined_pieces_are_neither_split_nor_parts_of_a_split(tmp_path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(tmp_path / "own"),
        vocab_size=600,
        byte_fallback=True,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        user_defined_symbols=["ein", "hund"],
        minloglevel=2,
    )
    tokenizer = Tokenizer.load(tmp_path / "own.model")
    own = {i for i in range(600) if tokenizer.pieces([i])[0] in ("ein", "hund")}
    splits = best_splits(tokenizer)
    assert all(splits[i] == [i] for i in own) and len(own) == 2
    assert not any(own & set(row) for i, row in enumerate(splits) if i not in own)
