"""The `.tflite` file of a classifier: signatures that return labels and their probabilities.

Axes: B batch, S most ids of a text, C classes.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from kformer.export.tflite.quantized_embedding import with_parts, with_quantized_embeddings
from kformer.export.tflite.tflite_signatures import (
    Limits,
    TFLiteSignatures,
    beginning,
    signature,
    vector,
)
from kformer.inference.search_options import SearchOptions
from kformer.pocket.pocket_classifier import PocketClassifier, PocketTagger
from kformer.pocket.pocket_model import SOURCE_CUT
from kformer.tasks.text_classifier import TextClassifier


class TFLiteClassifierSignatures(TFLiteSignatures):
    """The signatures of a classifier's file: classification of bytes and of ids.

    Args:
        classifier: `kformer.TextClassifier`.
        network: `kformer.SequenceClassifier`.
        limits: `Limits`.
        batch_size: B; if over 1, there are also signatures for B texts at once.
        constant: As for `TFLiteSignatures`.
    """

    names = ("classify", "encode_text", "classify_ids", "tokenize")

    def __init__(
        self,
        classifier: TextClassifier,
        network: keras.Model,
        limits: Limits,
        batch_size: int,
        constant: Callable,
    ):
        super().__init__(classifier.tokenizer, network, limits, constant)
        self._labels = _table(classifier.labels)
        self._classified = [self._traced_once(length) for length in limits.lengths]
        self._add_functions(self.names[2], self._batch_function, batch_size)

    def _classify(self):
        @signature(source=((self._limits.source_bytes,), tf.uint8))
        def classify(source):
            tokens = self._source.tokenize(source, self._limits.source_length)
            probabilities = self._probabilities(tf.expand_dims(tokens.ids, 0), tokens.count)
            best = tf.math.top_k(probabilities, 1).indices  # (1, 1): the first of equal ones.
            return {
                "label": tf.reshape(tf.gather(self._labels, best), [-1]),
                "probabilities": tf.reshape(probabilities, [-1]),
                "truncated": vector(SOURCE_CUT * tf.cast(tokens.cut, tf.int32)),
            }

        return classify

    def _classify_ids(self):
        @signature(source=((1, self._limits.source_length), tf.int32))
        def classify_ids(source):
            return {"probabilities": self._probabilities(source, self._count(source))}

        return classify_ids

    def _batch_function(self, batch, length):
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


class TFLiteTaggerSignatures(TFLiteClassifierSignatures):
    """The signatures of a tagger's file: labels of the words in bytes, or in ids.

    `labels`, int32, has the place of a label where a word begins, and -1 elsewhere.

    Args:
        tagger: `kformer.TextTagger`.
        network: `kformer.TokenClassifier`.
        limits, batch_size, constant: As for `TFLiteClassifierSignatures`.
    """

    names = ("tag", "encode_text", "tag_ids", "tokenize")

    def __init__(self, tagger, network, limits, batch_size, constant):
        self._word_starts = tagger.word_starts
        super().__init__(tagger, network, limits, batch_size, constant)

    def _tag(self):
        @signature(source=((self._limits.source_bytes,), tf.uint8))
        def tag(source):
            tokens = self._source.tokenize(source, self._limits.source_length)
            outputs = self._probabilities(tf.expand_dims(tokens.ids, 0), tokens.count)
            return {
                **{name: tf.reshape(value, [-1]) for name, value in outputs.items()},
                "truncated": vector(SOURCE_CUT * tf.cast(tokens.cut, tf.int32)),
            }

        return tag

    def _tag_ids(self):
        @signature(source=((1, self._limits.source_length), tf.int32))
        def tag_ids(source):
            return self._probabilities(source, self._count(source))

        return tag_ids

    def _batch_function(self, batch, length):
        @signature(source=((batch, length), tf.int32))
        def tag_ids(source):
            return self._tags(source)

        return tag_ids

    def _traced_once(self, length):
        rest = [[0, 0], [0, self._limits.source_length - length]]

        def tags(source):
            outputs = self._tags(source)
            return {
                "labels": tf.pad(outputs["labels"], rest, constant_values=-1),
                "probabilities": tf.pad(outputs["probabilities"], rest),
            }

        spec = tf.TensorSpec((1, length), tf.int32)
        return tf.function(tags, input_signature=[spec], autograph=False)

    def _tags(self, source):
        """Returns labels and their probabilities, (B, S), of the first pieces of words."""
        best = tf.math.top_k(self._network.probabilities(source), 1)  # The first of equal ones.
        begins = tf.gather(tf.constant(self._word_starts.astype("int32")), source) > 0
        return {
            "labels": tf.where(begins, tf.squeeze(best.indices, 2), -1),
            "probabilities": tf.squeeze(best.values, 2),
        }


def _table(labels):
    """Returns the labels in UTF-8, uint8 (C, capacity), each ended by at least one zero."""
    encoded = [label.encode("utf-8") for label in labels]
    capacity = max(map(len, encoded)) + 1
    return tf.constant([list(label.ljust(capacity, b"\0")) for label in encoded], tf.uint8)


class TFLiteClassifierExport:
    """The metadata, signatures and test vectors of a classifier, for `export_tflite`.

    Args:
        classifier: `kformer.TextClassifier`.
        options: `SearchOptions`, the defaults: a classifier does not search.
    """

    pocket: type[PocketClassifier | PocketTagger] = PocketClassifier
    signatures_class: type[TFLiteClassifierSignatures] = TFLiteClassifierSignatures
    names = TFLiteClassifierSignatures.names

    def __init__(self, classifier: TextClassifier, options: SearchOptions):
        self._classifier = classifier
        self.about: dict = {}
        self.tokenizers = [classifier.tokenizer]

    def quantized(self, network: keras.Model, constant: Callable, bits: int):
        """Returns `network`, a `kformer.SequenceClassifier`, whose table is rounded."""
        encoder = with_quantized_embeddings(network.encoder, constant, bits)
        return with_parts(network, encoder=encoder)

    def signatures(
        self, network: keras.Model, limits: Limits, batch_size: int, constant: Callable
    ) -> TFLiteClassifierSignatures:
        """Returns the signatures of `network`, whose tables of text are made by `constant`."""
        return self.signatures_class(self._classifier, network, limits, batch_size, constant)

    def metadata(self, limits: Limits) -> dict:
        """Returns the labels, the sizes of the model and its special ids."""
        network, tokenizer = self._classifier.network, self._classifier.tokenizer
        config = network.encoder.get_config()
        sizes = ("num_layers", "d_model", "num_heads", "d_ff", "activation", "vocab_size")
        return {
            "labels": list(self._classifier.labels),
            **self._head(),
            **{name: config[name] for name in sizes},
            "parameters": network.count_params(),
            "padding_id": tokenizer.padding_id,
            "unknown_id": tokenizer.unknown_id,
            "end_id": tokenizer.end_id,
        }

    def _head(self) -> dict:
        return {"pooling": self._classifier.network.pooling}

    def answer(self, pocket: Any, text: str) -> dict:
        """Returns the answer of `pocket`, which runs the file, to a text, for a test vector."""
        [label], [probabilities] = pocket.predict([text])
        return {"label": label, "probabilities": [round(float(p), 6) for p in probabilities]}


class TFLiteTaggerExport(TFLiteClassifierExport):
    """The metadata and signatures of a tagger, for `export_tflite`."""

    pocket = PocketTagger
    signatures_class = TFLiteTaggerSignatures
    names = TFLiteTaggerSignatures.names

    def _head(self) -> dict:
        return {}

    def answer(self, pocket: Any, text: str) -> dict:
        """Returns the labels of a text by `pocket`, which runs the file, for a test vector."""
        [tagging] = pocket.tag([text])
        return {"labels": tagging.labels}
