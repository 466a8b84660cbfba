"""A classifier's SavedModel answers as the classifier in Python does.

Axes: N texts, C classes.
"""

import hashlib
import warnings

import numpy as np
import tensorflow as tf

from kformer.export.verify.agreement import TIE
from kformer.model.networks.copying import is_float32

LARGEST = {"classify": 1e-4, "encode": TIE}  # Differences that rounding explains, by signature.


def check_classes(classifier, served, texts) -> dict:
    """Compares the answers of every signature with Python's.

    Args:
        classifier: `kformer.TextClassifier`, the one that was exported.
        served: `kformer.export.ServedClassifier` of it.
        texts: list of N held-out texts.

    Returns:
        dict for the report: `texts`, N, and `texts_sha256`, which tells whether others are the
        same; `equal`, the number of texts with Python's label; `ties`, that of texts with another
        label that is as probable; and `largest_differences` of numbers by signature.

    Raises:
        ValueError: The labels, their order, or the ids of a text differ; or a text has another
            label that is less probable; or a number differs by more than rounding explains.
    """
    if not is_float32(classifier.network):
        classifier = classifier.copy()  # As all exports compute.
    if served.labels != classifier.labels:
        raise ValueError(
            "An export must have the labels of the classifier, in their order. Received: "
            f"{served.labels!r:.99} of the export, {classifier.labels!r:.99} of the classifier."
        )
    with warnings.catch_warnings(action="ignore"):  # Of texts over the limit, several times.
        expected, found = classifier.predict(texts), served.predict(texts)
        vectors = classifier.encode(texts), served.encode(texts)
        rows = classifier.source_rows(texts)
    differ = [i for i, label in enumerate(expected.labels) if found.labels[i] != label]
    for i in differ:
        _check_is_tie(texts[i], classifier.labels, expected, found.labels[i], i)
    differences = {
        "classify": _largest(expected.probabilities, found.probabilities),
        "encode": _largest(*vectors),
    }
    other_ids = sum(map(list.__ne__, rows, _ids(served, texts)))
    if other_ids or not all(differences[name] <= most for name, most in LARGEST.items()):
        raise ValueError(
            "Every signature must answer as Python does. Received: largest differences "
            f"{differences}, and {other_ids} of {len(texts)} texts with other ids."
        )
    return {
        "texts": len(texts),
        "texts_sha256": hashlib.sha256("\n".join(texts).encode("utf-8")).hexdigest(),
        "equal": len(texts) - len(differ),
        "ties": len(differ),
        "largest_differences": differences,
    }


def _check_is_tie(text, labels, expected, label, i):
    """Raises a ValueError unless text `i` has `label` in Python, too, but for rounding."""
    probabilities = expected.probabilities[i]
    behind = probabilities.max() - probabilities[labels.index(label)]
    if not behind <= 2 * LARGEST["classify"]:
        raise ValueError(
            "An export must give the label that Python gives. Received: "
            f"{label!r} of {text!r:.99}, where Python says {expected.labels[i]!r}."
        )


def _ids(served, texts):
    """Returns the ids of each text in the signature `tokenize`, as lists."""
    found = []
    for start in range(0, len(texts), served.max_batch_size):
        batch = texts[start : start + served.max_batch_size]
        answer = served.signatures["tokenize"](text=tf.constant(batch))
        pairs = zip(answer["ids"].numpy(), answer["length"].numpy(), strict=True)
        found += [ids[:length].tolist() for ids, length in pairs]
    return found


def _largest(one, other) -> float:
    return float(np.max(np.abs(one - other), initial=0))
