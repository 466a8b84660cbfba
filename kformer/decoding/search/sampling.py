"""Sampling.

Axes: B batch, T the longest limit, V vocabulary, C candidates.
"""

import keras
from keras import ops

from kformer.arguments import check_integer, check_number
from kformer.decoding.search.greedy import Greedy
from kformer.decoding.search.keyed_random import exponential
from kformer.decoding.search.loop import LEAST, all_continuations, best_continuations, left_of


class Sample(Greedy):
    """Draws every id at random, by its probability.

    Every id gets a random waiting time, exponential with its probability as the rate, and the one
    that waits least is chosen: an id is chosen as often as it is probable. (In logarithms this is
    the Gumbel-max trick.) An id's random number depends on its number alone, not on its rank.
    So a change of the logits in their last digits, as between two sizes of a batch, can only
    exchange two ids that wait equally long to about that digit.

    The score is that of `Greedy`: the sum of log-probabilities, whatever the temperature.

    Args:
        keys: uint32 tensor (B, T), random numbers; nothing else here is random. The same keys
            choose the same ids, whoever else is in the batch.
        temperature: Probabilities are those of the logits divided by this: under 1 the likely ids
            become likelier, over 1 the others do. Positive.
        top_k: Draw among so many of the likeliest ids; 0 for all.
        top_p: Draw among the fewest likeliest ids that have this probability together, in (0, 1]:
            nucleus sampling, [Holtzman et al., 2020](https://arxiv.org/abs/1904.09751).
        start_id, end_id, padding_id, constraints: As for `Greedy`.
    """

    def __init__(self, keys, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, **kw):
        super().__init__(**kw)
        dtype = getattr(keys, "dtype", None)
        if dtype is None or keras.backend.standardize_dtype(dtype) != "uint32":
            raise TypeError(f"`keys` must be a tensor of uint32. Received: keys={keys!r:.99}.")
        self.keys = keys
        self.temperature = check_number("temperature", temperature, above=0)
        self.top_k = check_integer("top_k", top_k, least=0)
        self.top_p = check_number("top_p", top_p, above=0, most=1)

    def _choose(self, step, logits, state):
        gains, ids = self._candidates(step, logits, state)
        # Relative to the highest: if all are forbidden, any may come.
        gaps = gains - ops.max(gains, axis=-1, keepdims=True)
        shares = ops.where(gaps > LEAST / 2, ops.exp(gaps / self.temperature), 0.0)
        if self.top_p < 1:  # Then they come highest first.
            sums = ops.cumsum(shares, axis=-1)
            shares = ops.where(sums - shares < self.top_p * sums[..., -1:], shares, 0.0)
        keys = left_of(ops.take(self.keys, state.position, axis=1), state.rows)  # (B,)
        every = ops.arange(shares.shape[-1], dtype="int32") if ids is None else ids
        waiting = exponential(keys[:, None, None], every)
        _, index = getattr(step, "top_k", ops.top_k)(shares / waiting, 1)
        index = ops.cast(index, "int32")  # (B, 1, 1)
        chosen = index if ids is None else ops.take_along_axis(ids, index, axis=-1)
        return ops.take_along_axis(gains, index, axis=-1)[..., 0], chosen[..., 0]

    def _candidates(self, step, logits, state):
        """Returns log-probabilities (B, 1, C), and the ids that have them; None for all in order.

        For sorting all of a vocabulary would be most of the work.
        """
        vocab_size = logits.shape[-1]
        count = min(self.top_k or vocab_size, vocab_size)
        if count == vocab_size and self.top_p == 1:
            return all_continuations(step, logits, self.constraints, state), None
        return best_continuations(step, logits, count, self.constraints, state)
