"""Plain text as packed rows."""

import gzip

import numpy as np
import pytest
import tensorflow as tf

from kformer.training import language_dataset
from support import toy

LINES = [*toy.SOURCES[:60], "", "  ", *toy.SOURCES[60:90]]
DOCUMENTS = [line for line in LINES if line.strip()]


@pytest.fixture
def text(written):
    return written("text.txt", "".join(f"{line}\n" for line in LINES))


def read(*arguments, **settings):
    """Returns the ids of both sides of a pass, with the rows of all batches end to end."""
    batches = [[*map(np.array, batch)] for batch in language_dataset(*arguments, **settings)]
    return batches, [
        np.concatenate([side.ravel() for side in sides]) for sides in zip(*batches, strict=True)
    ]


def test_a_pass_is_all_documents_end_to_end(text, tokenizer):
    _, (ids_in, ids_out) = read(text, tokenizer, max_length=16, tokens_per_batch=64, shuffle=False)
    documents = tokenizer.tokenize(DOCUMENTS)
    for ids, expected in (
        (ids_in, tokenizer.with_start(documents)),
        (ids_out, tokenizer.with_end(documents)),
    ):
        expected = expected.flat_values.numpy()
        np.testing.assert_array_equal(ids[: len(expected)], expected)
        assert (ids[len(expected) :] == tokenizer.padding_id).all()


def test_rows_are_full_but_the_last_one(text, tokenizer):
    batches, _ = read(text, tokenizer, max_length=16, tokens_per_batch=64)
    rows = [row for ids_in, _ in batches for row in ids_in]
    assert all(ids_in.shape == (4, 16) for ids_in, _ in batches[:-1])
    assert all((row != tokenizer.padding_id).all() for row in rows[:-1])
    assert {len(ids_in) for ids_in, _ in batches[:-1]} == {4}


def test_each_pass_has_the_same_documents_in_another_order(text, tokenizer):
    dataset = language_dataset(text, tokenizer, max_length=16, tokens_per_batch=64)

    def documents():
        ids = np.concatenate([np.array(ids_in).ravel() for ids_in, _ in dataset])
        starts = np.flatnonzero(ids == tokenizer.start_id)[1:]
        return [tuple(one[one != tokenizer.padding_id]) for one in np.split(ids, starts)]

    first, second = documents(), documents()
    assert first != second and sorted(first) == sorted(second)
    assert len(first) == len(DOCUMENTS)


@pytest.mark.prove
def test_the_number_of_the_pass_decides_the_order(text, tokenizer):
    epoch = tf.Variable(3, dtype=tf.int64)
    settings = {"max_length": 16, "tokens_per_batch": 64, "epoch": epoch, "piece_splitting": 0.2}
    _, (first, _) = read(text, tokenizer, **settings)
    _, (again, _) = read(text, tokenizer, **settings)
    np.testing.assert_array_equal(first, again)
    epoch.assign(4)
    _, (other, _) = read(text, tokenizer, **settings)
    assert not np.array_equal(first, other)


@pytest.mark.prove
def test_several_files_are_read_and_packed_ones_too(text, tokenizer, tmp_path):
    packed = tmp_path / "more.txt.gz"
    packed.write_bytes(gzip.compress(b"wir\n"))
    dataset = language_dataset([text, packed], tokenizer, max_length=16, tokens_per_batch=64)
    starts = sum(int(np.sum(np.array(ids) == tokenizer.start_id)) for ids, _ in dataset)
    assert starts == len(DOCUMENTS) + 1
    assert int(dataset.cardinality()) == len(list(dataset))
