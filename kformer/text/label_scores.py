"""Scores of predicted labels: accuracy and F1 of texts and of words, confusion, BIO spans."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


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
    """Compares labels."""
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


class TagScores(NamedTuple):
    """Agreement of predicted labels of words with the true ones.

    Attributes:
        words, right_words: Number of words, and of those with the true label.
        expected, predicted, right: Number of spans in the true labels, in the predicted ones, and
            of those in both, with the same type and the same words.
    """

    words: int
    right_words: int
    expected: int
    predicted: int
    right: int

    @property
    def accuracy(self) -> float:
        """Share of the words with the true label."""
        return self.right_words / self.words

    @property
    def precision(self) -> float:
        """Share of the predicted spans that are right; 0 without any."""
        return self.right / max(1, self.predicted)

    @property
    def recall(self) -> float:
        """Share of the true spans that were predicted; 0 without any."""
        return self.right / max(1, self.expected)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / max(1, self.expected + self.predicted)


def tag_scores(expected: Sequence[list[str]], predicted: Sequence[list[str]]) -> TagScores:
    """Compares labels of the words of several texts."""
    numbers = [[len(labels) for labels in side] for side in (expected, predicted)]
    if numbers[0] != numbers[1] or not any(numbers[0]):
        raise ValueError(
            "Every word needs its true label and its predicted one. Received: "
            f"{sum(numbers[0])} true and {sum(numbers[1])} predicted labels, in {len(expected)} "
            f"and {len(predicted)} texts."
        )
    scores = np.zeros(5, int)
    for true, labels in zip(expected, predicted, strict=True):
        spans, predictions = spans_of(true), spans_of(labels)
        right = sum(map(str.__eq__, true, labels))
        scores += [len(true), right, len(spans), len(predictions), len(spans & predictions)]
    return TagScores(*scores.tolist())


def spans_of(labels: Sequence[str]) -> set[tuple[str, int, int]]:
    """Returns the type, the first word and the end of each span.

    "B-X" begins a span of the type X; "I-X" continues one, or begins one after another label, as in
    the evaluation of [CoNLL-2003](https://aclanthology.org/W03-0419). "O" and "" are outside; any
    other label is a span of one word.
    """
    spans, current = [], None  # The type of the span that may be continued.
    for i, label in enumerate(labels):
        prefix, _, name = label.partition("-")
        is_part = prefix in ("B", "I") and name
        if prefix == "I" and name == current:
            spans[-1] = (name, spans[-1][1], i + 1)
        elif label not in ("O", ""):
            spans.append((name if is_part else label, i, i + 1))
        current = name if is_part else None
    return {*spans}
