"""Sampling, by random numbers that are computed from a key and an id.

The numbers do not depend on the batch or its order.

Axes: B batch, T largest length, V vocabulary, C candidates.
"""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kformer.arguments import check_integer, check_number
from kformer.decoding.search.compaction import remaining
from kformer.decoding.search.constraints import Constraint
from kformer.decoding.search.continuations import NEG_INF, all_continuations, best_continuations
from kformer.decoding.search.greedy import Greedy

_STRIDE = np.uint32(0x9E3779B9)  # 2^32 over the golden ratio, odd: keeps neighbouring ids apart.
_ROUNDS = (  # (shift, factor) of the integer hash `lowbias32`, found by Chris Wellons's search.
    (np.uint32(16), np.uint32(0x7FEB352D)),
    (np.uint32(15), np.uint32(0x846CA68B)),
)
_LAST_SHIFT = np.uint32(16)
_BELOW_ONE = 1 - 2**-24  # The largest float32 below 1, so that the logarithm stays finite.


def exponential(keys: Any, ids: Any) -> Any:
    """Returns an exponentially distributed number, of mean 1, for each key and id.

    Small numbers keep all their digits, so that improbable ids are drawn as rarely as they should.

    Args:
        keys: uint32 tensor of random numbers, broadcastable to the shape of `ids`.
        ids: int32 tensor (B, 1, C) or (C,).

    Returns:
        positive float32 tensor of the broadcast shape.
    """
    x = ops.cast(ids, "uint32") * _STRIDE + keys  # Unsigned integers wrap around.
    for shift, factor in _ROUNDS:
        x = ops.bitwise_xor(x, ops.right_shift(x, shift)) * factor
    x = ops.bitwise_xor(x, ops.right_shift(x, _LAST_SHIFT))
    uniform = ops.cast(x, "float32") * 2**-32 + 2**-33  # In (0, 1].
    return -ops.log1p(-ops.minimum(uniform, _BELOW_ONE))


class Sample(Greedy):
    """Draws every id at random, by its probability.

    Every id gets a random waiting time, exponential with its probability as the rate, and the id
    that waits least is chosen: so each is chosen as often as it is probable. (In logarithms this is
    the Gumbel-max trick.) An id's random number depends on the id itself, not on its rank. So
    rounding of the logits, which differs between batch sizes, can only exchange two ids whose
    waiting times are equal up to that rounding.

    The score is, as in `Greedy`, the sum of log-probabilities, at any temperature.

    Args:
        keys: uint32 tensor (B, T), random numbers, the only source of randomness. The same keys
            draw the same ids in every batch.
        temperature: The logits are divided by this, a positive number: under 1 likely ids become
            likelier, over 1 unlikely ones.
        top_k: Draw among this number of the likeliest ids; 0 for all.
        top_p: Draw among the fewest likeliest ids that together have this probability, in (0, 1]:
            nucleus sampling, [Holtzman et al., 2020](https://arxiv.org/abs/1904.09751).
        start_id, end_id, padding_id, constraints: As for `Greedy`.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> from kformer.decoding.decoder_step import start_decoding
        >>> model = kformer.Transformer(10, num_layers=1, d_model=16, num_heads=2, d_ff=32)
        >>> step, cache = start_decoding(model, np.array([[5, 6, 3]]), max_length=7)
        >>> keys = np.random.default_rng(1).integers(2**32, size=(1, 7), dtype="uint32")
        >>> output = kformer.Sample(keys, top_p=0.9)(step, cache, np.array([7], "int32"))
        >>> print(output.ids.shape)  # Rows, sequences of each, and ids.
        (1, 1, 7)
    """

    def __init__(
        self,
        keys: Any,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        *,
        start_id: int = 2,
        end_id: int = 3,
        padding_id: int = 0,
        constraints: Sequence[Constraint] = (),
    ):
        super().__init__(start_id, end_id, padding_id, constraints)
        dtype = getattr(keys, "dtype", None)
        if dtype is None or keras.backend.standardize_dtype(dtype) != "uint32":
            raise TypeError(f"`keys` must be a tensor of uint32. Received: keys={keys!r:.99}.")
        self.keys = keys
        self.temperature = check_number("temperature", temperature, above=0)
        self.top_k = check_integer("top_k", top_k, least=0)
        self.top_p = check_number("top_p", top_p, above=0, most=1)

    def _choose(self, step, output, state):
        gains, ids = self._candidates(step, output, state)
        # Relative to the highest: if all ids are forbidden, any may be drawn.
        gaps = gains - ops.max(gains, axis=-1, keepdims=True)
        shares = ops.where(gaps > NEG_INF / 2, ops.exp(gaps / self.temperature), 0.0)
        if self.top_p < 1:  # Then `_candidates` sorts them, the highest first.
            sums = ops.cumsum(shares, axis=-1)
            shares = ops.where(sums - shares < self.top_p * sums[..., -1:], shares, 0.0)
        keys = remaining(ops.take(self.keys, state.position, axis=1), state.rows)  # (B,)
        every = ops.arange(shares.shape[-1], dtype="int32") if ids is None else ids
        waiting = exponential(keys[:, None, None], every)
        _, index = step.top_k(shares / waiting, 1)
        index = ops.cast(index, "int32")  # (B, 1, 1)
        chosen = index if ids is None else ops.take_along_axis(ids, index, axis=-1)
        return ops.take_along_axis(gains, index, axis=-1)[..., 0], chosen[..., 0]

    def _candidates(self, step, output, state):
        """Returns log-probabilities (B, 1, C) and their ids; None where these are all V in order.

        Sorting a whole vocabulary would be most of the work.
        """
        vocab_size = output.logits.shape[-1]
        count = min(self.top_k or vocab_size, vocab_size)
        if count == vocab_size and self.top_p == 1:
            return all_continuations(step, output.logits, self.constraints, state), None
        return best_continuations(step, output, count, self.constraints, state)
