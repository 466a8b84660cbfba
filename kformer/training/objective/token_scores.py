"""What the logits say of each expected id, computed once for loss and metrics.

Axes: B batch, T target length, N tokens, V vocabulary, D d_model.
"""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from kformer.model.embedding import factors_of


class TokenScores(NamedTuple):
    """What the logits z of tokens say of their expected ids; tensors (N,), float32."""

    place: Any  # integer: which token of the batch, row by row, this is.
    real: Any  # 1 where the token counts, 0 where it is padding.
    chosen: Any  # z[id]
    mean: Any  # mean(z)
    normalizer: Any  # logsumexp(z), so that log p(id) = z[id] - logsumexp(z)
    best: Any  # 1 where no other id has a higher logit.

    @property
    def surprise(self):
        """-log p(id)."""
        return self.normalizer - self.chosen


def token_scores(ids, logits, padding_id: int = 0) -> TokenScores:
    """Scores expected ids by logits.

    Loss and metrics of a training step share one result. Logits of a `TokenEmbedding` are scored
    by their factors and only where they are real: then nobody reads the logits of the whole
    batch, and a graph does not compute them.

    Args:
        ids: integer tensor (B, T).
        logits: float tensor (B, T, V).
        padding_id: The expected id that does not count.

    Returns:
        `TokenScores` of all B * T tokens, or of the real ones alone.
    """
    known = getattr(logits, "_kformer_scores", None)
    if known and known[0] is ids and known[1] == padding_id:
        return known[2]
    integers = ops.cast(ids, "int32")
    factors = factors_of(logits)
    if factors is None:
        return _from_logits(integers, logits, padding_id)
    scores = _from_factors(integers, *factors, padding_id)
    logits._kformer_scores = ids, padding_id, scores
    return scores


def _from_logits(ids, logits, padding_id):
    ids = ops.reshape(ids, (-1,))
    logits = ops.reshape(ops.cast(logits, "float32"), (-1, logits.shape[-1]))
    chosen = ops.take_along_axis(logits, ids[:, None], axis=-1)[:, 0]
    return TokenScores(
        place=ops.arange(ops.shape(ids)[0]),
        real=ops.cast(ops.not_equal(ids, padding_id), "float32"),
        chosen=chosen,
        mean=ops.mean(logits, axis=-1),
        normalizer=ops.logsumexp(logits, axis=-1),
        best=ops.cast(chosen >= ops.max(logits, axis=-1), "float32"),
    )


def _from_factors(ids, vectors, table, padding_id):
    ids = ops.reshape(ids, (-1,))
    (place,) = ops.nonzero(ops.not_equal(ids, padding_id))
    ids = ops.take(ids, place)  # (N,)
    vectors = ops.take(ops.reshape(vectors, (-1, vectors.shape[-1])), place, axis=0)  # (N, D)
    normalizer, best = _normalize(vectors, table, ids)

    def score(rows):
        return ops.sum(ops.cast(vectors * rows, "float32"), axis=-1)

    return TokenScores(
        place=place,
        real=ops.ones_like(normalizer),
        chosen=score(ops.take(table, ids, axis=0)),
        mean=score(ops.mean(table, axis=0)),
        normalizer=normalizer,
        best=best,
    )


@ops.custom_gradient
def _normalize(vectors, table, ids):
    """logsumexp of the logits `vectors` x `table`, and whether `ids` have the highest; (N,) each.

    Between forwards and backwards it keeps the probabilities and no other (N, V) tensor.
    """
    logits = ops.matmul(vectors, ops.transpose(table))
    highest = ops.max(logits, axis=-1, initial=-np.inf)  # No row at all is fine, too.
    best = ops.take_along_axis(logits, ids[:, None], axis=-1)[:, 0] >= highest
    probabilities = ops.softmax(logits)
    # logsumexp(z) = max(z) - log(max(p)), where max(p) is at least 1 / V.
    normalizer = ops.cast(highest, "float32") - ops.log(
        ops.cast(ops.max(probabilities, axis=-1, initial=0.0), "float32")
    )

    def gradient(upstream, _):
        weight = ops.cast(upstream, vectors.dtype)[:, None]
        return (
            ops.matmul(probabilities, table) * weight,
            ops.matmul(ops.transpose(probabilities), vectors * weight),
            None,
        )

    return (normalizer, ops.cast(best, "float32")), gradient
