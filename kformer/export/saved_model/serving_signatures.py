"""The signatures of every SavedModel: functions of strings, batch first.

Large requests are processed in chunks of rows.
Axes: B batch, S length in ids, D d_model.
"""

import inspect
from typing import Any

import keras
import tensorflow as tf

from kformer.decoding.scoring import likelihood
from kformer.export.saved_model.graph_search import (
    BATCH_CLASSES,
    class_of,
    length_classes,
    map_in_chunks,
)
from kformer.export.saved_model.text_in_graph import Languages, characters_read, joined, read
from kformer.export.saved_model.warmup import BatchLimits
from kformer.tasks.text_model import TextModel, sentence_vectors

CHUNK_LOGITS = 2**24  # Logits scored at once: 64 MiB.
MAX_TEXTS = 1024  # Per request to a server that does not merge requests.
CHUNK_ROWS = BATCH_CLASSES[-1]  # Rows processed at once.
CHUNK_IDS = CHUNK_ROWS * 64  # Ids of texts processed at once, with padding.


class ServingSignatures:
    """The functions of a model that a server runs; base class.

    Every `text` is string (B,). `flags` is string: problems separated by commas, usually "". Flags
    of a text are "source cut" and "source not UTF-8" (broken bytes were read as U+FFFD). Requests
    over the limits of texts, characters or ids fail.

    If the tokenizer has target languages to choose from, every signature takes `target_language`,
    too, string (B,). A text with an unknown language has a flag that lists the known ones.

    A subclass names the signatures of its own kind of model with `_own`.

    Args:
        model: `kformer.Translator`, `kformer.TextClassifier`, `kformer.TextTagger` or
            `kformer.LanguageModel`.
        network: The float32 copy of its network whose variables are saved.
        limits: `kformer.export.saved_model.warmup.BatchLimits`.
    """

    def __init__(self, model: TextModel, network: keras.Model, limits: BatchLimits):
        self._tokenizer = model.tokenizer
        self._network = network
        self._longest = model.max_source_length
        self._limits = limits
        ids = model.tokenizer.language_ids
        self._languages = Languages(ids) if ids else None

    def functions(self):
        """Returns the signatures: concrete functions by name."""
        methods = {**self._own(), "encode": self.encode, "tokenize": self.tokenize}
        traced = {method: self._traced(method) for method in methods.values()}
        return {name: traced[method] for name, method in methods.items()}

    def _own(self):
        """Returns methods by the names of signatures; one method may have several names."""
        raise NotImplementedError

    def encode(self, text: tf.Tensor, target_language: str | None = None):
        """Returns a vector for each text, for comparing texts: the mean of the encoder's output.

        Returns:
            vector: float32 (B, D), the mean over the ids of the text with its end.
            flags: string (B,).
        """
        rows = self._sources(text, target_language)

        def encode(ids):
            return {"vector": sentence_vectors(self._network, self._filled(ids))}

        spec = {"vector": tf.TensorSpec([None, self._network.d_model], tf.float32)}
        vectors = map_in_chunks(encode, spec, self._at_once(rows), rows.ids)
        return {**vectors, "flags": joined(rows.flags("source"))}

    def tokenize(self, text: tf.Tensor, target_language: str | None = None):
        """Returns the ids of each text.

        Returns:
            ids: int32 (B, S): pieces, the end id, padding. S is always the model's limit, because
                a server can only merge outputs of one shape.
            length: int32 (B,), number of ids without padding.
            flags: string (B,).
        """
        rows = self._read(self._tokenizer, text, self._longest, target_language)
        ids = rows.ids.to_tensor(self._tokenizer.padding_id, shape=(None, self._longest))
        return {"ids": ids, "length": rows.lengths, "flags": joined(rows.flags("source"))}

    def _traced(self, method):
        """Returns the concrete function of a method whose arguments are string (B,)."""
        names = [*inspect.signature(method).parameters]
        if not self._languages:
            names = [name for name in names if name != "target_language"]
        strings = [tf.TensorSpec([None], tf.string, name=name) for name in names]
        traced = tf.function(method, input_signature=strings, autograph=False)
        return traced.get_concrete_function()

    def _sources(self, text, target_language=None):
        """Reads the texts of a request within all limits; returns `Read`."""
        read = self._read(self._tokenizer, text, self._longest, target_language)
        [rows] = self._within_limits(read)
        return rows

    def _read(self, tokenizer, text, max_length, target_language=None):
        # A request may violate the declared shape; the check runs only if the shape is unknown.
        unchecked = tf.raw_ops.PlaceholderWithDefault(input=text, shape=tf.TensorShape(None))
        text = tf.ensure_shape(unchecked, [None])
        with tf.control_dependencies([_at_most(MAX_TEXTS, "texts", tf.size(text))]):
            text = tf.identity(text)
        total = tf.reduce_sum(characters_read(text))
        few = _at_most(self._limits.characters, "characters in all of its texts", total)
        with tf.control_dependencies([few]):
            text = tf.identity(text)
        if target_language is None:
            return read(tokenizer, text, max_length)
        with tf.control_dependencies([as_many("languages as texts", text, target_language)]):
            prefix_ids, known = self._languages.find(tf.identity(target_language))
        rows = read(tokenizer, text, max_length, prefix_ids)
        return rows._replace(language_flags={self._languages.unknown: ~known})

    def _within_limits(self, *several):
        """Returns the same `Read`s after checking that they are within the limit of ids."""
        total = sum(tf.reduce_sum(rows.lengths) for rows in several)
        few = _at_most(self._limits.tokens, "ids in all of its texts", total)
        with tf.control_dependencies([few]):
            return [rows._replace(ids=tf.identity(rows.ids)) for rows in several]

    def _scored(self, sources, targets, start_id, at_once):
        """Returns the outputs `log_probability` and `tokens` of a signature that scores `targets`.

        Args:
            sources: int32 `tf.RaggedTensor` (B, None).
            at_once: int32 (), maximum number of rows at once; fewer, if their logits are many.
        """
        length = tf.reduce_max(tf.concat([targets.lengths, [1]], axis=0))
        chunk = CHUNK_LOGITS // (length * self._network.target_embedding.vocab_size)
        padding_id = self._network.padding_id

        def score(source, target):
            lengths = target.row_lengths()
            target = target.to_tensor(padding_id)
            values, _ = likelihood(self._network, source.to_tensor(padding_id), target, start_id)
            real = tf.sequence_mask(lengths, tf.shape(target)[1])
            return {"log_probability": tf.reduce_sum(tf.where(real, values, 0.0), axis=1)}

        spec = {"log_probability": tf.TensorSpec([None], tf.float32)}
        at_once = tf.clip_by_value(chunk, 1, at_once)
        scores = map_in_chunks(score, spec, at_once, sources, targets.ids)
        return {**scores, "tokens": targets.lengths}

    def _filled(self, ids):
        """Returns the ids that the network reads for pieces and the end id, int32 (B, S)."""
        return ids.to_tensor(self._tokenizer.padding_id)

    def _at_once(self, rows):
        """Returns how many rows to process at once: fewer if they are long."""
        longest = tf.reduce_max(tf.concat([rows.lengths, [1]], axis=0))
        filled = class_of(longest, length_classes(self._longest))
        return tf.clip_by_value(CHUNK_IDS // filled, 1, CHUNK_ROWS)


def input_specs(function: Any) -> list:
    """Returns the `tf.TensorSpec`s of a signature's inputs."""
    specs, _ = function.structured_input_signature
    return [spec for spec in specs if spec is not None]  # Unused inputs are None.


def input_names(function: Any) -> list[str]:
    """Returns the names of a signature's inputs."""
    return [spec.name for spec in input_specs(function)]


def as_many(what: str, texts: tf.Tensor, more_texts: tf.Tensor):
    """Returns an operation that fails unless two inputs, string (B,), are of one length."""
    return tf.debugging.Assert(
        tf.equal(tf.size(texts), tf.size(more_texts)),
        [f"There must be as many {what}. Received:", tf.size(texts), tf.size(more_texts)],
    )


def _at_most(limit: int, unit: str, number):
    """Returns an operation that fails if `number`, int32 (), is over the limit."""
    message = f"A request may hold at most {limit} {unit}. Received:"
    return tf.debugging.Assert(number <= limit, [message, number])
