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
        self._lengths = tf.constant(lengths)
        self._sizes = tf.constant([tokens_per_batch // length for length in lengths])

    def limits(self, source_lengths, target_lengths):
        """Cuts pairs, the longest first, into batches of like length.

        Args:
            source_lengths, target_lengths: int32 tensors (N,), in any order.

        Returns:
            int32 tensor (number of batches + 1,): batch i holds the pairs from limits[i] up to
            limits[i + 1], if they are in `order`.
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
