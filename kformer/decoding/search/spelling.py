"""Sequences of ids that spell the same text, found by hashes of texts.

"dogs" is one piece, or "dog" and "s". The hash of a sequence is that of its bytes, whatever its
pieces: a polynomial in an odd number, modulo 2^32, so that one multiplication and one addition
append a piece.

Axes: B batch, K beams, N sequences, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from keras import ops

from kformer.backend import gather
from kformer.decoding.search.continuations import NEG_INF

_BASE, _MODULUS = 0x01000193, 2**32


class Spelling:
    """Hashes texts, piece by piece.

    Args:
        pieces: V strings of bytes, what each id spells; b"" for ids without text.
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
    """Returns the scores (B, N), best first, those of texts that came before as `NEG_INF`.

    Args:
        scores: float32 tensor (B, N), the highest first.
        hashes: int32 tensor (B, N).
    """
    number = scores.shape[1]
    before = np.tri(number, k=-1, dtype=bool)  # (N, N)
    there = ops.expand_dims(scores > NEG_INF / 2, 1)  # (B, 1, N)
    same = ops.equal(ops.expand_dims(hashes, 2), ops.expand_dims(hashes, 1))  # (B, N, N)
    return ops.where(ops.any(same & before & there, axis=-1), NEG_INF, scores)
