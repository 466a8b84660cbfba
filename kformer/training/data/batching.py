"""Batches of sentence pairs of similar length, with about the same number of tokens.

A window has N pairs. A bucket is a range of lengths.
"""

from collections.abc import Iterator

import tensorflow as tf


class Batching:
    """Sorts pairs by length, the longest first, and cuts them into batches, in graph.

    A pair belongs to the bucket of its longer side. The pairs of a bucket are sorted by the length
    of the source, so that both sides need little padding. A batch has as many pairs as fit at the
    length of its first pair's bucket; only the last batch is not full.

    Args:
        tokens_per_batch: Maximum ids of the longer side of a batch, with padding.
        max_length: Maximum ids per sentence.
    """

    def __init__(self, tokens_per_batch: int, max_length: int):
        lengths = list(bucket_lengths(max_length))
        self._lengths = tf.constant(lengths)
        self._sizes = tf.constant([tokens_per_batch // length for length in lengths])

    def limits(self, source_lengths, target_lengths):
        """Returns where batches begin and end among pairs sorted by `order`.

        Args:
            source_lengths, target_lengths: int32 tensors (N,), in any order.

        Returns:
            int32 tensor (number of batches + 1,): batch i has the pairs from limits[i] up to
            limits[i + 1], exclusive.
        """
        bucket = tf.sort(self.bucket(source_lengths, target_lengths), direction="DESCENDING")
        sizes = tf.gather(self._sizes, bucket)
        number = tf.size(bucket)

        def one_more(limits):
            return tf.concat([limits, [limits[-1] + sizes[limits[-1]]]], axis=0)

        start = tf.constant([0])
        limits = tf.while_loop(
            lambda limits: limits[-1] < number, one_more, [start], [tf.TensorShape([None])]
        )[0]
        return tf.minimum(limits, number)

    def order(self, source_lengths, target_lengths, tie):
        """Sorts pairs, the longest first.

        Args:
            source_lengths, target_lengths: int32 tensors (N,).
            tie: int64 tensor (N,) below 2^32; pairs of equal lengths are sorted by it.

        Returns:
            int32 tensor (N,), indices of pairs.
        """
        bucket = tf.cast(self.bucket(source_lengths, target_lengths), tf.int64)
        length = bucket * 2**48 + tf.cast(source_lengths, tf.int64) * 2**32
        return tf.argsort(tie - length, stable=True)

    def bucket(self, source_lengths, target_lengths):
        """Returns the number of the bucket of each pair, int32 (N,)."""
        longer = tf.maximum(source_lengths, target_lengths)
        return tf.searchsorted(self._lengths, longer)

    def pad(self, rows, padding_id: int):
        """Pads rows to the smallest bucket length that fits them.

        Rows longer than all buckets, due to byte-fallback augmentation, get a multiple of 8.

        Args:
            rows: int32 `tf.RaggedTensor` (B, None).
            padding_id: The id to pad with.

        Returns:
            int32 tensor (B, L).
        """
        longest = tf.cast(rows.bounding_shape(axis=1), tf.int32)
        lengths = tf.concat([self._lengths, [-(-longest // 8) * 8]], axis=0)
        length = tf.reduce_min(tf.boolean_mask(lengths, lengths >= longest))
        return rows.to_tensor(padding_id, shape=tf.stack([-1, length]))


def bucket_lengths(max_length: int) -> Iterator[int]:
    """Yields the lengths of the buckets: even numbers that grow by about an eighth."""
    length = 8
    while length < max_length:
        yield length
        length += max(2, length // 8 // 2 * 2)
    yield max_length
