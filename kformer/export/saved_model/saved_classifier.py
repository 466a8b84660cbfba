"""The SavedModel of a classifier: its signature returns the label of each text.

Axes: B batch, C classes.
"""

from collections.abc import Sequence

import keras
import tensorflow as tf

from kformer.export.saved_model.graph_search import compiled, map_in_chunks
from kformer.export.saved_model.serving_signatures import ServingSignatures
from kformer.export.saved_model.text_in_graph import joined
from kformer.export.saved_model.warmup import BatchLimits, Examples, examples_of
from kformer.inference.search_options import SearchOptions
from kformer.tasks.text_classifier import TextClassifier


class SavedClassifierSignatures(ServingSignatures):
    """The functions of a classifier that a server runs.

    Args:
        classifier: `kformer.TextClassifier`.
        network: The float32 copy of its network whose variables are saved.
        limits: `kformer.export.saved_model.warmup.BatchLimits`.
        xla: Whether to compile the network.
    """

    def __init__(
        self,
        classifier: TextClassifier,
        network: keras.Model,
        limits: BatchLimits,
        xla: bool = False,
    ):
        super().__init__(classifier, network, limits)
        self._labels = classifier.labels
        self._probabilities = network.probabilities
        if xla:
            padding_id = self._tokenizer.padding_id
            self._probabilities = compiled(network.probabilities, padding_id, self._longest)

    def _own(self):
        return {"serving_default": self.classify, "classify": self.classify}

    def classify(self, text: tf.Tensor):
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
        outputs = map_in_chunks(classify, spec, self._at_once(rows), rows.ids)
        labels = tf.constant(self._labels)
        best = tf.argmax(outputs["probabilities"], axis=1, output_type=tf.int32)
        return {
            "label": tf.gather(labels, best),
            **outputs,
            "labels": tf.tile(labels[tf.newaxis], [tf.size(best), 1]),
            "flags": joined(rows.flags("source")),
        }


class SavedTaggerSignatures(SavedClassifierSignatures):
    """The functions of a tagger that a server runs.

    Args:
        tagger: `kformer.TextTagger`.
        network, limits, xla: As for `SavedClassifierSignatures`.
    """

    def __init__(self, tagger, network, limits, xla=False):
        super().__init__(tagger, network, limits, xla)
        self._word_starts = tagger.word_starts

    def _own(self):
        return {"serving_default": self.tag, "tag": self.tag}

    def tag(self, text):
        """Returns the labels of the words of each text, at the places of their first ids.

        Returns:
            labels: string (B, S), "" where no word begins; S is the model's limit, because a server
                can only merge outputs of one shape.
            probabilities: float32 (B, S), of these labels.
            flags: string (B,).
        """
        rows = self._sources(text)

        def tag(ids):
            source = self._filled(ids)
            probabilities = self._probabilities(source)[:, : tf.shape(source)[1]]
            best = tf.argmax(probabilities, axis=2, output_type=tf.int32)
            labels = tf.where(tf.gather(self._word_starts, source), best, -1)
            rest = [[0, 0], [0, self._longest - tf.shape(source)[1]]]
            return {
                "labels": tf.pad(labels, rest, constant_values=-1),
                "probabilities": tf.pad(tf.reduce_max(probabilities, axis=2), rest),
            }

        dtypes = {"labels": tf.int32, "probabilities": tf.float32}
        specs = {name: tf.TensorSpec([None, self._longest], dtypes[name]) for name in dtypes}
        outputs = map_in_chunks(tag, specs, self._at_once(rows), rows.ids)
        labels = tf.gather(tf.constant(["", *self._labels]), outputs["labels"] + 1)
        return {**outputs, "labels": labels, "flags": joined(rows.flags("source"))}


class SavedClassifierExport:
    """The settings, examples and signatures of a classifier, for `export_saved_model`.

    Args:
        classifier: `kformer.TextClassifier`.
        options: `SearchOptions`, the defaults: a classifier does not search.
    """

    signatures_class: type[SavedClassifierSignatures] = SavedClassifierSignatures

    def __init__(self, classifier: TextClassifier, options: SearchOptions):
        self._classifier = classifier
        self.tokenizers = [classifier.tokenizer]
        self.settings = {"labels": list(classifier.labels)}
        self.about = f"Its labels are {', '.join(classifier.labels)}."

    def signatures(
        self, network: keras.Model, limits: BatchLimits, xla: bool
    ) -> SavedClassifierSignatures:
        """Returns the signatures, with the weights of `network`."""
        return self.signatures_class(self._classifier, network, limits, xla)

    def examples(self, texts: Sequence[str] | None) -> dict[str, Examples]:
        """Returns examples by the name of an input, of `texts` or of the vocabulary."""
        return {"text": examples_of(self._classifier.tokenizer, texts)}


class SavedTaggerExport(SavedClassifierExport):
    """The settings, examples and signatures of a tagger, for `export_saved_model`."""

    signatures_class = SavedTaggerSignatures
