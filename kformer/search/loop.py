"""What all searches share: the contract of a step, the loop, and how ids are written and picked.

Axes: B batch, K beams, T the longest limit, V vocabulary, S source length, N sequences returned.
"""

from typing import Any, NamedTuple

from keras import ops

LEAST = -1e9  # The score of what must not be chosen; finite, so that sums of it stay finite.


class Step(NamedTuple):
    """What a step returns."""

    logits: Any  # float (B, K, V)
    cache: Any  # What the next step gets: tensors of the shapes that this one got.
    attention: Any  # float (B, K, S): which source positions it looked at; 0 for padding.


class Found(NamedTuple):
    """What a search returns: N sequences a row, best first."""

    ids: Any  # int32 (B, N, T), without the start id; padding after the end id.
    scores: Any  # float32 (B, N); `LEAST` where there are not so many sequences
    ended: Any  # bool (B, N): False where the limit came before the end id.


def loop(state, advance, limits):
    """Advances `state` until every row has ended or reached its limit.

    Args:
        state: NamedTuple of tensors, with `position`, int32 (), and `ended`, bool (B,).
        advance: callable state -> state, of the same shapes.
        limits: int32 tensor (B,), the most ids that each row may get.
    """
    kind = type(state)

    def goes_on(*values):
        now = kind(*values)
        return ops.any(ops.logical_not(now.ended) & (now.position < limits))

    return kind(*ops.while_loop(goes_on, lambda *values: tuple(advance(kind(*values))), state))


def best_continuations(logits, count, constraints, ids, position):
    """The best next ids of each beam, and their log-probabilities.

    Args:
        logits: float tensor (B, K, V).
        count: How many C.
        constraints: callables (log_probabilities (B, K, V), ids, position) -> log_probabilities;
            see `kformer.search.constraints`.
        ids: int32 tensor (B, K, T), what each beam has chosen so far.
        position: int32 scalar tensor, the number of these.

    Returns:
        log_probabilities: float32 tensor (B, K, C), the highest first.
        ids: int32 tensor (B, K, C).
    """
    logits = ops.cast(logits, "float32")
    if constraints:
        logits = ops.log_softmax(logits)
        for constraint in constraints:
            logits = constraint(logits, ids, position)
        best, ids = ops.top_k(logits, count)
        return best, ops.cast(ids, "int32")
    best, ids = ops.top_k(logits, count)  # LiteRT lacks an op of `ops.argmax`.
    highest = best[..., :1]
    # Of all V log-probabilities only the best are needed: log-sum-exp is one pass, not three.
    normalizer = highest + ops.log(ops.sum(ops.exp(logits - highest), axis=-1, keepdims=True))
    return best - normalizer, ops.cast(ids, "int32")


def write(ids, new, position):
    """Writes `new` (...,) at `position` of `ids` (..., T)."""
    here = ops.arange(ops.shape(ids)[-1]) == position  # (T,)
    return ops.where(here, new[..., None], ids)


def pick(values, order):
    """Picks entries `order` (B, N) from axis 1 of `values` (B, M) or (B, M, T)."""
    shape = ops.shape(values)
    rows = ops.arange(shape[0], dtype="int32")[:, None] * shape[1] + ops.cast(order, "int32")
    flat = ops.reshape(values, (-1, *shape[2:]))  # (B * M,) or (B * M, T)
    return ops.take(flat, rows, axis=0)
