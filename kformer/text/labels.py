"""The labels of a classifier, and what it says of texts.

Axes: N texts, C classes.
"""

from typing import Any, NamedTuple

from kformer.arguments import replace_lone_surrogates


class Predictions(NamedTuple):
    """What a classifier says of N texts.

    Attributes:
        labels: list of N strings, the most probable label of each text.
        probabilities: float32 array (N, C), in the order of the classifier's labels.
    """

    labels: list[str]
    probabilities: Any


def predictions(labels, probabilities) -> Predictions:
    """Returns `Predictions`; of labels that are equally probable, the first is chosen.

    Args:
        labels: The C labels of the classifier.
        probabilities: float32 array (N, C).
    """
    return Predictions([labels[i] for i in probabilities.argmax(axis=1)], probabilities)


def check_labels(labels) -> tuple[str, ...]:
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
