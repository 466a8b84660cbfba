"""What training expects of each token: an id, and perhaps how likely teachers find some ids.

A network has one output, so `fit` takes one array for it. For a student both are in that array.

Axes: B batch, T target length, K ids of the teachers.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.backend import graph_cache


class Expected(NamedTuple):
    """The right answer for each token, or for each text of a classifier.

    Attributes:
        ids: int32 tensor (B, T); of a classifier (B,), the labels.
        teacher_ids: int32 tensor (B, T, K), the ids that the teachers find most likely; or None.
        teacher_probabilities: float32 tensor (B, T, K), their probabilities, divided by their sum;
            or None.
    """

    ids: Any
    teacher_ids: Any = None
    teacher_probabilities: Any = None


def expected(y_true) -> Expected:
    """Takes the expectation of `fit` apart; loss and metrics of a TensorFlow graph share the parts.

    Args:
        y_true: integer tensor (B, T), ids, or (B,), labels; or (B, T, 1 + 2 K), the id, K ids of
            the teachers, and their probabilities as integers, in any unit.
    """
    y_true = ops.convert_to_tensor(y_true)
    if len(y_true.shape) < 3:
        return Expected(ops.cast(y_true, "int32"))
    cache, key = graph_cache(y_true), None
    if cache is not None:
        key = "expected", y_true.ref()
        if key in cache:
            return cache[key]
    parts = ops.cast(y_true, "int32")
    number = (parts.shape[-1] - 1) // 2
    units = ops.cast(parts[..., 1 + number :], "float32")
    total = ops.maximum(ops.sum(units, axis=-1, keepdims=True), 1.0)  # Padding has none.
    found = Expected(parts[..., 0], parts[..., 1 : 1 + number], units / total)
    if cache is not None:
        cache[key] = found
    return found
