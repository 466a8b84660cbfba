"""The signature of a classifier: the label of each text.

Axes: B batch, C classes.
"""

import tensorflow as tf

from kformer.export.saved_model.graph.chunks import map_in_chunks
from kformer.export.saved_model.graph.compiled import compiled
from kformer.export.saved_model.graph.reading import joined
from kformer.export.saved_model.graph.signatures import Signatures


class ClassifierSignatures(Signatures):
    """The functions of a classifier that a server runs; see `Signatures`.

    Args:
        classifier: `kformer.TextClassifier`.
        network: The float32 copy of its network whose variables are saved.
        limits: `kformer.export.saved_model.batch_limits.BatchLimits`.
        xla: Whether to compile the network.
    """

    def __init__(self, classifier, network, limits, xla=False):
        super().__init__(classifier, network, limits)
        self._labels = classifier.labels
        self._probabilities = network.probabilities
        if xla:
            padding_id = self._tokenizer.padding_id
            self._probabilities = compiled(network.probabilities, padding_id, self._longest)

    def _own(self):
        return {"serving_default": self.classify, "classify": self.classify}

    def classify(self, text):
        """Returns the most probable label of each text.

        Returns:
            label: string (B,).
            probabilities: float32 (B, C), each row in the order of `labels`.
            labels: string (B, C), all labels, the same in each row.
            flags: string (B,).
        """
        rows = self._sources(text)

        def classify(ids):
            return {"probabilities": self._probabilities(self._filled(ids))}

        spec = {"probabilities": tf.TensorSpec([None, len(self._labels)], tf.float32)}
        found = map_in_chunks(classify, spec, self._at_once(rows), rows.ids)
        labels = tf.constant(self._labels)
        best = tf.argmax(found["probabilities"], axis=1, output_type=tf.int32)
        return {
            "label": tf.gather(labels, best),
            **found,
            "labels": tf.tile(labels[tf.newaxis], [tf.size(best), 1]),
            "flags": joined(rows.flags("source")),
        }
