"""Search: from a `step` that scores what comes next to the ids of a whole sequence.

Search knows no model. At every position it calls

    step(ids, position, visible, cache) -> Step(logits, cache, attention)

for all beams of all rows at once. Every position has K slots, one for each beam, and what a step
keeps of the ids that it reads goes into the slots position * K to position * K + K - 1, for good.
A beam descends from other beams, so `visible` says which slots are its own past: nothing of a
cache is ever moved or copied, however the beams cross. For one beam it is None: all are.

A step may have a `top_k`, a `log_sum_exp` and a `write`, its runtime's own, see `top_k` and
`columns`; and a `block`, a number of positions, and a method `settle(cache, start)`, called after
the block from `start`. If it has `rooms`, the cache has room for the first number of positions,
`grow(cache, positions)` returns it with room for the next, and `again()` returns the step, made
anew. If it has a `leave`, see `compaction`, rows that have ended leave the batch, and
`keep_rows(cache, rows)` returns the cache of some, int32 (any,), alone.

The state has fixed shapes, so that one `while_loop` runs it in Python, on a server and on a phone;
but for the number of rows, where they may leave.
A row is never influenced by the others: each ends by itself, at its end id or its own limit.

Axes: B batch, K beams, T the longest limit, V vocabulary, S source length, N sequences returned.
"""

from kformer.decoding.search.beam import Beam
from kformer.decoding.search.constraints import MinLength, NoRepeat, Prefix, RepetitionPenalty
from kformer.decoding.search.greedy import Greedy
from kformer.decoding.search.loop import Found, Step
from kformer.decoding.search.sampling import Sample

__all__ = [
    "Beam",
    "Found",
    "Greedy",
    "MinLength",
    "NoRepeat",
    "Prefix",
    "RepetitionPenalty",
    "Sample",
    "Step",
]
