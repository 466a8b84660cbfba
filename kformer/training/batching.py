"""Sentence pairs of like length, cut into batches of about as many tokens.

N pairs of a window; a bucket is a range of lengths.
"""

import tensorflow as tf


class Batching:
    """Sorts pairs by length, the longest first, and cuts them into batches, in graph.

    A pair belongs to the bucket of its longer side. Pairs of one bucket stand in order of the
    source's length, so that neither side needs much padding. A batch holds as many pairs as fit at
    the length of its first pair's bucket: only the last batch is not full.

    Args:
        tokens_per_batch: Most ids of the longer side in a batch, with padding.
        max_length: Most ids of a sentence.
    """

    def __init__(self, tokens_per_batch: int, max_length: int):
        lengths = list(bucket_lengths(max_length))
        self.num_buckets = len(lengths)
        self._lengths = tf.constant(lengths)
        self._sizes = [tokens_per_batch // length for length in lengths]

    def limits(self, source_lengths, target_lengths):
        """Cuts pairs, the longest first, into batches of like length.

        Args:
            source_lengths, target_lengths: int32 tensors (N,), in any order.

        Returns:
            int32 tensor (number of batches + 1,): batch i holds the pairs from limits[i] up to
            limits[i + 1], if they are in `order`.
        """
        counts = tf.math.bincount(
            self.bucket(source_lengths, target_lengths), minlength=self.num_buckets
        )
        starts, start, end = [], 0, 0
        for i, size in reversed(list(enumerate(self._sizes))):
            end += counts[i]
            # The last batch of the bucket takes its missing pairs from the next, shorter one.
            number = tf.maximum(-((start - end) // size), 0)
            starts.append(start + size * tf.range(number))
            start += size * number
        return tf.concat([*starts, [end]], axis=0)

    def order(self, source_lengths, target_lengths, tie):
        """Sorts pairs, the longest first.

        Args:
            source_lengths, target_lengths: int32 tensors (N,).
            tie: int64 tensor (N,) below 2^32; the smaller comes first among equals.

        Returns:
            int32 tensor (N,), numbers of pairs.
        """
        bucket = tf.cast(self.bucket(source_lengths, target_lengths), tf.int64)
        length = bucket * 2**48 + tf.cast(source_lengths, tf.int64) * 2**32
        return tf.argsort(tie - length, stable=True)

    def bucket(self, source_lengths, target_lengths):
        """Returns the number of the bucket of each pair, int32 (N,)."""
        longer = tf.maximum(source_lengths, target_lengths)
        return tf.searchsorted(self._lengths, longer)

    def pad(self, rows, padding_id: int):
        """Pads rows to the shortest length of a bucket that they fit.

        Rows longer than any bucket, as byte spelling makes them, get a multiple of 8.

        Args:
            rows: int32 `tf.RaggedTensor` (B, None).
            padding_id: What to pad with.

        Returns:
            int32 tensor (B, L).
        """
        longest = tf.cast(rows.bounding_shape(axis=1), tf.int32)
        lengths = tf.concat([self._lengths, [-(-longest // 8) * 8]], axis=0)
        length = tf.reduce_min(tf.boolean_mask(lengths, lengths >= longest))
        return rows.to_tensor(padding_id, shape=tf.stack([-1, length]))


def bucket_lengths(max_length: int):
    """Yields the lengths of the buckets: even numbers that grow by about an eighth."""
    length = 8
    while length < max_length:
        yield length
        length += max(2, length // 8 // 2 * 2)
    yield max_length
