"""Baselines of a classifier: the most frequent label, and a linear model of the same pieces.

Axes: C labels, V pieces.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kformer.text import vocabulary
from kformer.text.text_files import read_lines
from kformer.training.kinds.labelled_files import Split


class Baselines(NamedTuple):
    """Shares of the validation texts that simple rules classify right.

    Attributes:
        label: The most frequent label of the training text.
        majority: Accuracy of always answering with it.
        linear: Accuracy of `NaiveBayes`.
    """

    label: str
    majority: float
    linear: float

    def __str__(self):
        return (
            f"To compare with, on the validation text: {100 * self.majority:.1f} % are "
            f"{self.label!r}, and a linear model (naive Bayes) has {100 * self.linear:.1f} % right."
        )


class NaiveBayes:
    """Multinomial naive Bayes on which pieces a text has, a linear classifier.

    It learns by counting, in one pass. Each piece counts once in a text, and once more in all
    (Laplace smoothing). Section 2.1 of [Wang & Manning, 2012](https://aclanthology.org/P12-2018).

    Args:
        examples: Pairs of a label, from 0, and the ids of a text.
        classes: Number C of labels.
        ids: Number V of ids.
    """

    def __init__(self, examples: Iterable[tuple[int, list[int]]], classes: int, ids: int):
        counts, texts = np.ones((classes, ids)), np.zeros(classes)
        for label, pieces in examples:
            counts[label, [*{*pieces}]] += 1
            texts[label] += 1
        self.weights = np.log(counts / counts.sum(axis=1, keepdims=True))  # (C, V)
        with np.errstate(divide="ignore"):  # A label without text is never the answer.
            self.biases = np.log(texts / texts.sum())  # (C,)

    def predict(self, pieces: list[int]) -> int:
        """Returns the most probable label of a text of these ids."""
        return int(np.argmax(self.weights[:, [*{*pieces}]].sum(axis=1) + self.biases))


def baselines(training: Split, validation: Sequence[Split], model: bytes) -> Baselines:
    """Learns both rules from the training text, and applies them to the validation texts."""
    library = vocabulary.read(model)
    labels = [*training.counts]
    places = {label: place for place, label in enumerate(labels)}

    def examples(text):
        for texts, names in zip(text.texts, text.labels, strict=True):
            for line, label in zip(read_lines(texts), read_lines(names), strict=True):
                if line.strip():
                    yield places[label], library.encode(line)

    linear = NaiveBayes(examples(training), len(labels), library.GetPieceSize())
    most = max(training.counts, key=training.counts.__getitem__)
    right = [
        (label == places[most], label == linear.predict(pieces))
        for text in validation
        for label, pieces in examples(text)
    ]
    return Baselines(most, *np.mean(right, axis=0).tolist())
