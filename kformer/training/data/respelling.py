"""Replaces random ids of training text by other ids that spell the same text."""

import tensorflow as tf


class Respelling:
    """Replaces random ids of rows by their other spellings, in graph.

    Args:
        spellings: For each id of the vocabulary, the ids that replace it; a list of the id alone
            if there is no other spelling.
        rate: Share of the ids to replace, in [0, 1].
    """

    def __init__(self, spellings: list[list[int]], rate: float):
        unchanged = [[i] for i in range(len(spellings))]
        self._table = tf.ragged.constant([*unchanged, *spellings], tf.int32)  # (2 V, None)
        self._vocab_size = len(spellings)
        self._rate = rate

    def __call__(self, rows, seed):
        """Returns the rows with random ids replaced.

        Args:
            rows: int32 `tf.RaggedTensor` (B, None).
            seed: int64 tensor (2,); the same seed chooses the same ids.

        Returns:
            int32 `tf.RaggedTensor` (B, None), as long or longer.
        """
        chance = tf.random.stateless_uniform(tf.shape(rows.flat_values), seed)
        shift = tf.where(chance < self._rate, self._vocab_size, 0)
        shifted = rows.with_flat_values(rows.flat_values + shift)
        return tf.gather(self._table, shifted).merge_dims(1, 2)
