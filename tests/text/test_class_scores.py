"""Accuracy, F1 and the confusion matrix, compared with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from kformer.text.label_scores import class_scores

LABELS = ("a", "b", "c d", "é")
label = st.sampled_from(LABELS)


@given(st.lists(st.tuples(label, label), min_size=1, max_size=30))
def test_they_are_those_of_scikit_learn(pairs):
    expected, predicted = zip(*pairs, strict=True)
    found = class_scores(LABELS, expected, predicted)
    matrix = metrics.confusion_matrix(expected, predicted, labels=LABELS)
    np.testing.assert_array_equal(found.matrix, matrix)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(expected, predicted))
    f1 = metrics.f1_score(expected, predicted, labels=LABELS, average=None, zero_division=0)
    np.testing.assert_allclose(found.f1, f1)
    assert found.macro_f1 == pytest.approx(metrics.f1_score(expected, predicted, average="macro"))


@pytest.mark.parametrize(
    ("expected", "predicted", "said"),
    [
        ([], [], "0 right and 0 predicted"),
        (["a"], ["a", "b"], "1 right and 2 predicted"),
        (["a"], ["e"], "one of the classifier's: a, b, c d, é. Received: 'e'"),
    ],
)
def test_labels_that_do_not_belong_together_are_refused(expected, predicted, said):
    with pytest.raises(ValueError, match=said):
        class_scores(LABELS, expected, predicted)
