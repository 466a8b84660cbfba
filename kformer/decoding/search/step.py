"""The step: what a search needs of a model.

Axes: B batch, K beams, T largest length, V vocabulary, S source length, N candidates.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.backend import gather
from kformer.decoding.search.columns import select_column
from kformer.decoding.search.top_k import log_sum_exp_of_graph


class StepOutput(NamedTuple):
    """What a step returns."""

    logits: Any  # float (B, K, V); (B, K, N) with `candidates`
    cache: Any  # The next step's cache: a structure of tensors of unchanged shapes.
    attention: Any  # float (B, K, S): weights over the source, 0 for padding; None if unknown.
    candidates: Any = None  # int32 (B, N), the ids that the logits score; None for all V.


class Step:
    """Scores the next id of every beam of every row, one position at a time.

    A subclass defines `__call__`. The attributes are how its runtime works best, and have defaults;
    a method is called only where the attribute that it belongs to is set.

    Attributes:
        top_k: (values, count) -> (highest, indices), see `kformer.decoding.search.top_k`.
        log_sum_exp: (values, highest) -> logarithms, see there.
        write: (values, new, position) -> values, see `kformer.decoding.search.columns`.
        block: Positions after which `flush` is called; None for never.
        capacities: Successive cache capacities, in positions, the largest length last; `grow` takes
            the cache from one to the next, `rebuild` makes the step that continues with it. Empty
            for a cache that never grows.
        compact_batch: How rows that have ended leave the batch, by `gather_rows`; see
            `kformer.decoding.search.compaction`. None: they stay.
    """

    top_k: Callable = staticmethod(ops.top_k)
    log_sum_exp: Callable = staticmethod(log_sum_exp_of_graph)
    write: Callable = staticmethod(select_column)
    block: int | None = None
    capacities: tuple[int, ...] = ()
    compact_batch: Callable | None = None

    def __call__(self, ids: Any, position: Any, visible: Any, cache: Any) -> StepOutput:
        """Reads one id of every beam and scores what follows.

        Every position has K slots, one for each beam: the cache keeps what beam k read at
        `position` in slot position * K + k, for good. Cached entries are never reordered, however
        the beams cross: `visible` selects each beam's ancestors.

        Args:
            ids: int32 tensor (B, K), read at `position`.
            position: int32 scalar tensor.
            visible: boolean tensor (B or 1, K, T * K), the slots that each beam descends from, that
                of this position included; None for one beam, which descends from all.
            cache: the first cache, or that of the last `StepOutput`.
        """
        raise NotImplementedError

    def first_ids(self, start_id: int, batch: Any, beams: int) -> Any:
        """Returns the ids that the first position reads, int32 (B, K): by default the start id."""
        return ops.full((batch, beams), start_id, "int32")

    def flush(self, cache: Any, start: Any) -> Any:
        """Returns the cache after the whole block that began at position `start`."""
        raise NotImplementedError

    def grow(self, cache: Any, positions: int) -> Any:
        """Returns the cache with the capacity for so many positions."""
        raise NotImplementedError

    def rebuild(self) -> "Step":
        """Returns the same step, made again from the weights.

        In a conditional branch of a graph, only what is read in the branch itself is a constant.
        """
        raise NotImplementedError

    def gather_rows(self, cache: Any, rows: Any) -> Any:
        """Returns the cache of some rows alone, int32 (any,)."""
        return keras.tree.map_structure(lambda part: gather(part, rows), cache)
