"""A classifier's answers in Python, and the test whether a different answer is as good.

Axes: C classes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kformer.export.verify.agreement import encoder_agreement
from kformer.inference.search_options import SearchOptions
from kformer.text.label_scores import class_scores, tag_scores

TOLERANCE = 1e-4  # In probabilities: float32 sums differ by less between runtimes.


class Classification(NamedTuple):
    """The answer to one text."""

    label: str
    probabilities: np.ndarray  # float32 (C,)


class Classifications:
    """A classifier's answers and their comparison, for `Verifier`.

    Args:
        classifier: `kformer.TextClassifier`, computing in float32.
        options: `SearchOptions`, the defaults: a classifier does not search.
        references: The true labels of all texts, or None.
        tokenize: For translations alone.
    """

    measure = "accuracy"

    def __init__(
        self,
        classifier: Any,
        options: SearchOptions,
        references: Sequence[str] | None = None,
        tokenize: str | None = None,
    ):
        self._classifier = classifier
        self._references = references

    def for_text(self, model: Any, number: int):
        """Returns the form of the model that reads text `number`."""
        return model

    def python_answers(self, texts: Sequence[str]) -> list[Classification]:
        """Returns the answers of Python."""
        return self.answers(self._classifier, texts)

    def answers(self, model: Any, texts: Sequence[str]) -> list[Classification]:
        """Returns the answers of another form."""
        return [*map(Classification, *model.predict(texts))]

    def equal(self, expected: Any, answer: Any, exact: bool) -> bool:
        """Returns whether the label equals Python's, and the probabilities do if `exact`."""
        close = not exact or _close(answer.probabilities, expected.probabilities)
        return close and answer.label == expected.label

    def gives(self, rows: Any, answer: Any, exact: bool, noisy: bool = False) -> bool:
        """Returns whether Python gives this answer for rows of ids, or nearly does if `noisy`.

        Two labels are tied if rounding within `TOLERANCE` of both probabilities may swap them.
        """
        labels = self._classifier.labels
        probabilities = np.array(self._classifier.network.probabilities(np.array(rows)))[0]
        if answer.label not in labels:
            return False
        if exact and not _close(answer.probabilities, probabilities):
            return False
        lack = probabilities.max() - probabilities[labels.index(answer.label)]
        return bool(lack <= (2 * TOLERANCE if noisy else 0))

    def shown(self, answer: Any) -> str:
        """Returns an answer for a message."""
        return f"{answer.label!r} {np.round(answer.probabilities, 5).tolist()}"

    def figures(self, answers: Any) -> dict:
        """Returns fields of `Report` by name."""
        accuracy = None
        if self._references:
            labels = [answer.label for answer in answers]
            accuracy = class_scores(self._classifier.labels, self._references, labels).accuracy
        return {"bleu": None, self.measure: accuracy}

    def compare_signatures(self, served: Any, texts: Sequence[str]) -> dict:
        """Compares labels and other signatures of a `ServedClassifier`, for the report."""
        labels = self._classifier.labels
        if served.labels != labels:
            raise ValueError(
                "An export must have the labels of the classifier, in their order. Received: "
                f"{served.labels!r:.99} of the export, {labels!r:.99} of the classifier."
            )
        return encoder_agreement(self._classifier, served.signatures, texts)


class Taggings(Classifications):
    """A tagger's answers and their comparison, for `Verifier`.

    Args:
        classifier: `kformer.TextTagger`, computing in float32.
        options, tokenize: As for `Classifications`.
        references: The true labels of the words of all texts, between spaces; or None.
    """

    def answers(self, model: Any, texts: Sequence[str]) -> Any:
        return model.tag(texts)

    def equal(self, expected, answer, exact) -> bool:
        close = not exact or _close(*map(np.array, (answer.probabilities, expected.probabilities)))
        return close and answer.labels == expected.labels

    def gives(self, rows, answer, exact, noisy=False) -> bool:
        probabilities = np.array(self._classifier.network.probabilities(np.array(rows)))[0]
        words = probabilities[self._classifier.word_starts[rows[0]]]  # (W, C)
        places = [self._classifier.labels.index(label) for label in answer.labels if label]
        if len(places) != len(words):
            return False
        chosen = words[np.arange(len(places)), places]
        if exact and not _close(np.array(answer.probabilities[: len(places)]), chosen):
            return False
        return bool(np.all(words.max(axis=1) - chosen <= (2 * TOLERANCE if noisy else 0)))

    def shown(self, answer) -> str:
        return f"{answer.labels} {np.round(answer.probabilities, 5).tolist()}"

    def figures(self, answers) -> dict:
        accuracy = None
        if self._references:
            labels = [labels.split() for labels in self._references]
            accuracy = tag_scores(labels, [answer.labels for answer in answers]).accuracy
        return {"bleu": None, self.measure: accuracy}


def _close(probabilities, expected) -> bool:
    return bool(np.max(np.abs(probabilities - expected), initial=0) <= TOLERANCE)
