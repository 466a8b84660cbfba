"""The signatures of a classifier's `.tflite` file.

Axes: B batch, S most ids of a text, C classes.
"""

import tensorflow as tf

from kformer.export.tflite.signatures import Signatures, beginning, signature, vector
from kformer.pocket.model import SOURCE_CUT


class ClassifierSignatures(Signatures):
    """Classification of bytes and of ids; see `Signatures`.

    Args:
        classifier: `kformer.TextClassifier`.
        network: `kformer.SequenceClassifier`.
        limits: `Limits`.
        batch_size: B; if over 1, there are also signatures for B texts at once.
        constant: See `Signatures`.
    """

    names = ("classify", "encode_text", "classify_ids", "tokenize")

    def __init__(self, classifier, network, limits, batch_size, constant):
        super().__init__(classifier.tokenizer, network, limits, constant)
        self._labels = _table(classifier.labels)
        self._classified = [self._traced_once(length) for length in limits.lengths]
        self._add_functions("classify_ids", self._classify_batch, batch_size)

    def _classify(self):
        @signature(source=((self._limits.source_bytes,), tf.uint8))
        def classify(source):
            tokens = self._source.tokenize(source, self._limits.source_length)
            found = self._probabilities(tf.expand_dims(tokens.ids, 0), tokens.count)
            best = tf.math.top_k(found, 1).indices  # (1, 1): the first of equal ones.
            return {
                "label": tf.reshape(tf.gather(self._labels, best), [-1]),
                "probabilities": tf.reshape(found, [-1]),
                "truncated": vector(SOURCE_CUT * tf.cast(tokens.cut, tf.int32)),
            }

        return classify

    def _classify_ids(self):
        @signature(source=((1, self._limits.source_length), tf.int32))
        def classify_ids(source):
            return {"probabilities": self._probabilities(source, self._count(source))}

        return classify_ids

    def _classify_batch(self, batch, length):
        @signature(source=((batch, length), tf.int32))
        def classify_ids(source):
            return {"probabilities": self._network.probabilities(source)}

        return classify_ids

    def _probabilities(self, source, count):
        """Returns float32 (1, C) of a text, by the shortest branch that fits `count` ids."""

        def within(length, classified):
            return lambda: classified(beginning(source, length))

        return self._by_length(count, [*map(within, self._limits.lengths, self._classified)])

    def _traced_once(self, length):
        """Returns the network for one text, which two signatures share."""
        return tf.function(
            self._network.probabilities,
            input_signature=[tf.TensorSpec((1, length), tf.int32)],
            autograph=False,
        )


def _table(labels):
    """Returns the labels in UTF-8, uint8 (C, capacity), each ended by at least one zero."""
    encoded = [label.encode("utf-8") for label in labels]
    capacity = max(map(len, encoded)) + 1
    return tf.constant([list(label.ljust(capacity, b"\0")) for label in encoded], tf.uint8)
