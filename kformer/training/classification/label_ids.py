"""Labels as rows of one id, and texts as rows of ids, of which long ones are cut.

Axes: N texts.
"""

import tensorflow as tf


class LabelIds:
    """Looks labels up as a tokenizer would: a row for each text, its label's place.

    Args:
        labels: The C labels.
    """

    def __init__(self, labels):
        self.vocab_size = len(labels)
        places = tf.range(len(labels), dtype=tf.int32)
        initial = tf.lookup.KeyValueTensorInitializer(tf.constant(labels), places)
        self._table = tf.lookup.StaticHashTable(initial, -1)

    def tokenize(self, labels):
        """Returns the place of each label, int32 `tf.RaggedTensor` (N, 1)."""
        return tf.RaggedTensor.from_tensor(self._table.lookup(labels)[:, tf.newaxis])

    def with_end(self, rows):
        """Appends a 0: rows of text have an end id, too, and a row without one is blank."""
        return tf.concat([rows, tf.zeros_like(rows)], axis=1)


class FirstIds:
    """A tokenizer of the beginnings of texts: so much as a row holds.

    Args:
        tokenizer: `kformer.Tokenizer`.
        max_length: Maximum number of ids of a row, its end id included.
    """

    def __init__(self, tokenizer, max_length: int):
        self._tokenizer = tokenizer
        self._most = max_length - 1
        self.padding_id = tokenizer.padding_id

    def tokenize(self, texts):
        """Returns the first ids of each text, without its end id; a ragged tensor (N, None)."""
        return self._tokenizer.tokenize(texts)[:, : self._most]

    def with_end(self, rows):
        """See `kformer.Tokenizer.with_end`."""
        return self._tokenizer.with_end(rows)
