"""Scores of the expected ids by their logits, computed once for loss and metrics.

Axes: B batch, T target length, N tokens, K ids of the teachers, V vocabulary, D d_model.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.backend import graph_cache, highest_in_rows, in_parts
from kformer.model.embedding import factors_of
from kformer.training.objective.expected import Expected, expected


class TokenScores(NamedTuple):
    """Scores of the expected ids of N tokens by their logits z; tensors (N,), float32.

    With two views of each example, `divergence` compares them, for M tokens; tensors (M,), float32.
    """

    place: Any  # integer: the token's index in the flattened batch (B * T,).
    real: Any  # 1 where the token counts, 0 where it is padding or takes no part.
    target_logit: Any  # z[id]
    mean: Any  # mean(z)
    log_normalizer: Any  # logsumexp(z), so that log p(id) = z[id] - logsumexp(z)
    best: Any  # 1 where no other id has a higher logit.
    teacher_logit: Any = None  # sum(q z), where q are the probabilities of the teachers, if any.
    divergence: Any = None  # Mean of KL(p || q) and KL(q || p) of a token's two views, in nats.
    compared: Any = None  # 1 where the first view is real.

    @property
    def surprise(self):
        """-log p(id)."""
        return self.log_normalizer - self.target_logit


def token_scores(
    y_true: Any, logits: Any, padding_id: int = 0, ignored_ids: tuple[int, ...] = ()
) -> TokenScores:
    """Scores expected ids by logits.

    In a TensorFlow graph, the loss and the metrics of a training step share one result, and logits
    of a `TokenEmbedding` are scored from their factors, for real tokens only. Nothing reads the
    logits of the whole batch then, so the graph does not compute them.

    Args:
        y_true: integer tensor (B, T), the expected ids; or another one that `expected` takes.
        logits: float tensor (B, T, V); of labels (B, V).
    """
    y_true, factors = ops.convert_to_tensor(y_true), factors_of(logits)
    left_out = padding_id, ignored_ids
    if factors is None:
        return _from_logits(expected(y_true, logits, *left_out), logits)
    cache, key = graph_cache(logits), ("scores", y_true.ref(), logits.ref(), *left_out)
    assert cache is not None  # Logits of a graph alone have factors.
    if key not in cache:
        cache[key] = _from_factors(expected(y_true, logits, *left_out), *factors)
    return cache[key]


def _from_logits(wanted: Expected, logits):
    ids = ops.reshape(wanted.ids, (-1,))
    logits = ops.reshape(ops.cast(logits, "float32"), (-1, logits.shape[-1]))
    divergence = compared = None
    if wanted.has_views:
        views = ops.reshape(
            logits, (-1, 2, ops.size(ids) // ops.shape(wanted.ids)[0], logits.shape[-1])
        )
        divergence = ops.reshape(_divergence(views[:, 0], views[:, 1]), (-1,))
        compared = ops.reshape(wanted.real[::2], (-1,))
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
        divergence=divergence,
        compared=compared,
    )


def _from_factors(wanted: Expected, vectors, table):
    place = _places(wanted)

    def real(tokens):
        return ops.take(tokens, place, axis=0)

    ids = real(ops.reshape(wanted.ids, (-1,)))  # (N,)
    vectors = real(ops.reshape(vectors, (-1, vectors.shape[-1])))  # (N, D)
    counts = real(ops.reshape(wanted.real, (-1,)))
    divergence = compared = None
    if wanted.has_views:
        *normalized, divergence = in_parts(
            lambda *views: _compare(*views, table),
            *(half for tensor in (vectors, ids) for half in ops.split(tensor, 2)),
        )
        log_normalizer, best = (
            ops.concatenate(halves) for halves in (normalized[::2], normalized[1::2])
        )
        compared = counts[: ops.shape(divergence)[0]]
    else:
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
        real=counts,
        target_logit=score(ops.take(table, ids, axis=0)),
        mean=score(ops.mean(table, axis=0)),
        log_normalizer=log_normalizer,
        best=best,
        teacher_logit=_teacher_logit(wanted, score_several, real),
        divergence=divergence,
        compared=compared,
    )


def _places(wanted):
    """Returns the indices of the real tokens in the flattened batch, integer (N,).

    With two views of each example, they are those of all first views, and then those of the same
    tokens in the second views.
    """
    if not wanted.has_views:
        (place,) = ops.nonzero(ops.reshape(wanted.real, (-1,)))
        return place
    rows = ops.shape(wanted.ids)[0]
    length = ops.size(wanted.ids) // rows  # 1 for labels.
    (place,) = ops.nonzero(ops.reshape(wanted.real[::2], (-1,)))
    place = ops.cast(place, "int32")
    first = place + place // length * length
    return ops.concatenate([first, first + length])


def _teacher_logit(wanted, score, real):
    """Returns the mean logit of the teachers' ids, by their probabilities; None without teachers.

    Args:
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
    probabilities, _, log_normalizer, best = _probabilities(vectors, table, ids)

    def gradient(upstream, _):
        weight = ops.cast(upstream, vectors.dtype)[:, None]
        return (
            ops.matmul(probabilities, table) * weight,
            ops.matmul(ops.transpose(probabilities), vectors * weight),
            None,
        )

    return (log_normalizer, best), gradient


def _probabilities(vectors, table, ids):
    """Returns probabilities and logits (N, V), and both results of `_normalize`."""
    logits = ops.matmul(vectors, ops.transpose(table))
    highest, best_id = highest_in_rows(logits)
    best = ops.take_along_axis(logits, ids[:, None], axis=-1) >= highest
    probabilities = ops.softmax(logits)
    # logsumexp(z) = max(z) - log(max(p)), where max(p) is at least 1 / V.
    log_normalizer = ops.cast(highest, "float32") - ops.log(
        ops.cast(ops.take_along_axis(probabilities, best_id, axis=-1), "float32")
    )
    return probabilities, logits, log_normalizer[:, 0], ops.cast(best, "float32")[:, 0]


def _divergence(first, second):
    """Returns the mean of KL(p || q) and KL(q || p) of logits (..., V) of p and q, (...,)."""
    # The normalizers of log p - log q cancel, because sum(p - q) = 0.
    difference = ops.softmax(first) - ops.softmax(second)
    return ops.sum(difference * (first - second), axis=-1) / 2


@ops.custom_gradient
def _compare(first, second, first_ids, second_ids, table):
    """Returns the results of `_normalize` for two views (N, D), and their divergence (N,).

    Of all (N, V) tensors, the probabilities and the differences of logits are kept for the
    gradient.
    """
    views = [
        _probabilities(vectors, table, ids)
        for vectors, ids in ((first, first_ids), (second, second_ids))
    ]
    (p, p_logits, *first_results), (q, q_logits, *second_results) = views
    ratio = p_logits - q_logits  # log(p / q), but for a number in each row.
    divergence = ops.sum(ops.cast((p - q) * ratio, "float32"), axis=-1) / 2

    def gradient(*upstream):
        normalizers, by_divergence = upstream[0:4:2], upstream[4]
        half = ops.cast(by_divergence / 2, p.dtype)[:, None]
        sides = []
        for probabilities, sign, normalizer in ((p, 1, normalizers[0]), (q, -1, normalizers[1])):
            mean = ops.sum(probabilities * ratio, axis=-1, keepdims=True)
            slope = sign * ((p - q) + probabilities * (ratio - mean))
            weight = ops.cast(normalizer, p.dtype)[:, None]
            sides.append(probabilities * weight + slope * half)
        return (
            *(ops.matmul(side, table) for side in sides),
            None,
            None,
            sum(
                ops.matmul(ops.transpose(side), vectors)
                for side, vectors in zip(sides, (first, second), strict=True)
            ),
        )

    return (*first_results, *second_results, divergence), gradient
