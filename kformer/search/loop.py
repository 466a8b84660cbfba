"""What all searches share: the contract of a step, the loop, and how ids are written and picked.

Axes: B batch, K beams, T the longest limit, V vocabulary, S source length, N sequences returned.
"""

import itertools
from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.gather import rows_of

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


def loop(state, advance, limits, step):
    """Advances `state` until every row has ended or reached its limit.

    Args:
        state: NamedTuple of tensors, with `position`, int32 (), `ended`, bool (B,), `rows`, see
            `rows_at_first`, and `cache`; whatever else there is has B as its first axis.
        advance: callable state -> state, of the same shapes.
        limits: int32 tensor (B,), the most ids that each row may get.
        step: as `kformer.search` has it.

    Returns:
        the last state of every row; the cache is of no use any more.
    """
    kind = type(state)

    def running(now):
        return ops.logical_not(now.ended) & (now.position < left_of(limits, now.rows))

    def goes_on(now):
        return ops.any(running(now))

    def run(state, condition, body):
        values = ops.while_loop(
            lambda *values: condition(kind(*values)),
            lambda *values: _as_known(values, tuple(body(kind(*values)))),
            tuple(state),
        )
        return kind(*values)

    def advance_while(now, condition):
        block = getattr(step, "block", None)
        if block is None:
            return run(now, condition, advance)

        def run_block(now):
            start = now.position
            end = start + block
            now = run(now, lambda now: goes_on(now) & (now.position < end), advance)
            return now._replace(cache=step.settle(now.cache, start))

        return run(now, condition, run_block)

    def half_go_on(now):
        number = ops.sum(ops.cast(running(now), "int32"))
        return number > ops.shape(now.ended)[0] // 2

    leave = getattr(step, "leave", None)
    enough_go_on = half_go_on if leave else goes_on  # Who goes on then does so with fewer.
    for room, larger in itertools.pairwise(getattr(step, "rooms", ())):
        state = advance_while(state, lambda now, end=room: enough_go_on(now) & (now.position < end))
        state = state._replace(cache=step.grow(state.cache, larger))
    if leave:
        return leave(state, running, advance_while, step.keep_rows)
    return advance_while(state, goes_on)


def rows_at_first(step, batch):
    """Returns the `rows` of a state: int32 (B,), which rows are left; () where none may leave."""
    return ops.arange(batch, dtype="int32") if getattr(step, "leave", None) else ()


def left_of(values, rows):
    """Returns `values` (B, ...) of the `rows` that are left."""
    return values if isinstance(rows, tuple) else rows_of(values, rows)


def _as_known(before, after):
    """`after`, of the shapes of `before`: a step changes none, but TensorFlow may lose sight."""
    for old, new in zip(keras.tree.flatten(before), keras.tree.flatten(after), strict=True):
        if hasattr(new, "set_shape"):
            new.set_shape(old.shape)
    return after


def best_continuations(step, logits, count, constraints, state):
    """The best next ids of each beam, and their log-probabilities.

    Args:
        step: as `kformer.search` has it; its `top_k`, if it has one, is used.
        logits: float tensor (B, K, V).
        count: How many C.
        constraints: callables (log_probabilities (B, K, V), ids, position, rows) ->
            log_probabilities; see `kformer.search.constraints`.
        state: that of the search. Its `ids`, int32 (B, K, T), are what each beam has chosen so
            far, and its `position` is the number of these.

    Returns:
        log_probabilities: float32 tensor (B, K, C), the highest first.
        ids: int32 tensor (B, K, C).
    """
    top_k = getattr(step, "top_k", ops.top_k)
    logits = ops.cast(logits, "float32")
    if constraints:
        logits = ops.log_softmax(logits)
        for constraint in constraints:
            logits = constraint(logits, state.ids, state.position, state.rows)
        best, ids = top_k(logits, count)
        return best, ops.cast(ids, "int32")
    best, ids = top_k(logits, count)
    # Of all V log-probabilities only the best are needed: log-sum-exp is one pass, not three.
    highest = best if count == 1 else ops.max(best, axis=-1, keepdims=True)
    normalizer = highest + ops.log(ops.sum(ops.exp(logits - highest), axis=-1, keepdims=True))
    return best - normalizer, ops.cast(ids, "int32")


def write(ids, new, position):
    """Writes `new` (...,) at `position` of `ids` (..., T)."""
    here = ops.equal(ops.arange(ops.shape(ids)[-1]), position)  # (T,)
    return ops.where(here, ops.expand_dims(new, -1), ids)


def pick(values, order):
    """Picks entries `order` (B, N) from axis 1 of `values` (B, M) or (B, M, T)."""
    shape = ops.shape(values)
    first = ops.expand_dims(ops.arange(shape[0], dtype="int32") * shape[1], -1)  # (B, 1)
    flat = ops.reshape(values, (-1, *shape[2:]))  # (B * M,) or (B * M, T)
    return rows_of(flat, first + order)
