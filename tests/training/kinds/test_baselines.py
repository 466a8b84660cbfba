"""The rules that a classifier must beat, against scikit-learn's."""

import random

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from kformer.training.kinds.baselines import Baselines, NaiveBayes, baselines
from kformer.training.kinds.labelled_files import split


def test_naive_bayes_is_that_of_scikit_learn():
    draw, ids = random.Random(0), 23
    examples = [
        (label := draw.randrange(3), draw.choices(range(label, ids), k=draw.randint(1, 9)))
        for _ in range(200)
    ]
    there = np.zeros((len(examples), ids), int)
    for row, (_, pieces) in zip(there, examples, strict=True):
        row[pieces] = 1
    reference = MultinomialNB().fit(there, [label for label, _ in examples])
    found = NaiveBayes(examples, 3, ids)
    np.testing.assert_allclose(found.weights, reference.feature_log_prob_, rtol=1e-12)
    np.testing.assert_allclose(found.biases, reference.class_log_prior_, rtol=1e-12)
    predicted = [found.predict(pieces) for _, pieces in examples]
    assert predicted == reference.predict(there).tolist()


def test_both_are_scored_on_the_validation_text(written, tokenizer):
    train = written("train.tsv", "gut\tder hund\n" * 3 + "schlecht\tdie katze\n" * 2)
    rows = ["gut\tdie katze", "schlecht\tdie katze", "gut\tder hund", "schlecht\tder hund"]
    valid = written("valid.tsv", "\n".join([*rows, "schlecht\tdie katze", "gut\t"]))
    found = baselines(split(train), [split(valid)], tokenizer.model)
    assert found == Baselines("gut", pytest.approx(2 / 5), pytest.approx(3 / 5))
    assert "40.0 % are 'gut'" in str(found) and "60.0 % right" in str(found)
