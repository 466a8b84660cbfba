"""What all searches share: the contract of a step, the loop, and how ids are written and picked.

Axes: B batch, K beams, T the longest limit, V vocabulary, S source length, N sequences returned.
"""

import itertools
from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.backend import rows_of
from kformer.decoding.search.columns import select_column
from kformer.decoding.search.top_k import log_sum_exp_of_graph

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
        advance: callable (step, state) -> state, of the same shapes.
        limits: int32 tensor (B,), the most ids that each row may get.
        step: as `kformer.decoding.search` has it.

    Returns:
        the last state of every row; the cache is of no use any more.
    """
    run = _Loop(advance, limits, step)
    leave = getattr(step, "leave", None)
    rooms = getattr(step, "rooms", ())
    if leave:
        for room, larger in itertools.pairwise(rooms):
            state = run.within(room, state, run.half_go_on)  # The others then go on alone.
            state = state._replace(cache=step.grow(state.cache, larger))
        return leave(state, run.running, run.advance_while, step.keep_rows)
    return run.through(rooms, state)


class _Loop:
    """Advances states, and tells how far they are; arguments as for `loop`."""

    def __init__(self, advance, limits, step):
        self._advance, self._limits, self._step = advance, limits, step
        self._block = getattr(step, "block", None)

    def running(self, state, limits=None):
        """Which rows of the state, bool (B,), have not ended; for other limits, int32 (B,)."""
        limits = left_of(self._limits if limits is None else limits, state.rows)
        return ops.logical_not(state.ended) & (state.position < limits)

    def any_goes_on(self, state, limits=None):
        return ops.any(self.running(state, limits))

    def half_go_on(self, state, limits=None):
        """Whether more than half of the rows have not ended."""
        number = ops.sum(ops.cast(self.running(state, limits), "int32"))
        return number > ops.shape(state.ended)[0] // 2

    def within(self, room, state, enough_go_on):
        """Advances as far as there is room for, while enough rows go on."""
        limits = ops.minimum(self._limits, room)
        return self.advance_while(state, lambda state: enough_go_on(state, limits))

    def through(self, rooms, state):
        """Advances in one room after the other, to the end.

        Most translations need but the first: the others are a branch. (A loop without a step
        copies all that it would change: 4 to 7 % of a caption's time with the tiny model.)
        """
        if len(rooms) < 2:
            return self.advance_while(state, self.any_goes_on)
        room, larger = rooms[:2]
        state = self.within(room, state, self.any_goes_on)

        def go_on():
            cache = self._step.grow(state.cache, larger)
            return self.again().through(rooms[1:], state._replace(cache=cache))._replace(cache=())

        return ops.cond(self.any_goes_on(state), go_on, lambda: state._replace(cache=()))

    def again(self):
        """The same with a step made anew: in a branch, constants are what is read in it."""
        return _Loop(self._advance, self._limits, self._step.again())

    def advance_while(self, state, condition):
        """Advances while the condition, of a state, holds: by steps, or by blocks of them."""
        if self._block is None:
            return _while(condition, self._next, state)
        return _while(condition, self._advance_by_block, state)

    def _next(self, state):
        return self._advance(self._step, state)

    def _advance_by_block(self, state):
        start = state.position
        end = start + self._block
        state = _while(
            lambda state: self.any_goes_on(state) & (state.position < end), self._next, state
        )
        return state._replace(cache=self._step.settle(state.cache, start))


def _while(condition, body, state):
    """`ops.while_loop` over a NamedTuple."""
    kind = type(state)
    values = ops.while_loop(
        lambda *values: condition(kind(*values)),
        lambda *values: _as_known(values, tuple(body(kind(*values)))),
        tuple(state),
    )
    return kind(*values)


def rows_at_first(step, batch):
    """Returns the `rows` of a state: int32 (B,), which rows are left; () where none may leave."""
    return ops.arange(batch, dtype="int32") if getattr(step, "leave", None) else ()


def alone(state):
    """Whether there is a single row: then no step comes after its end, and none must be kept."""
    return state.ended.shape[0] == 1


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
        step: See `kformer.decoding.search`; its `top_k` and `log_sum_exp` are used if it has them.
        logits: float tensor (B, K, V).
        count: How many C.
        constraints: callables (log_probabilities (B, K, V), ids, position, rows) ->
            log_probabilities; see `kformer.decoding.search.constraints`.
        state: that of the search. Its `ids`, int32 (B, K, T), are what each beam has chosen so
            far, and its `position` is the number of these.

    Returns:
        log_probabilities: float32 tensor (B, K, C), the highest first.
        ids: int32 tensor (B, K, C).
    """
    top_k = getattr(step, "top_k", ops.top_k)
    if constraints:
        best, ids = top_k(_constrained(logits, constraints, state), count)
        return best, ops.cast(ids, "int32")
    logits = ops.cast(logits, "float32")
    best, ids = top_k(logits, count)
    # Of all V log-probabilities only the best are needed: log-sum-exp is one pass, not three.
    beyond = getattr(step, "log_sum_exp", log_sum_exp_of_graph)(logits, best)
    highest = best if count == 1 else ops.max(best, axis=-1, keepdims=True)
    gains = -beyond if count == 1 else best - (highest + beyond)
    return gains, ops.cast(ids, "int32")


def all_continuations(step, logits, constraints, state):
    """As `best_continuations`, of all V ids in their order: float32 tensor (B, K, V)."""
    if constraints:
        return _constrained(logits, constraints, state)
    logits = ops.cast(logits, "float32")
    highest = ops.max(logits, axis=-1, keepdims=True)
    beyond = getattr(step, "log_sum_exp", log_sum_exp_of_graph)(logits, highest)
    return logits - (highest + beyond)


def _constrained(logits, constraints, state):
    """Log-probabilities (B, K, V) after all constraints."""
    values = ops.log_softmax(ops.cast(logits, "float32"))
    for constraint in constraints:
        values = constraint(values, state.ids, state.position, state.rows)
    return values


def write(step, ids, new, position):
    """Writes `new` (...,) at `position` of `ids` (..., T); by the `write` of the step, if any."""
    return getattr(step, "write", select_column)(ids, new, position)


def pick(values, order):
    """Picks entries `order` (B, N) from axis 1 of `values` (B, M) or (B, M, T)."""
    shape = ops.shape(values)
    first = ops.expand_dims(ops.arange(shape[0], dtype="int32") * shape[1], -1)  # (B, 1)
    flat = ops.reshape(values, (-1, *shape[2:]))  # (B * M,) or (B * M, T)
    return rows_of(flat, first + order)
