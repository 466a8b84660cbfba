"""Parallel text as batches; the reference is plain Python over the SentencePiece library."""

import gzip
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.training import translation_dataset
from kformer.training.data.batching import bucket_lengths
from support.training.pairs import WORDS, expected_rows, many_pairs, rows_of, sentence
from support.training.pairs import write as write_pairs

both_orders = pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])


@settings(max_examples=settings.default.max_examples // 8)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60),
    max_length=st.integers(8, 40),
    spare=st.integers(0, 200),
    shuffle=st.booleans(),
)
def test_every_pair_that_fits_is_in_an_epoch_once(
    tmp_path_factory, tokenizer, lengths, max_length, spare, shuffle
):
    pairs = [("bier", "ein bier"), *((sentence(s), sentence(t)) for s, t in lengths)]
    paths = write_pairs(tmp_path_factory.mktemp("text"), pairs)
    tokens_per_batch = max_length + spare
    dataset = translation_dataset(
        *paths, tokenizer, tokens_per_batch=tokens_per_batch, max_length=max_length, shuffle=shuffle
    )
    expected = expected_rows(pairs, tokenizer, max_length)
    for _ in range(2):
        batches = list(dataset)
        assert Counter(rows_of(batches, tokenizer)) == expected
        assert len(batches) == dataset.cardinality()
        for (source, _), target in batches:
            assert max(np.size(source), np.size(target)) <= tokens_per_batch
            assert {source.shape[1], target.shape[1]} <= {*bucket_lengths(max_length)}


@pytest.mark.prove
def test_there_are_few_shapes_and_full_batches(write, tokenizer):
    dataset = translation_dataset(*write(many_pairs(1500)), tokenizer, tokens_per_batch=512)
    shapes = [(source.shape, target.shape) for (source, _), target in dataset]
    assert len({source[1:] + target[1:] for source, target in shapes}) < 0.7 * len(shapes)
    rows = sorted(max(source[1], target[1]) * source[0] for source, target in shapes)
    assert rows[len(rows) // 10] > 0.8 * 512 and rows[-1] <= 512


@pytest.mark.prove
def test_all_batches_but_one_hold_as_many_pairs_as_fit(write, tokenizer):
    dataset = translation_dataset(*write(many_pairs(1500)), tokenizer, tokens_per_batch=512)
    sizes = {512 // length for length in bucket_lengths(128)}
    rows = [source.shape[0] for (source, _), _ in dataset]
    assert sum(number not in sizes for number in rows) <= 1


@pytest.mark.prove
def test_little_is_padding(write, tokenizer):
    """A translation is about as long as its source; batches at random would be padded to half."""
    words = [random.choices(WORDS, k=random.randint(1, 20)) for _ in range(5000)]
    pairs = [(" ".join(line), " ".join(["bier", *line[random.randint(0, 1) :]])) for line in words]
    dataset = translation_dataset(*write(pairs), tokenizer, tokens_per_batch=1024)
    for side in range(2):
        batches = [(source, target)[side].numpy() for (source, _), target in dataset]
        slots, tokens = (sum(map(count, batches)) for count in (np.size, np.count_nonzero))
        assert tokens > 0.9 * slots


@pytest.mark.prove
def test_the_last_pair_of_a_bucket_is_batched_with_the_next_shorter_ones(write, tokenizer):
    pairs = [(sentence(30), "ein"), *[("bier", "beer")] * 9]
    [(inputs, _)] = translation_dataset(*write(pairs), tokenizer)
    assert inputs[0].shape[0] == 10


@given(st.integers(2, 2000))
def test_buckets_grow_by_an_eighth_up_to_the_maximum_length(max_length):
    lengths = list(bucket_lengths(max_length))
    assert lengths[-1] == max_length
    for shorter, longer in pairwise(lengths):
        assert shorter % 2 == 0
        assert shorter < longer <= shorter + max(2, shorter / 8)


@pytest.mark.prove
def test_several_files_are_read_as_one_text(write, tokenizer):
    pairs = many_pairs(90)
    files = [write(pairs[:30], "a"), write(pairs[30:60], "b"), write(pairs[60:], "c")]
    packed = [path.with_suffix(path.suffix + ".gz") for path in files[1]]
    for path, unpacked in zip(packed, files[1], strict=True):
        half = unpacked.read_bytes().index(b"\n") + 1
        members = unpacked.read_bytes()[:half], unpacked.read_bytes()[half:]
        path.write_bytes(b"".join(map(gzip.compress, members)))
    source, target = zip(files[0], packed, files[2], strict=True)
    dataset = translation_dataset(source, map(str, target), tokenizer, shuffle=False)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(pairs, tokenizer, 128)


@pytest.mark.prove
@pytest.mark.parametrize("ending", ["\r\n", "\n"])
@pytest.mark.parametrize("cut", [True, False])
def test_crlf_line_ends_and_a_last_line_without_one_change_nothing(write, tokenizer, ending, cut):
    pairs = many_pairs(9)
    files = write(pairs, ending=ending)
    if cut:
        files[0].write_bytes(files[0].read_bytes().removesuffix(ending.encode()))
    dataset = translation_dataset(*files, tokenizer)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(pairs, tokenizer, 128)


@pytest.mark.prove
@both_orders
def test_pairs_with_a_blank_side_or_too_many_ids_are_dropped(write, tokenizer, shuffle):
    long = sentence(99)
    pairs = [
        ("", "a"),
        ("ein", "one"),
        ("a", " "),
        ("", ""),
        (long, "a"),
        ("a", long),
        ("zwei", "two"),
    ]
    dataset = translation_dataset(*write(pairs), tokenizer, max_length=31, shuffle=shuffle)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(
        [("ein", "one"), ("zwei", "two")], tokenizer, 31
    )


@pytest.mark.prove
def test_a_sentence_of_the_maximum_length_fits(write, tokenizer):
    pairs = [("ein bier", sentence(12))]
    [(source, target)] = expected_rows(pairs, tokenizer, 128)
    length = max(len(source), len(target))
    dataset = translation_dataset(*write(pairs), tokenizer, max_length=length)
    assert rows_of(dataset, tokenizer) == [(source, target)]
    with pytest.raises(ValueError, match=f"No text is left.* Received: max_length={length - 1}"):
        translation_dataset(*write(pairs), tokenizer, max_length=length - 1)


@pytest.mark.prove
def test_each_side_may_have_its_own_tokenizer_with_its_own_ids(write, tmp_path, parallel_text):
    source = Tokenizer.train(parallel_text["train.de"], 350)
    sentencepiece.SentencePieceTrainer.train(
        input=str(parallel_text["train.en"]),
        model_prefix=str(tmp_path / "target"),
        **{"vocab_size": 300, "pad_id": 7, "unk_id": 0, "bos_id": 5, "eos_id": 6},
        **{"hard_vocab_limit": False, "minloglevel": 2},
    )
    target = Tokenizer.load(tmp_path / "target.model")
    pairs = many_pairs(50)
    dataset = translation_dataset(*write(pairs), source, target)
    expected = expected_rows(pairs, source, 128, target)
    assert Counter(rows_of(dataset, source, target)) == expected


def test_files_with_different_numbers_of_lines_are_an_error(write, tokenizer, tmp_path):
    source, target = write(many_pairs(5))
    longer, _ = write(many_pairs(6), "longer")
    with pytest.raises(ValueError, match=r"Received: 6 in '.*longer.de', 5 in '.*text.en'"):
        translation_dataset(longer, target, tokenizer)
    with pytest.raises(FileNotFoundError, match=r"Received: '.*missing'"):
        translation_dataset(source, tmp_path / "missing", tokenizer)


def test_a_batch_must_have_room_for_the_longest_sentence(write, tokenizer):
    with pytest.raises(ValueError, match="Received: tokens_per_batch=127, max_length=128"):
        translation_dataset(*write(many_pairs(5)), tokenizer, tokens_per_batch=127)


@pytest.mark.prove
def test_a_text_of_blank_lines_is_an_error(write, tokenizer):
    with pytest.raises(ValueError, match=r"No text is left.* Received: max_length=128"):
        translation_dataset(*write([("", "")] * 3), tokenizer)


PAIRS = [("ein hund", "a dog"), ("wir", "we")]


def test_pairs_instead_of_files_are_an_error(tokenizer):
    with pytest.raises(TypeError, match=r"Received: \('ein hund', 'a dog'\), of type tuple\."):
        translation_dataset(PAIRS, tokenizer)
    for files in (PAIRS, [["ein hund"]], [b"ein hund"], [None], 7, tokenizer):
        with pytest.raises(TypeError, match="`files` must be a path or a list of paths"):
            translation_dataset(files, files, tokenizer)


def test_a_tokenizer_is_needed():
    with pytest.raises(TypeError, match="Received: tokenizer=None"):
        translation_dataset("a.de", "a.en")
