"""Which sentence pairs are fit to learn from, and why others are not."""

import numpy as np
import tensorflow as tf

from kformer.training.data.dropped_pairs import REASONS, SPARED, DroppedPairs
from kformer.training.data.mixture import Mixture


class PairFilter:
    """Finds the pairs to drop, by the lengths of their sides, in graph.

    Args:
        max_length: Most ids of a sentence, its end id included.
        max_length_ratio: Most ids of the longer side for one of the shorter, without the end ids;
            sides that differ by no more than 8 ids always pass. None for any ratio.

    Raises:
        ValueError: The ratio is under 1.
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
        longer = tf.maximum(source_lengths, target_lengths) - 1
        shorter = tf.minimum(source_lengths, target_lengths) - 1
        reason = tf.zeros_like(longer)
        if self._max_length_ratio is not None:
            most = self._max_length_ratio * tf.cast(shorter, tf.float32)
            unlike = (tf.cast(longer, tf.float32) > most) & (longer - shorter > SPARED)
            reason = tf.where(unlike, REASONS.index("unlike_lengths"), reason)
        reason = tf.where(longer >= self._max_length, REASONS.index("too_long"), reason)
        return tf.where(shorter == 0, REASONS.index("blank"), reason)


def count_dropped_pairs(
    source_files,
    target_files,
    tokenizer,
    target_tokenizer=None,
    *,
    max_length: int = 128,
    max_length_ratio: float | None = None,
) -> DroppedPairs:
    """Counts what `translation_dataset` uses of parallel text; arguments are as there."""
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
