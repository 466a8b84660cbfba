"""Labelled text as batches."""

import numpy as np
import pytest

from kformer.training import classification_dataset

LABELS = ["gut", "schlecht", "so"]
TEXTS = [("gut", "ich möchte ein bier"), ("so", "wir"), ("schlecht", "das haus ist alt")] * 7


@pytest.fixture
def file(written):
    return written(
        "a.tsv", "".join(f"{label}\t{text} {i}\n" for i, (label, text) in enumerate(TEXTS))
    )


def rows_of(dataset):
    return [
        (tuple(row[row != 0].tolist()), int(label))
        for source, labels in dataset
        for row, label in zip(np.array(source), labels, strict=True)
    ]


@pytest.mark.prove
def test_each_text_comes_once_with_the_place_of_its_label(file, tokenizer):
    batches = classification_dataset(file, tokenizer, LABELS, tokens_per_batch=96, max_length=24)
    assert len([*batches.take(2)]) == 2 and len(batches) > 2
    expected = [
        ((*tokenizer.tokenize([f"{text} {i}"]).to_list()[0], tokenizer.end_id), LABELS.index(label))
        for i, (label, text) in enumerate(TEXTS)
    ]
    assert sorted(rows_of(batches.take(len(batches)))) == sorted(expected)
    for source, labels in batches.take(len(batches)):
        assert source.shape[0] * source.shape[1] <= 96 and source.dtype == labels.dtype == "int32"


@pytest.mark.prove
def test_noise_changes_texts_and_no_labels(file, tokenizer):
    sizes = {"tokens_per_batch": 2048, "noise": "upper=1"}
    [(source, labels)] = classification_dataset(file, tokenizer, LABELS, **sizes).take(1)
    texts = [tokenizer.detokenize(row[row != 0][None, :-1]).numpy()[0] for row in source.numpy()]
    assert sorted(zip(texts, labels.numpy(), strict=True)) == sorted(
        (f"{text} {i}".upper().encode(), LABELS.index(label))
        for i, (label, text) in enumerate(TEXTS)
    )


def test_long_texts_are_cut_and_blank_ones_dropped(written, tokenizer):
    file = written("a.tsv", "gut\t" + "wir " * 50 + "\nso\t\nschlecht\twir\n")
    [(source, labels)] = classification_dataset(file, tokenizer, LABELS, max_length=8).take(1)
    assert sorted(labels.numpy().tolist()) == [0, 1]
    longest = source.numpy()[labels.numpy().tolist().index(0)]
    assert longest.shape == (8,) and longest[-1] == tokenizer.end_id and 0 not in longest


@pytest.mark.prove
def test_a_pass_depends_only_on_its_number_and_the_seed(file, tokenizer):
    def passes(seed):
        batches = classification_dataset(file, tokenizer, LABELS, tokens_per_batch=128, seed=seed)
        return [rows_of(batches.take(len(batches))) for _ in range(2)]

    first, again, other = passes(1), passes(1), passes(2)
    assert first == again != other
    assert first[0] != first[1] and sorted(first[0]) == sorted(first[1])


@pytest.mark.prove
def test_a_text_of_blank_lines_is_an_error(written, tokenizer):
    with pytest.raises(ValueError, match="No text is left"):
        classification_dataset(written("a.tsv", "gut\t\nso\t \n"), tokenizer, LABELS)
