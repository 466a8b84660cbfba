"""Flags of degenerate output, as `kformer.text.degenerate` computes them, in graph.

Axes: B batch, S source length, T target length, L length of either.
"""

import tensorflow as tf

from kformer.text.degenerate import MAX_RATIO, MIN_ECHOES, MIN_TIMES, SLACK


def degenerate_flags(source, source_length, target, target_length):
    """Returns the flags of translations, as `kformer.text.degenerate.degenerate_flags` does.

    Args:
        source, target: int32 tensors (B, S) and (B, T), ids followed by padding.
        source_length, target_length: int32 tensors (B,), numbers of ids without the end ids.

    Returns:
        dict of bool tensors (B,): "loop" and "length ratio".
    """
    times = repetitions(target, target_length)
    fewer = tf.minimum(source_length, target_length)
    more = tf.maximum(source_length, target_length)
    missing = (source_length > 0) & (target_length == 0)
    return {
        "loop": (times >= MIN_TIMES) & (times > 2 * repetitions(source, source_length)),
        "length ratio": (more > MAX_RATIO * fewer + SLACK) | missing,
    }


def repetitions(ids, lengths):
    """Returns how often the n-gram that makes up most of a row repeats; 1 if there is none.

    Only rows with enough repeated ids are searched, which are few.

    Args:
        ids: int32 tensor (B, L).
        lengths: int32 tensor (B,).

    Returns:
        int32 tensor (B,).
    """
    needed = tf.maximum(MIN_ECHOES, (lengths + 1) // 2)
    suspicious = tf.where(lengths - _distinct(ids, lengths) >= needed)  # (rows, 1)
    times = tf.cond(
        tf.size(suspicious) > 0,
        lambda: _most(
            *(tf.gather_nd(rows, suspicious) for rows in (ids, lengths, needed)),
        ),
        lambda: tf.zeros((0,), tf.int32),
    )
    return tf.tensor_scatter_nd_update(tf.ones_like(lengths), suspicious, times)


def _distinct(ids, lengths):
    """Returns the number of distinct ids of each row, int32 (B,)."""
    real = tf.sequence_mask(lengths, tf.shape(ids)[1])
    ordered = tf.sort(tf.where(real, ids, -1), axis=1)
    first = tf.not_equal(ordered[:, 1:], ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    started = tf.reduce_any(ordered[:, :1] >= 0, axis=1)
    return tf.reduce_sum(tf.cast(first, tf.int32), axis=1) + tf.cast(started, tf.int32)


def _most(ids, lengths, needed):
    """Returns `repetitions` by trying every n."""
    places = tf.range(tf.shape(ids)[1])
    real = tf.sequence_mask(lengths, tf.shape(ids)[1])
    # A run of at least `needed` echoes covers the middle of its row.
    middle = (lengths // 2)[:, tf.newaxis]

    def longer(n, most):
        echoes = tf.equal(ids, tf.roll(ids, n, axis=1)) & real & (places >= n)
        before = tf.where(echoes | (places > middle), -1, places)
        after = tf.where(echoes | (places < middle), tf.size(places), places)
        longest = tf.reduce_min(after, axis=1) - tf.reduce_max(before, axis=1) - 1
        return n + 1, tf.where(longest >= needed, tf.maximum(most, longest // n + 1), most)

    _, most = tf.while_loop(
        lambda n, most: n <= tf.size(places) // 2, longer, (1, tf.ones_like(lengths))
    )
    return most
