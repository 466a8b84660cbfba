"""Successive passes over parallel text: order, spelling, and resuming within a pass."""

import ast
import gc
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf

from kformer.training import translation_dataset
from support.processes import printed_by
from support.training.pairs import WORDS, expected_rows, many_pairs, rows_of


@pytest.mark.prove
def test_a_pass_depends_only_on_its_number_and_the_seed(write, tokenizer):
    files = write(many_pairs(200))
    epoch = tf.Variable(0, dtype=tf.int64)

    dataset = spelled(*files, tokenizer, seed=5, epoch=epoch)
    other_seed = spelled(*files, tokenizer, seed=6, epoch=epoch)

    def batches(number, dataset=dataset):
        epoch.assign(number)
        return bits(dataset)

    first = batches(7)
    assert batches(7) == first
    others = [batches(*which) for which in [(8,), (2**40,), (7, other_seed)]]
    assert len({str(one) for one in (first, *others)}) == 4


def spelled(*args, **kwargs):
    rates = {"piece_splitting": 0.1, "byte_spelling": 0.1}
    return translation_dataset(*args, tokens_per_batch=256, **rates, **kwargs)


def bits(batches):
    return [(*map(np.ndarray.tolist, inputs), target.tolist()) for inputs, target in numpy(batches)]


def numpy(batches):
    return tf.data.Dataset.as_numpy_iterator(batches)


@pytest.mark.prove
def test_another_process_with_another_global_seed_makes_the_same_pass(write, tokenizer, tmp_path):
    files = [*map(str, write(many_pairs(200)))]
    tokenizer.save(tmp_path / "model")
    code = (
        "import sys, tensorflow as tf; from kformer import Tokenizer;"
        "from kformer.training import translation_dataset;"
        "tf.random.set_seed(4); epoch = tf.Variable(3, dtype=tf.int64);"
        "*files, model = sys.argv[1:];"
        "dataset = translation_dataset(*files, Tokenizer.load(model), tokens_per_batch=256,"
        "piece_splitting=0.1, byte_spelling=0.1, epoch=epoch);"
        "print([(*[x.tolist() for x in i], t.tolist()) for i, t in dataset.as_numpy_iterator()])"
    )
    printed = printed_by("-c", code, *files, tmp_path / "model")
    epoch = tf.Variable(3, dtype=tf.int64)
    assert ast.literal_eval(printed) == bits(spelled(*files, tokenizer, epoch=epoch))


@pytest.mark.prove
@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_skipping_batches_gives_the_rest_of_the_pass(write, tokenizer, shuffle):
    epoch = tf.Variable(2, dtype=tf.int64)
    dataset = spelled(*write(many_pairs(200)), tokenizer, shuffle=shuffle, epoch=epoch)
    whole, skipped = bits(dataset), 7
    rest = dataset.skip(skipped)
    assert rest.cardinality() == len(whole) - skipped
    assert bits(rest) == whole[skipped:]


@pytest.mark.prove
def test_every_pass_respells_other_pieces_in_the_same_number_of_batches(write, tokenizer):
    pairs = many_pairs(300)
    dataset = spelled(*write(pairs), tokenizer)
    spellings = []
    for _ in range(2):
        batches = list(dataset)
        assert len(batches) == dataset.cardinality()
        spellings.append(sorted(rows_of(batches, tokenizer)))
        sources, targets = zip(*spellings[-1], strict=True)
        text = zip(in_words(sources, tokenizer), in_words(targets, tokenizer), strict=True)
        assert Counter(text) == Counter((a.strip(), b.strip()) for a, b in pairs)
    assert spellings[0] != spellings[1]


def in_words(rows, tokenizer):
    texts = tokenizer.detokenize(tf.ragged.constant([*map(list, rows)]))
    return [text.decode() for text in texts.numpy()]


@pytest.mark.prove
def test_passes_are_counted_from_zero_by_default(write, tokenizer):
    files = write(many_pairs(100))
    epoch = tf.Variable(0, dtype=tf.int64)
    numbered, counting = spelled(*files, tokenizer, epoch=epoch), spelled(*files, tokenizer)
    gc.collect()  # The counter must live as long as the data set.
    for number in range(2):
        epoch.assign(number)
        assert bits(counting) == bits(numbered)


@pytest.mark.prove
def test_without_shuffling_pairs_of_one_length_keep_their_order(write, tokenizer):
    pairs = [(word, word) for word in WORDS * 3]
    dataset = translation_dataset(*write(pairs), tokenizer, max_length=8, shuffle=False)
    rows = rows_of(dataset, tokenizer)
    expected = [(*ids, 3) for ids in tokenizer.tokenize(WORDS * 3).to_list()]
    for length in {len(row) for row in expected}:
        of_length = [s for s, _ in rows if len(s) == length]
        assert of_length == [row for row in expected if len(row) == length]


@pytest.mark.prove
def test_the_end_of_a_pass_waits_for_no_thread_that_tunes_it(write, tokenizer):
    dataset = translation_dataset(*write(many_pairs(30)), tokenizer)
    for one in (dataset, dataset.skip(1)):
        assert one.options().autotune.enabled is False


@pytest.mark.prove
def test_files_are_read_again_in_every_epoch(write, tokenizer):
    pairs = many_pairs(30)
    dataset = translation_dataset(*write(pairs), tokenizer)
    assert Counter(rows_of(dataset, tokenizer)) == expected_rows(pairs, tokenizer, 128)
    targets = [target for _, target in pairs]
    pairs = list(zip([source for source, _ in pairs], targets[1:] + targets[:1], strict=True))
    write(pairs)
    rows = rows_of(dataset.take(dataset.cardinality()), tokenizer)
    assert Counter(rows) == expected_rows(pairs, tokenizer, 128)
