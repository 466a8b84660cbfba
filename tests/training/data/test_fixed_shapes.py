"""Batches of a few shapes, for backends that compile each shape."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer.training import (
    Recipe,
    check_corpus,
    classification_dataset,
    language_dataset,
    translation_dataset,
)
from kformer.training.data.batching import FixedShapes, fixed_lengths
from kformer.training.kinds.translation_learner import compiled_transformer
from support.training.pairs import WORDS, expected_rows, many_pairs, rows_of, sentence
from support.training.pairs import write as write_pairs


def full(batches):
    """The batches without their rows of padding, which must be the last ones."""
    for (source, target_in), target in batches:
        real = np.any(source.numpy() != 0, axis=1)
        number = int(real.sum())
        assert number and not real[number:].any()
        for side in (target_in, target):
            assert not side.numpy()[number:].any()
        yield (source[:number], target_in[:number]), target[:number]


@pytest.mark.prove
@settings(max_examples=settings.default.max_examples // 8)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60),
    max_length=st.integers(8, 40),
    spare=st.integers(0, 200),
)
def test_every_pair_is_in_an_epoch_once_in_one_of_the_shapes(
    tmp_path_factory, tokenizer, lengths, max_length, spare
):
    pairs = [("bier", "ein bier"), *((sentence(s), sentence(t)) for s, t in lengths)]
    paths = write_pairs(tmp_path_factory.mktemp("text"), pairs)
    sizes = {"tokens_per_batch": max_length + spare, "max_length": max_length}
    dataset = translation_dataset(*paths, tokenizer, **sizes, fixed_shapes=True)
    shapes = FixedShapes(max_length + spare, list(fixed_lengths(max_length))).shapes
    for _ in range(2):
        batches = list(dataset)
        assert len(batches) == dataset.cardinality()
        assert Counter(rows_of(full(batches), tokenizer)) == expected_rows(
            pairs, tokenizer, max_length
        )
        for (source, target_in), target in batches:
            assert source.shape == target_in.shape == target.shape
            assert tuple(source.shape) in shapes


@given(st.integers(2, 2000))
def test_few_lengths_reach_the_maximum_in_multiples_of_four(max_length):
    lengths = list(fixed_lengths(max_length))
    assert lengths == sorted({*lengths})
    assert all(length % 4 == 0 for length in lengths)
    assert max_length <= lengths[-1] < max_length + 4
    assert len(lengths) <= 4 * np.log2(max(8, max_length))
    for shorter, longer in pairwise(lengths):
        assert longer <= max(shorter + 4, 1.25 * shorter)


@pytest.mark.prove
def test_other_spellings_have_the_same_shapes_and_mean_the_same(write, tokenizer):
    """Where another spelling does not fit, the usual one stays."""
    pairs = many_pairs(400)
    dataset = translation_dataset(
        *write(pairs),
        tokenizer,
        tokens_per_batch=300,
        max_length=60,
        piece_splitting=0.3,
        byte_spelling=0.02,
        fixed_shapes=True,
    )
    batches = list(dataset)
    assert len({tuple(target.shape) for _, target in batches}) <= len([*fixed_lengths(110)])
    rows = rows_of(full(batches), tokenizer)
    usual = expected_rows(pairs, tokenizer, 60)
    assert len(rows) == usual.total()
    assert len({*rows} - {*usual}) > len(rows) / 3
    decode = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model).decode
    read, written = (
        Counter(tuple(decode([*side[:-1]]) for side in row) for row in some)
        for some in (rows, usual.elements())
    )
    assert read == written


@pytest.mark.prove
def test_the_report_counts_the_batches_the_shapes_and_the_padding(write, tokenizer):
    words = [random.choices(WORDS, k=random.randint(1, 20)) for _ in range(800)]
    pairs = [(" ".join(line), " ".join(["bier", *line[random.randint(0, 1) :]])) for line in words]
    files, sizes = write(pairs), {"tokens_per_batch": 512, "max_length": 80, "fixed_shapes": True}
    report = check_corpus(*files, tokenizer, **sizes)
    batches = list(translation_dataset(*files, tokenizer, **sizes))
    assert report.batches == len(batches)
    assert report.shapes == len({tuple(target.shape) for _, target in batches})
    ids = [side.numpy() for (source, _), target in batches for side in (source, target)]
    padding = 1 - sum(map(np.count_nonzero, ids)) / sum(map(np.size, ids))
    assert report.padding == pytest.approx(padding)
    line = f"Batches have {report.shapes} shapes, each compiled once; {100 * padding:.0f} % of"
    assert line in str(report)


@pytest.mark.prove
def test_rows_of_padding_change_neither_the_loss_nor_the_metrics(write, tokenizer):
    recipe = Recipe.named("quick", vocab_size=tokenizer.vocab_size, d_model=16, d_ff=24)
    model = compiled_transformer(recipe)
    dataset = translation_dataset(
        *write(many_pairs(30)), tokenizer, tokens_per_batch=256, max_length=40, fixed_shapes=True
    )
    batches = list(dataset)
    filled = 0
    for batch, real in zip(batches, full(batches), strict=True):
        filled += batch[1].shape[0] - real[1].shape[0]
        scores = []
        for one in (batch, real):
            model.reset_metrics()
            scores.append(model.test_on_batch(*one, return_dict=True))
        assert scores[0] == pytest.approx(scores[1], rel=1e-5)
    assert filled


@pytest.mark.prove
def test_a_text_of_padding_has_the_label_of_none(tmp_path, tokenizer):
    file = tmp_path / "texts.tsv"
    file.write_text("".join(f"{'ab'[i % 2]}\t{sentence(i % 7 + 1)}\n" for i in range(33)), "utf-8")
    batches = classification_dataset(
        file, tokenizer, ["a", "b"], tokens_per_batch=128, max_length=32, fixed_shapes=True
    )
    counted = Counter()
    for source, labels in batches:
        assert source.shape[0] == labels.shape[0]
        real = np.any(source.numpy() != 0, axis=1)
        np.testing.assert_array_equal(labels.numpy() == -1, ~real)
        counted.update(labels.numpy()[real].tolist())
    assert counted == {0: 17, 1: 16}


@pytest.mark.prove
def test_packed_rows_have_one_shape(tmp_path, tokenizer):
    file = tmp_path / "text.txt"
    file.write_text("".join(f"{sentence(i % 9 + 1)}\n" for i in range(100)), "utf-8")
    sizes = {"tokens_per_batch": 200, "max_length": 24, "shuffle": False}
    fixed, free = (
        list(language_dataset(file, tokenizer, **sizes, fixed_shapes=one)) for one in (True, False)
    )
    assert {tuple(ids.shape) for ids, _ in fixed} == {(8, 24)}
    for batch, expected in zip(fixed, free, strict=True):
        for ids, real in zip(batch, expected, strict=True):
            rows, length = real.shape
            np.testing.assert_array_equal(ids[:rows, :length], real)
            assert not ids[rows:].numpy().any() and not ids[:rows, length:].numpy().any()
