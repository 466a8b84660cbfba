"""The loop that all searches share, and `Step`, the interface of a model in a search.

A search writes the ids of a position with a callable (values, new, position) -> values (..., T)
with `new` (...,) at `position`: `select_column` or `update_column`.

Axes: B batch, K beams, N sequences of a row or candidates, T largest length, V vocabulary, S source
length.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import keras
from keras import ops

from kformer.backend import gather
from kformer.decoding.search.compaction import SearchState, remaining
from kformer.decoding.search.top_k import log_sum_exp_of_graph


def select_column(values: Any, new: Any, position: Any) -> Any:
    """Writes by a selection, on any runtime."""
    here = ops.equal(ops.arange(ops.shape(values)[-1]), position)  # (T,)
    return ops.where(here, ops.expand_dims(new, -1), values)


def update_column(values: Any, new: Any, position: Any) -> Any:
    """Writes in one operation of LiteRT, XLA and JAX, which TF Serving does not have.

    LiteRT runs a selection one number at a time.
    """
    start = [0] * (len(values.shape) - 1)
    return ops.slice_update(values, ops.stack([*start, position]), ops.expand_dims(new, -1))


class StepOutput(NamedTuple):
    """Result of a step."""

    logits: Any  # float (B, K, V); (B, K, N) with `candidates`
    cache: Any  # The next step's cache: a structure of tensors of unchanged shapes.
    attention: Any  # float (B, K, S): weights over the source, 0 for padding; None if unknown.
    candidates: Any = None  # int32 (B, N), the ids that the logits score; None for all V.


class Step:
    """Scores the next id of every beam of every row, one position at a time.

    A subclass defines `__call__`. It may override the attributes to suit its runtime and its cache.
    `flush` is called only if `block` is set, `grow` and `rebuild` only if `capacities` is,
    `gather_rows` only if `compact_batch` is.

    Attributes:
        top_k: (values, count) -> (highest, indices), from `kformer.decoding.search.top_k`.
        log_sum_exp: (values, highest) -> logarithms, from the same module.
        write: (values, new, position) -> values, such as `select_column`.
        block: Positions after which `flush` is called; None for never.
        capacities: Successive cache capacities, in positions, the largest length last; `grow` takes
            the cache from one to the next, `rebuild` makes the step that continues with it. Empty
            for a cache that never grows.
        compact_batch: Function of `kformer.decoding.search.compaction` by which rows that have
            ended leave the batch, with `gather_rows`. None: they stay.
        refusal: float32 array (V,), added to the scores by which ids are chosen, and not to their
            log-probabilities: `NEG_INF` for ids that must not be chosen, else 0. None for none.
        uses_visible: Whether the cache keeps the entries of all beams in their slots, among which
            `visible` selects; if not, `reorder` makes the cache follow its beams.
    """

    top_k: Callable = staticmethod(ops.top_k)
    log_sum_exp: Callable = staticmethod(log_sum_exp_of_graph)
    write: Callable = staticmethod(select_column)
    block: int | None = None
    capacities: tuple[int, ...] = ()
    compact_batch: Callable | None = None
    uses_visible: bool = True
    refusal: Any = None

    def __call__(self, ids: Any, position: Any, visible: Any, cache: Any) -> StepOutput:
        """Reads one id of every beam and scores the ids that follow.

        With `uses_visible`, every position has K slots, one for each beam: keys and values of beam
        k at `position` stay in slot position * K + k of the cache. Cached entries are never
        reordered, however the beams cross: `visible` selects each beam's ancestors.

        Args:
            ids: int32 tensor (B, K), read at `position`.
            position: int32 scalar tensor.
            visible: boolean tensor (B or 1, K, T * K), the slots that each beam descends from,
                including this position's; None for one beam, which descends from all, and without
                `uses_visible`.
        """
        raise NotImplementedError

    def first_ids(self, start_id: int, batch: Any, beams: int) -> Any:
        """Returns the ids that the first position reads, int32 (B, K): by default the start id."""
        return ops.full((batch, beams), start_id, "int32")

    def reorder(self, cache: Any, parents: Any) -> Any:
        """Returns the cache in which beam k of a row continues its beam `parents[:, k]`.

        Searches of several beams call it after each position.

        Args:
            parents: int32 tensor (B, K).
        """
        return cache

    def flush(self, cache: Any, start: Any) -> Any:
        """Returns the cache after the whole block that began at position `start`."""
        raise NotImplementedError

    def grow(self, cache: Any, positions: int) -> Any:
        """Returns the cache with the capacity for a number of positions."""
        raise NotImplementedError

    def rebuild(self) -> "Step":
        """Returns the same step, made again from the weights.

        In a conditional branch of a graph, only weights that are read in the branch are constants.
        """
        raise NotImplementedError

    def gather_rows(self, cache: Any, rows: Any) -> Any:
        """Returns the cache of some rows alone, int32 (any,)."""
        return keras.tree.map_structure(lambda part: gather(part, rows), cache)


class SearchOutput(NamedTuple):
    """Result of a search: N sequences of each row, best first."""

    ids: Any  # int32 (B, N, T), without the start id; padding after the end id.
    scores: Any  # float32 (B, N); `NEG_INF` where a row has fewer sequences.
    ended: Any  # bool (B, N): False where the largest length came before the end id.


State = TypeVar("State", bound=SearchState)


def loop(state: State, advance: Callable, max_lengths: Any, step: Step) -> State:
    """Advances `state` until every row has ended or reached its largest length.

    Args:
        advance: callable (step, state) -> state, of the same shapes.
        max_lengths: int32 tensor (B,), the largest number of ids of each row.
    """
    run = _Loop(advance, max_lengths, step)
    if step.compact_batch:
        for capacity, larger in itertools.pairwise(step.capacities):
            state = run.advance_up_to(capacity, state, run.more_than_half_run)
            state = state._replace(cache=step.grow(state.cache, larger))
        return step.compact_batch(state, run.running, run.advance_while, step.gather_rows)
    return run.advance_to_end(step.capacities, state)


class _Loop:
    """Advances states; arguments as for `loop`."""

    def __init__(self, advance: Callable, max_lengths: Any, step: Step):
        self._advance, self._max_lengths, self._step = advance, max_lengths, step

    def running(self, state: Any, max_lengths: Any = None):
        """Returns which rows, bool (B,), have not ended, for other lengths (B,) if given."""
        max_lengths = self._max_lengths if max_lengths is None else max_lengths
        max_lengths = remaining(max_lengths, state.rows)
        return ops.logical_not(state.ended) & (state.position < max_lengths)

    def any_runs(self, state: Any, max_lengths: Any = None):
        return ops.any(self.running(state, max_lengths))

    def more_than_half_run(self, state: Any, max_lengths: Any = None):
        number = ops.sum(ops.cast(self.running(state, max_lengths), "int32"))
        return number > ops.shape(state.ended)[0] // 2

    def advance_up_to(self, capacity: int, state: Any, enough_run: Callable):
        """Advances within the cache's capacity, while enough rows run."""
        max_lengths = ops.minimum(self._max_lengths, capacity)
        return self.advance_while(state, lambda state: enough_run(state, max_lengths))

    def advance_to_end(self, capacities: Sequence[int], state: Any):
        """Advances within one capacity after the other.

        Most translations fit the smallest cache; larger ones run in a conditional branch. (A loop
        copies its variables even if it takes no step: 4 to 7 % of a caption's time with the tiny
        model.)
        """
        if len(capacities) < 2:
            return self.advance_while(state, self.any_runs)
        capacity, larger = capacities[:2]
        state = self.advance_up_to(capacity, state, self.any_runs)

        def continue_with_larger_cache():
            cache = self._step.grow(state.cache, larger)
            rebuilt = _Loop(self._advance, self._max_lengths, self._step.rebuild())
            last = rebuilt.advance_to_end(capacities[1:], state._replace(cache=cache))
            return last._replace(cache=())

        return ops.cond(
            self.any_runs(state), continue_with_larger_cache, lambda: state._replace(cache=())
        )

    def advance_while(self, state: Any, condition: Callable):
        """Advances while the condition, of a state, holds: by positions, or by blocks of them."""
        if self._step.block is None:
            return _while(condition, self._next, state)
        return _while(condition, self._advance_by_block, state)

    def _next(self, state):
        return self._advance(self._step, state)

    def _advance_by_block(self, state):
        start = state.position
        end = start + self._step.block
        state = _while(
            lambda state: self.any_runs(state) & (state.position < end), self._next, state
        )
        return state._replace(cache=self._step.flush(state.cache, start))


def _while(condition, body, state):
    """`ops.while_loop` over a NamedTuple."""
    kind = type(state)
    values = ops.while_loop(
        lambda *values: condition(kind(*values)),
        lambda *values: _with_shapes_of(values, tuple(body(kind(*values)))),
        tuple(state),
    )
    return kind(*values)


def _with_shapes_of(before, after):
    """Returns `after` with the static shapes of `before`, which TensorFlow may have lost."""
    for old, new in zip(keras.tree.flatten(before), keras.tree.flatten(after), strict=True):
        if hasattr(new, "set_shape"):
            new.set_shape(old.shape)
    return after


def is_single_row(state: SearchState) -> bool:
    """Whether the batch is one row: no step comes after its end, so nothing need be frozen."""
    return state.ended.shape[0] == 1
