"""Sampling.

Axes: B batch, T the longest limit, V vocabulary, C candidates.
"""

from keras import ops

from kformer.search.greedy import Greedy
from kformer.search.loop import best_continuations, left_of


class Sample(Greedy):
    """Draws every id at random, by its probability.

    The score is that of `Greedy`: the sum of log-probabilities, whatever the temperature.

    Args:
        uniform: float tensor (B, T), numbers in [0, 1): all the chance that there is. The same
            numbers choose the same ids, whoever else is in the batch.
        temperature: Probabilities are those of the logits divided by this: under 1 the likely ids
            become likelier, over 1 the others do. Positive.
        top_k: Draw among so many of the likeliest ids; 0 for all.
        top_p: Draw among the fewest likeliest ids that have this probability together, in (0, 1]:
            nucleus sampling, [Holtzman et al., 2020](https://arxiv.org/abs/1904.09751).
        start_id, end_id, padding_id, constraints: As for `Greedy`.
    """

    def __init__(self, uniform, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, **kw):
        super().__init__(**kw)
        if temperature <= 0:
            raise ValueError(
                f"`temperature` must be positive. Received: temperature={temperature}."
            )
        if top_k < 0:
            raise ValueError(f"`top_k` must not be negative. Received: top_k={top_k}.")
        if not 0 < top_p <= 1:
            raise ValueError(f"`top_p` must be in (0, 1]. Received: top_p={top_p}.")
        self.uniform = uniform
        self.temperature = temperature
        self.top_k = top_k
        self.top_p = top_p

    def _choose(self, step, logits, state):
        vocab_size = logits.shape[-1]
        count = min(self.top_k or vocab_size, vocab_size)
        gains, candidates = best_continuations(step, logits, count, self.constraints, state)
        shares = ops.exp((gains - gains[..., :1]) / self.temperature)  # (B, 1, C), highest first
        sums = ops.cumsum(shares, axis=-1)
        kept = ops.where(sums - shares < self.top_p * sums[..., -1:], shares, 0.0)
        sums = ops.cumsum(kept, axis=-1)
        here = left_of(ops.take(self.uniform, state.position, axis=1), state.rows)
        here = ops.cast(here, "float32")[:, None, None]
        below = ops.cast(sums <= here * sums[..., -1:], "int32")
        # Sums of rounded numbers may stop short of their own end: the last kept is the last.
        last = ops.sum(ops.cast(kept > 0, "int32"), axis=-1, keepdims=True) - 1
        index = ops.minimum(ops.sum(below, axis=-1, keepdims=True), last)
        return (
            ops.take_along_axis(gains, index, axis=-1)[..., 0],
            ops.take_along_axis(candidates, index, axis=-1)[..., 0],
        )
