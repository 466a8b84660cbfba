"""Scores of predicted labels: accuracy and F1 of texts and of words, confusion, spans of words."""

import re
from collections.abc import Iterable, Sequence
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
    """Compares labels of the words of several texts; their spans are as for `SpanScheme`."""
    scheme = SpanScheme.of((*expected, *predicted))
    return _tag_scores(expected, predicted, scheme)


def strict_tag_scores(
    expected: Sequence[list[str]], predicted: Sequence[list[str]]
) -> TagScores | None:
    """As `tag_scores`, but only of spans that are labelled as the scheme of the true labels wants.

    It is the strict mode of seqeval: of IOB2 ("B-X", "I-X"), a span begins with "B-X"; of IOBES and
    BILOU it also ends with "E-X" or "L-X", or has one word, labelled "S-X" or "U-X". None for
    labels of no such scheme; of IOB1, a span may begin with "I-X".
    """
    scheme = SpanScheme.of((*expected, *predicted)).strict(expected)
    return None if scheme is None else _tag_scores(expected, predicted, scheme)


def _tag_scores(expected, predicted, scheme):
    numbers = [[len(labels) for labels in side] for side in (expected, predicted)]
    if numbers[0] != numbers[1] or not any(numbers[0]):
        raise ValueError(
            "Every word needs its true label and its predicted one. Received: "
            f"{sum(numbers[0])} true and {sum(numbers[1])} predicted labels, in {len(expected)} "
            f"and {len(predicted)} texts."
        )
    scores = np.zeros(5, int)
    for true, labels in zip(expected, predicted, strict=True):
        spans, predictions = scheme.spans(true), scheme.spans(labels)
        right = sum(map(str.__eq__, true, labels))
        scores += [len(true), right, len(spans), len(predictions), len(spans & predictions)]
    return TagScores(*scores.tolist())


Span = tuple[str, int, int]  # Its type, its first word and its end.

# The places of a word in its span, by the letters of IOB, IOE, IOBES, BILOU and BMES.
_BEGIN, _INSIDE, _END, _SINGLE = "BIES"
_PLACES = {letter: letter for letter in "BIES"} | {"M": _INSIDE, "L": _END, "U": _SINGLE}
_OUTSIDE = ("O", "")
_LETTER = rf"(?P<letter>[{''.join(_PLACES)}])"
_PREFIXED = re.compile(rf"{_LETTER}[-_](?P<name>.+)", re.DOTALL)
_SUFFIXED = re.compile(rf"(?P<name>.+)[-_]{_LETTER}", re.DOTALL)
_OF_IOB = re.compile(r"(?P<letter>[BI])-(?P<name>.+)", re.DOTALL)


class SpanScheme(NamedTuple):
    """How labels of words mark spans, as conlleval and seqeval understand them.

    "B-X" begins a span of the type X, "I-X" is inside one, "E-X" or "L-X" ends one, and "S-X" or
    "U-X" is one of a single word; "O" and "" are outside. A word inside or at the end that follows
    no word of its type before the end of a span begins one, so IOB1 and IOE are read, too, as in
    the evaluation of [CoNLL-2003](https://aclanthology.org/W03-0419). If all labels have it, the
    letter may be a suffix ("X-B") or the whole label. Of any other labels, such as parts of speech,
    each word is a span, except for "B-X" and "I-X" among them.

    Attributes:
        pattern: `re.Pattern` of labels with a place and a type; None if a label is a place.
        begins, ends: The places of the first word and of the last word of spans that count.
    """

    pattern: re.Pattern | None
    begins: str = "BIES"
    ends: str = "BIES"

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> "SpanScheme":
        """Returns the scheme of all labels of several texts."""
        labels = {label for text in texts for label in text if label not in _OUTSIDE}
        for pattern in (_PREFIXED, _SUFFIXED):
            if all(map(pattern.fullmatch, labels)):
                return cls(pattern)
        is_place = {*labels} <= {*_PLACES} and labels & {_BEGIN, _INSIDE}
        return cls(None if is_place else _OF_IOB)

    def place_and_type(self, label: str) -> tuple[str, str]:
        """Returns the place of a word in its span, one of "BIES" or "O", and the type."""
        if label in _OUTSIDE:
            return "O", ""
        if self.pattern is None:
            return _PLACES[label], ""
        match = self.pattern.fullmatch(label)
        if match is None:
            return _SINGLE, label
        return _PLACES[match["letter"]], match["name"]

    def spans(self, labels: Sequence[str]) -> set[Span]:
        """Returns the spans of a text that count."""
        spans: list[list] = []  # Type, first word, end, and the places of the first and last word.
        before = "O", ""
        for i, label in enumerate(labels):
            place, name = self.place_and_type(label)
            if place in (_INSIDE, _END) and before in ((_BEGIN, name), (_INSIDE, name)):
                spans[-1][2], spans[-1][4] = i + 1, place
            elif place != "O":
                spans.append([name, i, i + 1, place, place])
            before = place, name
        return {
            (name, start, end)
            for name, start, end, first, last in spans
            if first in self.begins and last in self.ends
        }

    def strict(self, texts: Sequence[Sequence[str]]) -> "SpanScheme | None":
        """Returns the scheme for spans that are labelled as in `texts`; None if it is unknown."""
        places = {self.place_and_type(label)[0] for labels in texts for label in labels} - {"O"}
        if self.pattern is _OF_IOB or not places & {_BEGIN, _SINGLE}:
            return None
        if places & {_END, _SINGLE}:
            return self._replace(begins=_BEGIN + _SINGLE, ends=_END + _SINGLE)
        strict = self._replace(begins=_BEGIN)
        is_iob2 = all(self.spans(labels) == strict.spans(labels) for labels in texts)
        return strict if is_iob2 else None
