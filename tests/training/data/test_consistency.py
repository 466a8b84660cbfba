"""Batches of consistency training: two rows for each example, one of them with words cut off."""

import numpy as np
import pytest
import tensorflow as tf

from kformer.training import classification_dataset, language_dataset, translation_dataset
from support.training.pairs import many_pairs
from support.training.two_views import assert_views, values_of

PAIRS = [pair for pair in many_pairs(200) if all(side.strip() for side in pair)]


def of_pairs(write, tokenizer, **options):
    """Batches of a translator, and the tokenizers of their inputs."""
    dataset = translation_dataset(*write(PAIRS), tokenizer, tokens_per_batch=256, **options)
    return dataset, [tokenizer, tokenizer]


def of_text(write, tokenizer, **options):
    """Batches of a language model."""
    file, _ = write(PAIRS)
    return language_dataset(file, tokenizer, tokens_per_batch=512, **options), [tokenizer]


def of_labels(write, tokenizer, **options):
    """Batches of a classifier."""
    file, _ = write([(f"{i % 2}\t{source}", "") for i, (source, _) in enumerate(PAIRS)])
    return classification_dataset(file, tokenizer, ["0", "1"], **options), [tokenizer]


@pytest.mark.sample(2)
@pytest.mark.parametrize("fixed_shapes", [False, True])
@pytest.mark.parametrize("kind, cutoff", [("simcut", 0.3), ("rdrop", 0.0)])
@pytest.mark.parametrize("dataset", [of_pairs, of_text, of_labels])
def test_each_example_has_two_rows(dataset, kind, cutoff, fixed_shapes, write, tokenizer):
    options = {"fixed_shapes": fixed_shapes, "seed": 3}
    plain, tokenizers = dataset(write, tokenizer, **options)
    views, _ = dataset(write, tokenizer, **options, consistency=kind, cutoff=cutoff)
    assert_views(values_of(plain), values_of(views), tokenizers, cutoff, kind == "simcut")
    assert plain.cardinality() == views.cardinality()
    assert views.shapes == [(2 * rows, length) for rows, length in plain.shapes]


@pytest.mark.prove
def test_the_same_pass_cuts_the_same_words_and_the_next_one_others(write, tokenizer):
    epoch = tf.Variable(4, dtype=tf.int64)
    batches, _ = of_pairs(write, tokenizer, consistency="simcut", cutoff=0.3, epoch=epoch)
    first, again = values_of(batches), values_of(batches)
    epoch.assign(5)
    other = values_of(batches)
    for values, same in zip(first, again, strict=True):
        np.testing.assert_array_equal(values[0], same[0])
    unknown = [[values[0] == tokenizer.unknown_id for values in run] for run in (first, other)]
    assert any(not np.array_equal(*pair) for pair in zip(*unknown, strict=True))
