"""Scores of a classifier: accuracy, F1 and the confusion matrix.

Axes: C classes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class ClassScores(NamedTuple):
    """How predicted labels agree with the right ones.

    Attributes:
        labels: The C labels.
        matrix: int64 array (C, C): row i has the texts whose true label is `labels[i]`, column j
            those that were given `labels[j]`.
    """

    labels: tuple[str, ...]
    matrix: np.ndarray

    @property
    def accuracy(self) -> float:
        """Share of the texts with the true label."""
        return float(self.matrix.trace() / self.matrix.sum())

    @property
    def f1(self) -> np.ndarray:
        """For each label the harmonic mean of precision and recall, float64 (C,).

        It is 0 for a label that no text has and none was given.
        """
        given_and_right = self.matrix.sum(axis=0) + self.matrix.sum(axis=1)
        return 2 * self.matrix.diagonal() / np.maximum(1, given_and_right)

    @property
    def macro_f1(self) -> float:
        """The mean of `f1` over the labels that a text has or was given."""
        there = self.matrix.sum(axis=0) + self.matrix.sum(axis=1) > 0
        return float(self.f1[there].mean())


def class_scores(
    labels: Sequence[str], expected: Sequence[str], predicted: Sequence[str]
) -> ClassScores:
    """Compares labels.

    Args:
        labels: All labels, in the order of the classifier.
        expected: The true label of each text.
        predicted: The label that each text was given.

    Raises:
        ValueError: There is no text, not as many of both, or a label is not in `labels`.
    """
    if len(expected) != len(predicted) or not expected:
        raise ValueError(
            "Every text needs its true label and its predicted one. "
            f"Received: {len(expected)} right and {len(predicted)} predicted labels."
        )
    places = {label: i for i, label in enumerate(labels)}
    for label in (*expected, *predicted):
        if label not in places:
            known = ", ".join(labels)
            raise ValueError(
                f"A label must be one of the classifier's: {known}. Received: {label!r}."
            )
    matrix = np.zeros((len(places),) * 2, np.int64)
    for pair in zip(expected, predicted, strict=True):
        matrix[tuple(places[label] for label in pair)] += 1
    return ClassScores(tuple(labels), matrix)
