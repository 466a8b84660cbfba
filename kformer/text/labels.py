"""The labels of a classifier, its predictions for texts, and their scores.

Axes: N texts, C classes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kformer.arguments import replace_lone_surrogates


class Predictions(NamedTuple):
    """The predictions of a classifier for N texts.

    Attributes:
        labels: list of N strings, the most probable label of each text.
        probabilities: float32 array (N, C), in the order of the classifier's labels.
    """

    labels: list[str]
    probabilities: Any


def predictions(labels: Sequence[str], probabilities: np.ndarray) -> Predictions:
    """Returns `Predictions`; of labels that are equally probable, the first is chosen.

    Args:
        labels: The C labels of the classifier.
        probabilities: float32 array (N, C).
    """
    return Predictions([labels[i] for i in probabilities.argmax(axis=1)], probabilities)


def check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Returns the labels as a tuple.

    Raises:
        TypeError: They are not strings, or one string.
        ValueError: There are fewer than two, or two are equal; or one is blank, holds a tab or the
            end of a line, which a file of labelled text cannot hold, or U+0000 or half of a
            surrogate pair, which a `.tflite` file cannot hold.
    """
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise TypeError(f"`labels` must be a list of strings. Received: labels={labels!r:.99}.")
    labels = tuple(labels)
    if len(labels) < 2:
        raise ValueError(f"A classifier needs two labels or more. Received: labels={labels!r:.99}.")
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise ValueError(f"Labels must be distinct. Received: {label!r} twice.")
        if label != " ".join(label.split()) or not label:
            raise ValueError(
                "A label must not be blank, begin or end with a space, or hold tabs, ends of lines "
                f"or double spaces. Received: {label!r}."
            )
        if "\0" in label or label != replace_lone_surrogates(label):
            raise ValueError(
                f"A label must not hold U+0000 or half of a surrogate pair. Received: {label!r}."
            )
    return labels


class ClassScores(NamedTuple):
    """The agreement of predicted labels with the true ones, as a confusion matrix.

    Attributes:
        labels: The C labels.
        matrix: int64 array (C, C): row i counts the texts whose true label is `labels[i]`, column j
            the texts whose predicted label is `labels[j]`.
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

        It is 0 for a label that is neither true nor predicted for any text.
        """
        predicted_and_true = self.matrix.sum(axis=0) + self.matrix.sum(axis=1)
        return 2 * self.matrix.diagonal() / np.maximum(1, predicted_and_true)

    @property
    def macro_f1(self) -> float:
        """The mean of `f1` over the labels that are true or predicted for a text."""
        occurs = self.matrix.sum(axis=0) + self.matrix.sum(axis=1) > 0
        return float(self.f1[occurs].mean())


def class_scores(
    labels: Sequence[str], expected: Sequence[str], predicted: Sequence[str]
) -> ClassScores:
    """Compares labels.

    Args:
        labels: All labels, in the order of the classifier.
        expected: The true label of each text.
        predicted: The predicted label of each text.

    Raises:
        ValueError: There is no text, the numbers of labels differ, or a label is not in `labels`.
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
