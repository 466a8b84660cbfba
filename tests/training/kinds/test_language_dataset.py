"""Plain text as packed rows."""

import gzip
from itertools import pairwise

import numpy as np
import pytest
import tensorflow as tf

from kformer import Tokenizer
from kformer.text import vocabulary
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


@pytest.mark.prove
def test_rows_are_full_but_the_last_one(text, tokenizer):
    batches, _ = read(text, tokenizer, max_length=16, tokens_per_batch=64)
    rows = [row for ids_in, _ in batches for row in ids_in]
    assert all(ids_in.shape == (4, 16) for ids_in, _ in batches[:-1])
    assert all((row != tokenizer.padding_id).all() for row in rows[:-1])
    assert {len(ids_in) for ids_in, _ in batches[:-1]} == {4}


@pytest.mark.prove
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


SEVERAL_LINES = [f"{first}\n    {second}" for first, second in pairwise(toy.SOURCES[:80])]


@pytest.fixture(scope="module")
def keeps_lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "lines.txt"
    path.write_text("\n".join(SEVERAL_LINES), "utf-8")
    return Tokenizer(vocabulary.learn(path, 400, at_most=True, line_breaks=True))


@pytest.mark.prove
@pytest.mark.parametrize("documents", ["blank-line", "file"])
def test_documents_of_several_lines_follow_each_other(written, keeps_lines, documents):
    text = "\n\n".join(SEVERAL_LINES)
    files = [written(name, f"\n{text}\n\n") for name in ("a.txt", "b.txt")]
    _, (ids_in, ids_out) = read(
        files, keeps_lines, documents=documents, max_length=16, tokens_per_batch=64, shuffle=False
    )
    ends = np.flatnonzero(ids_out == keeps_lines.end_id)
    starts = np.flatnonzero(ids_in == keeps_lines.start_id)
    found = [ids_out[start:end] for start, end in zip(starts, ends, strict=True)]
    expected = [text] * 2 if documents == "file" else [one for one in SEVERAL_LINES for _ in (1, 2)]
    assert sorted(keeps_lines.decode(found)) == sorted(expected)
    np.testing.assert_array_equal(ids_in[1 : starts[1]], ids_out[: ends[0]])


@pytest.mark.prove
def test_rows_of_a_long_document_begin_at_other_places_in_each_pass(written, keeps_lines):
    file = written("text.txt", "\n\n".join(SEVERAL_LINES))
    length = 16
    dataset = language_dataset(
        file, keeps_lines, documents="file", max_length=length, tokens_per_batch=64
    )
    passes = [[np.array(row) for _, batch in dataset for row in batch] for _ in range(3)]
    whole = keeps_lines.with_end(keeps_lines.tokenize(["\n\n".join(SEVERAL_LINES)]))
    whole = whole.to_list()[0]
    beginnings = []
    for rows in passes:
        ids = np.concatenate(rows)
        assert sorted(ids[ids != keeps_lines.padding_id]) == sorted(whole)
        assert all((row != keeps_lines.padding_id).all() for row in rows[:-1])
        twice = " ".join(map(str, [*whole, *whole]))
        rows = [" ".join(map(str, row)) for row in rows[:-1]]
        assert all(row in twice for row in rows)  # Rows are parts of the document, in its order.
        beginnings.append(frozenset(rows))
    assert len({*beginnings}) == 3
    assert len(dataset) == -(-len(whole) // 64)


@pytest.mark.prove
def test_several_windows_of_long_documents_hold_all_of_them(written, keeps_lines, monkeypatch):
    monkeypatch.setattr("kformer.training.kinds.language_learner._WINDOW_BYTES", 300)
    monkeypatch.setattr("kformer.training.data.mixture._CHUNK", 64)
    file = written("text.txt", "\n\n".join(SEVERAL_LINES))
    _, (_, ids) = read(
        file, keeps_lines, documents="blank-line", max_length=16, tokens_per_batch=64, shuffle=False
    )
    text = keeps_lines.decode([ids])[0]
    assert text == "".join(SEVERAL_LINES)


def test_a_vocabulary_must_keep_line_breaks(text, tokenizer):
    with pytest.raises(ValueError, match=r"keeps line breaks.*Received: documents='file'"):
        language_dataset(text, tokenizer, documents="file")
