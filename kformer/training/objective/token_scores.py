"""Scores of the expected ids by their logits, computed once for loss and metrics.

Axes: B batch, T target length, N tokens, K ids of the teachers, V vocabulary, D d_model.
"""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from kformer.backend import graph_cache, in_parts
from kformer.model.embedding import factors_of
from kformer.training.objective.expected import Expected, expected


class TokenScores(NamedTuple):
    """Scores of the expected ids of N tokens by their logits z; tensors (N,), float32."""

    place: Any  # integer: the token's index in the flattened batch (B * T,).
    real: Any  # 1 where the token counts, 0 where it is padding.
    target_logit: Any  # z[id]
    mean: Any  # mean(z)
    log_normalizer: Any  # logsumexp(z), so that log p(id) = z[id] - logsumexp(z)
    best: Any  # 1 where no other id has a higher logit.
    teacher_logit: Any = None  # sum(q z), where q are the probabilities of the teachers, if any.

    @property
    def surprise(self):
        """-log p(id)."""
        return self.log_normalizer - self.target_logit


def token_scores(y_true: Any, logits: Any, padding_id: int = 0) -> TokenScores:
    """Scores expected ids by logits.

    In a TensorFlow graph, the loss and the metrics of a training step share one result, and logits
    of a `TokenEmbedding` are scored from their factors, for real tokens only. Nothing reads the
    logits of the whole batch then, so the graph does not compute them.

    Args:
        y_true: integer tensor (B, T), the expected ids; or another one that `expected` takes.
        logits: float tensor (B, T, V); of labels (B, V).
        padding_id: The expected id that does not count.

    Returns:
        `TokenScores` of all B * T tokens, or of the real ones alone.
    """
    y_true, factors = ops.convert_to_tensor(y_true), factors_of(logits)
    if factors is None:
        return _from_logits(expected(y_true, logits, padding_id), logits)
    cache, key = graph_cache(logits), ("scores", y_true.ref(), logits.ref(), padding_id)
    if key not in cache:
        cache[key] = _from_factors(expected(y_true, logits, padding_id), *factors)
    return cache[key]


def _from_logits(wanted: Expected, logits):
    ids = ops.reshape(wanted.ids, (-1,))
    logits = ops.reshape(ops.cast(logits, "float32"), (-1, logits.shape[-1]))
    target_logit = ops.take_along_axis(logits, ids[:, None], axis=-1)[:, 0]
    return TokenScores(
        place=ops.arange(ops.shape(ids)[0]),
        real=ops.reshape(wanted.real, (-1,)),
        target_logit=target_logit,
        mean=ops.mean(logits, axis=-1),
        log_normalizer=ops.logsumexp(logits, axis=-1),
        best=ops.cast(target_logit >= ops.max(logits, axis=-1), "float32"),
        teacher_logit=_teacher_logit(
            wanted, lambda ids: ops.take_along_axis(logits, ids, axis=-1), lambda tokens: tokens
        ),
    )


def _from_factors(wanted: Expected, vectors, table):
    counts = ops.reshape(wanted.real, (-1,))
    (place,) = ops.nonzero(counts)

    def real(tokens):
        return ops.take(tokens, place, axis=0)

    ids = real(ops.reshape(wanted.ids, (-1,)))  # (N,)
    vectors = real(ops.reshape(vectors, (-1, vectors.shape[-1])))  # (N, D)
    log_normalizer, best = in_parts(
        lambda vectors, ids: _normalize(vectors, table, ids), vectors, ids
    )

    def score(rows):
        return ops.sum(ops.cast(vectors * rows, "float32"), axis=-1)

    def score_several(ids):  # (N, K)
        products = ops.matmul(ops.take(table, ids, axis=0), vectors[:, :, None])
        return ops.cast(products[:, :, 0], "float32")

    return TokenScores(
        place=place,
        real=real(counts),
        target_logit=score(ops.take(table, ids, axis=0)),
        mean=score(ops.mean(table, axis=0)),
        log_normalizer=log_normalizer,
        best=best,
        teacher_logit=_teacher_logit(wanted, score_several, real),
    )


def _teacher_logit(wanted, score, real):
    """Returns the mean logit of the teachers' ids, by their probabilities; None without teachers.

    Args:
        wanted: `Expected` of the batch.
        score: Function from ids (N, K) to their logits.
        real: Function that selects the scored tokens of an array (B * T, K).
    """
    if wanted.teacher_ids is None:
        return None
    ids, probabilities = (
        real(ops.reshape(part, (-1, part.shape[-1])))
        for part in (wanted.teacher_ids, wanted.teacher_probabilities)
    )
    return ops.sum(score(ids) * probabilities, axis=-1)


@ops.custom_gradient
def _normalize(vectors, table, ids):
    """Returns logsumexp of `vectors` x `table`, and whether `ids` have the highest; (N,) each.

    Of all (N, V) tensors, only the probabilities are kept for the gradient.
    """
    logits = ops.matmul(vectors, ops.transpose(table))
    highest = ops.max(logits, axis=-1, initial=-np.inf)  # There may be no row at all.
    best = ops.take_along_axis(logits, ids[:, None], axis=-1)[:, 0] >= highest
    probabilities = ops.softmax(logits)
    # logsumexp(z) = max(z) - log(max(p)), where max(p) is at least 1 / V.
    log_normalizer = ops.cast(highest, "float32") - ops.log(
        ops.cast(ops.max(probabilities, axis=-1, initial=0.0), "float32")
    )

    def gradient(upstream, _):
        weight = ops.cast(upstream, vectors.dtype)[:, None]
        return (
            ops.matmul(probabilities, table) * weight,
            ops.matmul(ops.transpose(probabilities), vectors * weight),
            None,
        )

    return (log_normalizer, ops.cast(best, "float32")), gradient
