"""The signatures beside `classify` say what the classifier in Python says.

Axes: N texts.
"""

import numpy as np
import tensorflow as tf

from kformer.export.verify.agreement import TIE


def check_classes(classifier, served, texts) -> dict:
    """Compares the labels' order, `encode` and `tokenize` with Python's.

    Args:
        classifier: `kformer.TextClassifier`, the one that was exported.
        served: `kformer.export.ServedClassifier` of it.
        texts: list of N texts, at most as many as `served` takes at once.

    Returns:
        dict for the report: how many texts were compared, and the largest difference of vectors.

    Raises:
        ValueError: The labels, their order, or the ids of a text differ; or a number by more than
            rounding explains.
    """
    if served.labels != classifier.labels:
        raise ValueError(
            "An export must have the labels of the classifier, in their order. Received: "
            f"{served.labels!r:.99} of the export, {classifier.labels!r:.99} of the classifier."
        )
    if not texts:
        return {"sentences": 0}
    difference = float(np.max(np.abs(classifier.encode(texts) - served.encode(texts))))
    answer = served.signatures["tokenize"](text=tf.constant(texts))
    pairs = zip(answer["ids"].numpy(), answer["length"].numpy(), strict=True)
    found = [ids[:length].tolist() for ids, length in pairs]
    other_ids = sum(map(list.__ne__, classifier.source_rows(texts), found))
    if other_ids or not difference <= TIE:
        raise ValueError(
            "Every signature must answer as Python does. Received: a largest difference of "
            f"{difference} between vectors, and {other_ids} of {len(texts)} texts with other ids."
        )
    return {"sentences": len(texts), "largest_differences": {"encode": difference}}
