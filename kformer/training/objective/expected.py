"""The expected output of each token: an id, and for students the teachers' probabilities.

A network has one output, so `fit` takes one array for it. For a student both are in that array.

Consistency training (`kformer.training.data.consistency`) computes two views of each example: rows
2 i and 2 i + 1 of a batch. The array then has a last axis of size 2, with the values described
below, and with 1 where a token takes no part in the cross entropy.

Axes: B batch, T target length, K ids of the teachers, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from kformer.arguments import check_integer
from kformer.backend import assert_in_graph, graph_cache, is_traced


class Expected(NamedTuple):
    """The right answer for each token, or for each text of a classifier.

    Attributes:
        ids: int32 tensor (B, T); of a classifier (B,), the labels. Where `real` is 0, all are 0.
        real: float32 tensor, as `ids`: 1 where an id counts, 0 where it is padding or takes no part
            in the cross entropy. In a graph it is NaN if one cannot be an id.
        teacher_ids: int32 tensor (B, T, K), the ids that the teachers find most likely; or None.
        teacher_probabilities: float32 tensor (B, T, K), their probabilities, divided by their sum;
            or None.
        has_views: Whether rows 2 i and 2 i + 1 are two views of one example.
    """

    ids: Any
    real: Any
    teacher_ids: Any = None
    teacher_probabilities: Any = None
    has_views: bool = False


def expected(
    y_true: Any, logits: Any, padding_id: int = 0, ignored_ids: tuple[int, ...] = ()
) -> Expected:
    """Takes the expectation of `fit` apart; loss and metrics of a TensorFlow graph share the parts.

    Args:
        y_true: tensor (B, T) or (B, T, 1), ids; or (B,) or (B, 1), labels: whole numbers from 0 to
            V - 1, or `padding_id`. Or integer tensor (B, T, 1 + 2 K), the id, K ids of the
            teachers, and their probabilities as integers, in any unit. For two views of each
            example (B, T, 1, 2), (B, 1, 2) or (B, T, 1 + 2 K, 2).
        logits: float tensor (B, T, V); of labels (B, V).
    """
    y_true = ops.convert_to_tensor(y_true)
    cache, key = graph_cache(y_true), None
    if cache is not None:
        key = "expected", y_true.ref(), str(logits.shape), padding_id, ignored_ids
        if key in cache:
            return cache[key]
    parts = _parts(y_true, tuple(logits.shape), padding_id)
    if ignored_ids:
        counts = ops.all(parts.ids[..., None] != np.array(ignored_ids, "int32"), axis=-1)
        ids, real = (ops.where(counts, part, ops.zeros_like(part)) for part in parts[:2])
        parts = parts._replace(ids=ids, real=real)
    if cache is not None:
        cache[key] = parts
    return parts


def checked_ids(ignored_ids: Any) -> tuple[int, ...]:
    """Returns ids as a tuple of integers."""
    return tuple(check_integer("ignored_ids", i, least=0) for i in ignored_ids)


def weights_of_tokens(sample_weight: Any, ids: Any, place: Any):
    """Returns the weights of the tokens at `place` of `ids` (B, T), float32 (N,).

    Args:
        sample_weight: float tensor (B,) or (B, 1), of whole texts, or (B, T) or (B, T, 1), of
            tokens; or a scalar. Of labels (B,) or (B, 1).
        ids: int32 tensor (B, T); of labels (B,).
        place: integer tensor (N,), indices of tokens in the flattened batch.
    """
    weights = ops.cast(sample_weight, "float32")
    shape, sizes = tuple(weights.shape), tuple(ids.shape)
    if len(shape) == len(sizes) + 1 and shape[-1] == 1:
        weights = ops.squeeze(weights, axis=-1)
    elif len(shape) == 1 and len(sizes) == 2:
        weights = weights[:, None]
    weights_shape = tuple(weights.shape)
    shape_by_text = (*sizes[:1], *(1 for _ in sizes[1:]))
    if weights_shape and not any(_fits(weights_shape, wanted) for wanted in (sizes, shape_by_text)):
        raise ValueError(
            "Sample weights must have the shape (B,), a weight for each text, or (B, T), one for "
            f"each token. Received: sample_weight of shape {shape}, for ids of shape {sizes}."
        )
    return ops.take(ops.reshape(ops.broadcast_to(weights, ops.shape(ids)), (-1,)), place)


def _parts(y_true, logits_shape, padding_id):
    if len(y_true.shape) == len(logits_shape) + 1 and y_true.shape[-1] == 2:
        values, left_out = y_true[..., 0], ops.cast(y_true[..., 0, 1], "float32")
        parts = _parts(values, logits_shape, padding_id)
        return parts._replace(real=parts.real * (1 - left_out), has_views=True)
    shape, (*tokens, vocab_size) = tuple(y_true.shape), logits_shape
    dtype = keras.backend.standardize_dtype(y_true.dtype)
    number = 0  # K
    if _fits(shape, (*tokens, 1)):
        y_true = ops.squeeze(y_true, axis=-1)
    elif not _fits(shape, tokens):
        number = _number_of_teachers(shape, tokens, dtype)
        if not number:
            raise _not_expected(shape, dtype, logits_shape)
    if not number:
        ids, real, sound = _checked(y_true, vocab_size, padding_id, shape)
        return Expected(ids, _unless(sound, real))
    parts = ops.cast(y_true, "int32")
    ids, real, sound = _checked(parts[..., 0], vocab_size, padding_id, shape)
    teacher_ids, _, teachers_sound = _checked(parts[..., 1 : 1 + number], vocab_size, 0, shape)
    units = ops.cast(parts[..., 1 + number :], "float32")
    total = ops.maximum(ops.sum(units, axis=-1, keepdims=True), 1.0)  # Padding has none.
    real = _unless(teachers_sound, _unless(sound, real))
    return Expected(ids, real, teacher_ids, units / total)


def _fits(shape, wanted):
    """Whether a shape may be the one that is wanted, as far as both are known."""
    return len(shape) == len(wanted) and all(
        None in (size, wanted_size) or size == wanted_size
        for size, wanted_size in zip(shape, wanted, strict=True)
    )


def _number_of_teachers(shape, tokens, dtype):
    """Returns K of integers (B, T, 1 + 2 K); 0 of something else, as one-hot vectors of floats."""
    last = shape[-1] if shape else None
    if len(tokens) != 2 or not _fits(shape, (*tokens, last)):
        return 0
    return (last - 1) // 2 if last and last % 2 and "int" in dtype else 0


def _not_expected(shape, dtype, logits_shape):
    return ValueError(
        "`y_true` must be ids of shape (B, T), labels of shape (B,), or integers of shape "
        "(B, T, 1 + 2 K) with the ids of teachers, for logits (B, T, V) or (B, V). "
        f"Received: y_true of shape {shape} and {dtype=}, logits of shape {logits_shape}."
    )


def _checked(values, vocab_size, padding_id, shape):
    """Returns ids without padding as int32, which of them are real, and if all are ids."""
    dtype = keras.backend.standardize_dtype(values.dtype)
    is_float = keras.backend.is_float_dtype(dtype)
    if not is_float and dtype != "int64":
        values = ops.cast(values, "int32")
    is_real = ops.not_equal(values, padding_id)
    numbers = ops.where(is_real, values, ops.zeros_like(values))
    lowest, highest = ops.min(numbers, initial=0), ops.max(numbers, initial=0)
    sound = (lowest >= 0) & (highest < vocab_size)
    if is_float:  # NaN is equal to nothing.
        sound = sound & ops.all(ops.equal(numbers, ops.floor(numbers)))
    rule = (
        f"Expected ids must be whole numbers from 0 to {vocab_size - 1}, or the padding id, "
        f"{padding_id}."
    )
    if is_traced(sound):
        received = "Received: y_true with values from", lowest, "to", highest
        assert_in_graph(sound, (rule, *received, f"and of shape {shape}."))
    elif not bool(sound):
        raise ValueError(
            f"{rule} Received: y_true with values from {lowest} to {highest} and of shape {shape}."
        )
    ids = ops.clip(ops.cast(numbers, "int32"), 0, vocab_size - 1)
    return ids, ops.cast(is_real, "float32"), sound if is_traced(sound) else None


def _unless(sound, real):
    """Returns `real`; NaN instead if it is known in the graph alone that a value is not sound."""
    return real if sound is None else real + ops.where(sound, 0.0, float("nan"))
