"""Constraints: what a search may choose next.

Each is a callable (log_probabilities, ids, position, rows) -> log_probabilities:

    log_probabilities: float32 tensor (B, K, V), of what may come next.
    ids: int32 tensor (B, K, T), what each beam has chosen before `position`.
    position: int32 scalar tensor.
    rows: int32 tensor (B,), which rows of the first batch these are; () for all of them.

What must not be chosen gets a score below every other. Axes: B batch, K beams, T the longest
limit, V vocabulary, P prefix length.
"""

from keras import ops

from kformer.arguments import check_integer, check_number
from kformer.decoding.search.loop import LEAST, left_of


class MinLength:
    """No end before a row has so many ids.

    Args:
        minimum: int32 tensor (B,), ids before the end id.
        end_id: What ends a sequence.
    """

    def __init__(self, minimum, end_id: int = 3):
        self.minimum = minimum
        self.end_id = end_id

    def __call__(self, log_probabilities, ids, position, rows=()):
        early = (position < left_of(self.minimum, rows))[:, None, None]  # (B, 1, 1)
        is_end = ops.arange(log_probabilities.shape[-1]) == self.end_id  # (V,)
        return ops.where(early & is_end, LEAST, log_probabilities)


class Prefix:
    """Every sequence begins with the ids of its row.

    Args:
        prefix: int32 tensor (B, P), filled up with padding; P is at least 1.
        padding_id: What leaves the choice free.
        then: constraints for where the choice is free: a prefix may do what they forbid.
    """

    def __init__(self, prefix, padding_id: int = 0, then=()):
        self.prefix = prefix
        self.padding_id = padding_id
        self.then = tuple(then)

    def __call__(self, log_probabilities, ids, position, rows=()):
        length = ops.shape(self.prefix)[1]
        wanted = ops.take(self.prefix, ops.minimum(position, length - 1), axis=1)
        wanted = left_of(wanted, rows)  # (B,)
        forced = ((position < length) & (wanted != self.padding_id))[:, None, None]  # (B, 1, 1)
        others = ops.arange(log_probabilities.shape[-1]) != wanted[:, None]  # (B, V)
        chained = ops.where(others[:, None], LEAST, log_probabilities)
        for constraint in self.then:
            log_probabilities = constraint(log_probabilities, ids, position, rows)
        return ops.where(forced, chained, log_probabilities)


class NoRepeat:
    """No n-gram comes twice.

    Args:
        n: Number of ids in a row, at least 1.
    """

    def __init__(self, n: int):
        self.n = check_integer("n", n, least=1)

    def __call__(self, log_probabilities, ids, position, rows=()):
        length = ops.shape(ids)[-1]
        places = ops.arange(length)
        same = places >= self.n - 1  # (T,): whether the n-gram that ends here began as the new one
        for back in range(1, self.n):
            before = ops.roll(ids, back, axis=-1)  # (B, K, T)
            newest = ops.take(ids, ops.maximum(position - back, 0), axis=-1)[..., None]
            same = same & (before == newest)
        repeats = same & (places < position) & (position >= self.n - 1)
        seen = _marked(ids, repeats, log_probabilities)
        return ops.where(seen, LEAST, log_probabilities)


class RepetitionPenalty:
    """What was chosen before is less likely to be chosen again.

    [Keskar et al., 2019](https://arxiv.org/abs/1909.05858), section 4.1, on log-probabilities:
    that of an id chosen before is multiplied by the penalty.

    Args:
        penalty: At least 1, which changes nothing.
    """

    def __init__(self, penalty: float):
        self.penalty = check_number("penalty", penalty, least=1)

    def __call__(self, log_probabilities, ids, position, rows=()):
        seen = _marked(ids, ops.arange(ops.shape(ids)[-1]) < position, log_probabilities)
        return ops.where(seen, log_probabilities * self.penalty, log_probabilities)


def _marked(ids, where, like):
    """Which of V ids are in `ids` (B, K, T) `where`, boolean (B, K, T) or (T,), says: (B, K, V)."""
    vocab_size = like.shape[-1]
    batch, beams, length = ops.shape(ids)
    rows = ops.repeat(ops.arange(batch * beams, dtype="int32"), length)  # (B * K * T,)
    flat = rows * vocab_size + ops.reshape(ids, (-1,))
    marks = ops.reshape(ops.cast(where, "int32") + ops.zeros_like(ids), (-1,))
    counts = ops.segment_sum(marks, flat, batch * beams * vocab_size)
    return ops.reshape(counts, (batch, beams, vocab_size)) > 0
