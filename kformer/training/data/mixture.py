"""Several corpora read as one: windows of text in which each corpus has its share.

A corpus is a pair of files. Its weight says how often a pass goes through it.
"""

import math

import tensorflow as tf

from kformer.training.data.corpus_weights import corpus_weights
from kformer.training.data.text_files import as_list, count_pairs

WINDOW = 100_000  # Pairs that are shuffled together.


class Mixture:
    """Reads pairs of files side by side.

    A corpus of weight 2.3 is read three times in a pass: twice whole, and of the third time `thin`
    leaves a random 0.3 of every bucket of lengths. That is rounded up, so that no pair is left out
    for ever; and because it is taken bucket by bucket, all passes have as many batches. (A corpus
    of weight 0.1 is read and tokenised whole, too.)

    Args:
        source_files, target_files: A path or a list of paths each.
        weights: How often a pass goes through each pair of files; 1 by default.
        temperature: Instead of `weights`: a corpus of n pairs is drawn in proportion to
            n^(1 / temperature), and a pass has as many pairs as the corpora together
            ([Arivazhagan et al., 2019](https://arxiv.org/abs/1907.05019)). At 1 the corpora are
            as they are; at 5 small ones come often.
        window: Most pairs in a window.

    Raises:
        FileNotFoundError, ValueError: See `check_parallel`; or the weights make no sense.
    """

    def __init__(
        self, source_files, target_files, weights=None, temperature=None, window: int = WINDOW
    ):
        source_files, target_files = as_list(source_files), as_list(target_files)
        self._pairs = count_pairs(source_files, target_files)
        self._files = list(zip(source_files, target_files, strict=True))
        self.weights = corpus_weights(self._pairs, weights, temperature)
        self._rounds = [math.ceil(weight) for weight in self.weights]
        read = sum(times * pairs for times, pairs in zip(self._rounds, self._pairs, strict=True))
        self._number = math.ceil(read / window)
        # What a round keeps: of the whole rounds all, of each corpus's last one a part.
        self._shares = [1.0, *(weight % 1 or 1.0 for weight in self.weights)]

    def windows(self):
        """Yields (source, target, round), string tensors (N,) and an int32 tensor (N,).

        `round` is what `thin` takes: 0 for a pair that stays, i + 1 for corpus i's last round.
        """
        parts = [self._part(i) for i in range(len(self._files))]
        return tf.data.Dataset.zip(tuple(parts)).map(
            lambda *parts: tuple(tf.concat(side, axis=0) for side in zip(*parts, strict=True))
        )

    def _part(self, i):
        """Yields corpus i's part of each window."""
        source, target = self._files[i]
        size = math.ceil(self._rounds[i] * self._pairs[i] / self._number)
        whole = math.floor(self.weights[i]) * self._pairs[i]

        def with_round(number, text):
            pair = number * size + tf.range(tf.size(text[0], tf.int64))
            return *text, tf.where(pair < whole, 0, i + 1)

        lines = tf.data.Dataset.zip(_lines(source), _lines(target)).repeat(self._rounds[i])
        part = lines.batch(size).enumerate().map(with_round)
        # Rounding up may leave nothing of a small corpus for the last windows.
        empty = tf.constant([], tf.string), tf.constant([], tf.string), tf.constant([], tf.int32)
        empty = tf.data.Dataset.from_tensors(empty).repeat()
        return part.concatenate(empty).take(self._number)

    def thin(self, rounds, bucket, seed):
        """Chooses what a window keeps of the rounds that are kept in part.

        Args:
            rounds: int32 tensor (N,), as in `windows`.
            bucket: int32 tensor (N,), the bucket of lengths of each pair.
            seed: int64 tensor (2,).

        Returns:
            int32 tensor (M,), numbers of pairs, ascending. Of a round and a bucket as many for
            every seed.
        """
        if all(share == 1 for share in self._shares):
            return tf.range(tf.size(rounds))
        chance = tf.random.stateless_uniform(tf.shape(rounds), seed, 0, 2**32, tf.int64)
        group = tf.cast(rounds, tf.int64) * 2**16 + tf.cast(bucket, tf.int64)
        order = tf.argsort(group * 2**32 + chance, stable=True)
        group = tf.gather(group, order)
        first, end = (tf.searchsorted(group, group, side) for side in ("left", "right"))
        shares = tf.constant(self._shares, tf.float64)
        share = tf.gather(shares, tf.gather(rounds, order))
        kept = tf.math.ceil(share * tf.cast(end - first, tf.float64) - 1e-6)
        rank = tf.range(tf.size(order)) - first
        return tf.sort(tf.boolean_mask(order, rank < tf.cast(kept, tf.int32)))


def _lines(file):
    return tf.data.TextLineDataset(file, "GZIP" if file.endswith(".gz") else "")
