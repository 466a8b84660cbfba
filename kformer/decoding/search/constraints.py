"""Constraints on the ids that a search may choose next, and hashes of the texts that ids spell.

A penalty changes the logits, before the softmax. A constraint that forbids ids changes the
log-probabilities, after it: all other ids keep theirs. That is the order of transformers'
`generate` and of CTranslate2.

Several sequences of ids may spell the same text: "dogs" is one piece, or "dog" and "s". The hash of
a sequence is computed from its bytes, whatever its pieces: a polynomial in an odd number, modulo
2^32, so that one multiplication and one addition append a piece.

Axes: B batch, K beams, N sequences, T largest length, V vocabulary, P prefix length.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from keras import ops

from kformer.arguments import check_integer, check_number
from kformer.backend import gather
from kformer.decoding.search.compaction import remaining
from kformer.decoding.search.continuations import NEG_INF

_BASE, _MODULUS = 0x01000193, 2**32


class Constraint:
    """Base class of constraints; it leaves the next ids as they are.

    Both methods take and return:

        logits, log_probabilities: float32 tensor (B, K, V), of the next ids.
        ids: int32 tensor (B, K, T), the ids that each beam has chosen before `position`.
        position: int32 scalar tensor.
        rows: int32 tensor (B,), which rows of the first batch these are; () for all of them.
    """

    def penalised(self, logits: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        """Returns the logits, changed for some ids."""
        return logits

    def __call__(self, log_probabilities: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        """Returns the log-probabilities; a forbidden id gets a score below all others."""
        return log_probabilities


class MinLength(Constraint):
    """Forbids the end id until a row has enough ids.

    Args:
        minimum: int32 tensor (B,), number of ids before the end id.
        end_id: The id that ends a sequence.
    """

    def __init__(self, minimum: Any, end_id: int = 3):
        self.minimum = minimum
        self.end_id = end_id

    def __call__(self, log_probabilities: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        early = (position < remaining(self.minimum, rows))[:, None, None]  # (B, 1, 1)
        is_end = ops.arange(log_probabilities.shape[-1]) == self.end_id  # (V,)
        return ops.where(early & is_end, NEG_INF, log_probabilities)


class Prefix(Constraint):
    """Forces every sequence to begin with the prefix of its row.

    Args:
        prefix: int32 tensor (B, P), padded; P is at least 1.
        padding_id: The id in `prefix` that leaves the choice free.
        then: constraints on the ids after the prefix, which itself may break them.
    """

    def __init__(self, prefix: Any, padding_id: int = 0, then: Any = ()):
        self.prefix = prefix
        self.padding_id = padding_id
        self.then = tuple(then)

    def penalised(self, logits: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        _, forced = self._required(position, rows)
        after = logits
        for constraint in self.then:
            after = constraint.penalised(after, ids, position, rows)
        return ops.where(forced, logits, after)

    def __call__(self, log_probabilities: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        required, forced = self._required(position, rows)
        differs = ops.arange(log_probabilities.shape[-1]) != required[:, None]  # (B, V)
        only_required = ops.where(differs[:, None], NEG_INF, log_probabilities)
        for constraint in self.then:
            log_probabilities = constraint(log_probabilities, ids, position, rows)
        return ops.where(forced, only_required, log_probabilities)

    def _required(self, position, rows):
        """Returns the id of each row, int32 (B,), and whether it is forced, bool (B, 1, 1)."""
        length = ops.shape(self.prefix)[1]
        required = ops.take(self.prefix, ops.minimum(position, length - 1), axis=1)
        required = remaining(required, rows)  # (B,)
        return required, ((position < length) & (required != self.padding_id))[:, None, None]


class NoRepeat(Constraint):
    """Forbids every n-gram that the sequence already contains.

    Args:
        n: Length of the n-grams, at least 1.
    """

    def __init__(self, n: int):
        self.n = check_integer("n", n, least=1)

    def __call__(self, log_probabilities: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        length = ops.shape(ids)[-1]
        places = ops.arange(length)
        same = places >= self.n - 1  # (T,): does the n-gram ending here begin as the new one?
        for back in range(1, self.n):
            before = ops.roll(ids, back, axis=-1)  # (B, K, T)
            newest = ops.take(ids, ops.maximum(position - back, 0), axis=-1)[..., None]
            same = same & (before == newest)
        repeats = same & (places < position) & (position >= self.n - 1)
        seen = _marked(ids, repeats, log_probabilities)
        return ops.where(seen, NEG_INF, log_probabilities)


class RepetitionPenalty(Constraint):
    """Makes ids that were chosen before less likely.

    [Keskar et al., 2019](https://arxiv.org/abs/1909.05858), section 4.1: of ids chosen before,
    positive logits are divided by the penalty, and negative ones multiplied. Log-probabilities
    would not do: an id in a loop has nearly 0, and keeps it whatever the factor.

    Args:
        penalty: At least 1; 1 changes nothing.
    """

    def __init__(self, penalty: float):
        self.penalty = check_number("penalty", penalty, least=1)

    def penalised(self, logits: Any, ids: Any, position: Any, rows: Any = ()) -> Any:
        seen = _marked(ids, ops.arange(ops.shape(ids)[-1]) < position, logits)
        lower = ops.where(logits > 0, logits / self.penalty, logits * self.penalty)
        return ops.where(seen, lower, logits)


def _marked(ids, where, like):
    """Returns bool (B, K, V): the ids in `ids` (B, K, T) at places where `where` is True."""
    vocab_size = like.shape[-1]
    batch, beams, length = ops.shape(ids)
    rows = ops.repeat(ops.arange(batch * beams, dtype="int32"), length)  # (B * K * T,)
    flat = rows * vocab_size + ops.reshape(ids, (-1,))
    marks = ops.reshape(ops.cast(where, "int32") + ops.zeros_like(ids), (-1,))
    counts = ops.segment_sum(marks, flat, batch * beams * vocab_size)
    return ops.reshape(counts, (batch, beams, vocab_size)) > 0


class Spelling:
    """Hashes texts, piece by piece.

    Args:
        pieces: V strings of bytes, the text of each id; b"" for ids without text.
    """

    def __init__(self, pieces: Sequence[bytes]):
        values, factors = [], []
        for piece in pieces:
            value = 0
            for byte in piece:
                value = (value * _BASE + byte + 1) % _MODULUS
            values.append(value)
            factors.append(pow(_BASE, len(piece), _MODULUS))
        self._values, self._factors = (
            np.array(numbers, np.uint32).view(np.int32) for numbers in (values, factors)
        )

    def extended(self, hashes: Any, ids: Any) -> Any:
        """Returns the hashes of texts with one more id each; both int32, of one shape."""
        factors, values = map(ops.convert_to_tensor, (self._factors, self._values))
        return hashes * gather(factors, ids) + gather(values, ids)


def without_repeats(scores: Any, hashes: Any) -> Any:
    """Returns the scores (B, N), best first, with `NEG_INF` for texts that came before.

    Args:
        scores: float32 tensor (B, N), the highest first.
        hashes: int32 tensor (B, N).
    """
    number = scores.shape[1]
    before = np.tri(number, k=-1, dtype=bool)  # (N, N)
    exists = ops.expand_dims(scores > NEG_INF / 2, 1)  # (B, 1, N)
    same = ops.equal(ops.expand_dims(hashes, 2), ops.expand_dims(hashes, 1))  # (B, N, N)
    return ops.where(ops.any(same & before & exists, axis=-1), NEG_INF, scores)
