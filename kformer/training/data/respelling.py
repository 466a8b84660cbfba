"""Random pieces of training text, spelled otherwise: other ids, the same text."""

import tensorflow as tf


class Respelling:
    """Replaces random ids of rows by the ids that spell them otherwise.

    Args:
        spellings: For each id of the vocabulary, the ids to replace it by; a list of itself alone
            where there is no other way.
        rate: Share of the ids that are replaced, in [0, 1].
    """

    def __init__(self, spellings: list[list[int]], rate: float):
        unchanged = [[i] for i in range(len(spellings))]
        self._table = tf.ragged.constant([*unchanged, *spellings], tf.int32)  # (2 V, None)
        self._vocab_size = len(spellings)
        self._rate = rate

    def __call__(self, rows, seed):
        """Respells, in graph.

        Args:
            rows: int32 `tf.RaggedTensor` (B, None).
            seed: int64 tensor (2,); the same seed makes the same choice.

        Returns:
            int32 `tf.RaggedTensor` (B, None), as long or longer.
        """
        chance = tf.random.stateless_uniform(tf.shape(rows.flat_values), seed)
        shift = tf.where(chance < self._rate, self._vocab_size, 0)
        shifted = rows.with_flat_values(rows.flat_values + shift)
        return tf.gather(self._table, shifted).merge_dims(1, 2)
