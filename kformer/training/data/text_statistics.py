"""Statistics of a pair of text files, counted window by window in bounded memory."""

import dataclasses
import functools
import operator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from kformer.training.data.dropped_pairs import REASONS, PairFilter
from kformer.training.data.mixture import Mixture, longer_side

COMPARED = 2**24  # Pairs whose hashes, of 8 bytes, are kept to find duplicates.


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts of parallel text; the counts of two texts can be added.

    Attributes:
        pieces: For both sides, the frequency of each id, int64 (V,), without end ids.
        longest: For both sides, the ids of the longest sentence and its place; of a line of more
            bytes than `PairFilter` allows, the beginning counts.
        reasons: Numbers of kept and dropped pairs, int64 (4,) in order of `REASONS`.
        identical: Number of pairs with the same text, not blank, on both sides.
        batches: Numbers of batches of the kept pairs by bucket, int64 (K,).
        tokens: For both sides, the ids of the kept pairs, end ids included, int64 (2,).
        hashes: Hashes of the first pairs that are not blank, int64 (at most `COMPARED`,).
    """

    pieces: tuple[np.ndarray, np.ndarray]
    longest: tuple[tuple[int, str], tuple[int, str]]
    reasons: np.ndarray
    identical: int
    batches: np.ndarray
    tokens: np.ndarray
    hashes: np.ndarray

    def __add__(self, addend):
        return Statistics(
            tuple(map(np.add, self.pieces, addend.pieces)),
            tuple(
                max(pair, key=lambda item: item[0])
                for pair in zip(self.longest, addend.longest, strict=True)
            ),
            self.reasons + addend.reasons,
            self.identical + addend.identical,
            self.batches + addend.batches,
            self.tokens + addend.tokens,
            np.concatenate([self.hashes, addend.hashes])[:COMPARED],
        )


def read_statistics(
    source_file: str | Path,
    target_file: str | Path,
    tokenizers: Any,
    filter_pairs: PairFilter,
    batching: Any,
    cut: bool = False,
) -> Statistics:
    """Reads a pair of files once, and returns its `statistics_of`."""
    longest = filter_pairs.most_bytes + (not cut)  # A byte more shows that a line is too long.
    mixture = Mixture(source_file, target_file, longest=longest)
    places = f"{source_file}, line", f"{target_file}, line"
    return statistics_of(mixture, places, tokenizers, filter_pairs, batching, cut)


def statistics_of(
    mixture: Mixture,
    places: Any,
    tokenizers: Any,
    filter_pairs: PairFilter,
    batching: Any,
    cut: bool = False,
) -> Statistics:
    """Reads the text once.

    Args:
        mixture: `Mixture` of one corpus.
        places: For both sides, how the place of a text is written, without its number.
        tokenizers: `kformer.Tokenizer` of the source and of the target.
        filter_pairs: `PairFilter`.
        batching: `Batching`.
        cut: Whether pairs that are too long are not dropped but cut.
    """

    def count(source, target, _):
        rows = [
            side.tokenize(text) for side, text in zip(tokenizers, (source, target), strict=True)
        ]
        lengths = [tf.cast(side.row_lengths(), tf.int32) + 1 for side in rows]
        too_long = not cut and longer_side(source, target) > filter_pairs.most_bytes
        reasons = filter_pairs(*lengths, too_long, library=tf)
        stays = reasons == 0
        if cut:
            stays |= reasons == REASONS.index("too_long")
        most = filter_pairs.max_length  # A pair that is not cut is no longer than that.
        kept = [tf.minimum(tf.boolean_mask(length, stays), most) for length in lengths]
        text = reasons != REASONS.index("blank")
        same = tf.strings.strip(source) == tf.strings.strip(target)
        pairs = tf.boolean_mask(tf.strings.join([source, target], "\n"), text)
        return (
            tuple(
                tf.math.bincount(ids.values, minlength=side.vocab_size, dtype=tf.int64)
                for side, ids in zip(tokenizers, rows, strict=True)
            ),
            tuple((tf.reduce_max(length), tf.argmax(length)) for length in lengths),
            tf.math.bincount(reasons, minlength=len(REASONS), dtype=tf.int64),
            tf.math.count_nonzero(same & text),
            batching.counts(*kept),
            tf.stack([tf.reduce_sum(tf.cast(length, tf.int64)) for length in kept]),
            tf.strings.to_hash_bucket_fast(pairs, 2**63 - 1),
        )

    first, windows = 1, []
    for window in mixture.eager_windows():
        pieces, longest, reasons, *rest = tf.nest.map_structure(np.asarray, count(*window))
        longest = [
            (int(most), f"{place} {first + at}")
            for (most, at), place in zip(longest, places, strict=True)
        ]
        windows = [sum_of(*windows, Statistics(pieces, longest, reasons, *rest))]
        first += reasons.sum()
    return windows[0]


def sum_of(*statistics: Statistics) -> Statistics:
    """Adds statistics of several texts."""
    return functools.reduce(operator.add, statistics)
