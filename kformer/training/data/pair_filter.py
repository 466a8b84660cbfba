"""Filters sentence pairs by the lengths of their sides, in graph."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from kformer.text.tokenizer import Tokenizer
from kformer.training.data.dropped_pairs import REASONS, DroppedPairs, drop_reasons
from kformer.training.data.mixture import Mixture


class PairFilter:
    """Finds the pairs to drop, by the lengths of their sides.

    Args:
        max_length: Maximum ids per sentence, the end id included.
        max_length_ratio: Maximum ratio of the longer side to the shorter, in ids without the end
            ids. Sides that differ by at most 8 ids always pass. None for any ratio.

    Raises:
        ValueError: The ratio is less than 1.
    """

    def __init__(self, max_length: int, max_length_ratio: float | None = None):
        if max_length_ratio is not None and not max_length_ratio >= 1:
            raise ValueError(
                "`max_length_ratio` is that of the longer side to the shorter, so at least 1. "
                f"Received: max_length_ratio={max_length_ratio}."
            )
        self._max_length = max_length
        self._max_length_ratio = max_length_ratio

    def __call__(self, source_lengths, target_lengths):
        """Returns the index into `REASONS` of each pair, int32 (N,).

        Args:
            source_lengths, target_lengths: int32 tensors (N,), end ids included.
        """
        limits = self._max_length, self._max_length_ratio
        return drop_reasons(source_lengths, target_lengths, *limits, tf)


def count_dropped_pairs(
    source_files: str | Path | Sequence[str | Path],
    target_files: str | Path | Sequence[str | Path],
    tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    max_length: int = 128,
    max_length_ratio: float | None = None,
) -> DroppedPairs:
    """Counts the pairs that `translation_dataset` keeps and drops; see there for the arguments."""
    filter_pairs = PairFilter(max_length, max_length_ratio)

    def count(source, target, _):
        lengths = (
            side.with_end(side.tokenize(text)).row_lengths()
            for side, text in ((tokenizer, source), (target_tokenizer or tokenizer, target))
        )
        reasons = filter_pairs(*(tf.cast(length, tf.int32) for length in lengths))
        return tf.math.bincount(reasons, minlength=len(REASONS))

    windows = Mixture(source_files, target_files).windows()
    counts = np.sum(list(windows.map(count).as_numpy_iterator()), axis=0)
    return DroppedPairs(**dict(zip(REASONS, counts.tolist(), strict=True)))
