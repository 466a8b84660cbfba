"""The candidates of a source, chosen in graph by operations that every runtime has.

Axes: B batch, S source length, V target vocabulary, R most entries of a source id, N candidates.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from keras import ops

from kformer.backend import gather
from kformer.decoding.shortlist.table import Shortlist

_FIRST = 64.0  # Points that a source id gives to its first entry.
_HALF = 2**15  # Of what two bytes can number.
_ALWAYS = 2.0**22  # More points than any others: sums of integers up to 2^24 are exact in float32.


class Selection:
    """Chooses the candidates of each source.

    Every position of a source gives points to the entries of its id: 64 to the first, 32 to the
    second, 21 to the third, and so on. The ids with the most points are candidates; among equals,
    those that `Shortlist.order` has first. Points are whole numbers, whose sums do not depend on
    their order, so every runtime chooses the same.

    Args:
        shortlist: `Shortlist`.
        padding_id: The id of a source that gives no points.
        constant: Makes a tensor of an array.
    """

    def __init__(
        self, shortlist: Shortlist, padding_id: int, constant: Callable = ops.convert_to_tensor
    ):
        self._shortlist, self._padding_id, self._constant = shortlist, padding_id, constant
        rank = np.arange(shortlist.longest, dtype=np.int32)
        self._rank, self._points = rank, np.maximum(_FIRST // (rank + 1), 1).astype(np.float32)
        self._first = shortlist.ends - np.diff(shortlist.ends, prepend=np.int32(0))
        vocab_size = len(shortlist.order)
        fits = vocab_size <= 2 * _HALF  # Then entries take two bytes each.
        self._entries = (shortlist.entries - _HALF).astype(np.int16 if fits else np.int32)
        self._before = np.empty(vocab_size, np.float32)  # What each id has before any points.
        self._before[shortlist.order] = np.arange(vocab_size, 0, -1) / (vocab_size + 1)
        self._before[shortlist.order[: shortlist.always]] += _ALWAYS

    def __call__(self, source: Any) -> Any:
        """Returns the candidates, int32 (B, N), each once in its row.

        Args:
            source: int32 tensor (B, S).
        """
        constant, batch = self._constant, ops.shape(source)[0]
        first = gather(constant(self._first), source)  # (B, S)
        number = gather(constant(self._shortlist.ends), source) - first
        number = ops.where(ops.equal(source, self._padding_id), 0, number)
        index = ops.expand_dims(first, -1) + self._rank  # (B, S, R)
        ids = gather(constant(self._entries), ops.minimum(index, len(self._entries) - 1))
        ids = ops.cast(ids, "int32") + _HALF
        points = ops.where(self._rank < ops.expand_dims(number, -1), self._points, 0.0)
        vocab_size = len(self._before)
        row = ops.arange(batch, dtype="int32") * vocab_size
        places = ops.reshape(ids + ops.reshape(row, (-1, 1, 1)), (-1, 1))
        sums = ops.scatter(places, ops.reshape(points, (-1,)), (batch * vocab_size,))
        scores = ops.reshape(sums, (-1, vocab_size)) + constant(self._before)
        _, candidates = ops.top_k(scores, self._shortlist.size)
        return ops.cast(candidates, "int32")
