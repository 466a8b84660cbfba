"""The signatures of the SavedModel: functions of strings, batch first.

Large requests are processed in chunks of rows.
Axes: B batch, N sequences a text, S source length, T target length, D d_model.
"""

import inspect

import tensorflow as tf

from kformer.decoding.options import EXTRA_LENGTH
from kformer.decoding.scoring import likelihood
from kformer.decoding.search_ids import make_search
from kformer.export.saved_model.batch_limits import MAX_TEXTS, at_most
from kformer.export.saved_model.chunks import map_in_chunks
from kformer.export.saved_model.compiled import BATCH_CLASSES, class_of, length_classes
from kformer.export.saved_model.reading import characters_read, joined, read
from kformer.export.saved_model.translating import Translating
from kformer.tasks.features import sentence_vectors

BEAMS = 4  # Of the signature `beam`, if the export has a greedy search.
CHUNK_ROWS = BATCH_CLASSES[-1]  # Rows decoded at once.
CHUNK_IDS = CHUNK_ROWS * 64  # Ids of sources decoded at once, with padding.
CHUNK_LOGITS = 2**24  # Logits scored at once: 64 MiB.


class Signatures:
    """The functions of a translator that a server runs.

    Every `text` is string (B,). `flags` is string: problems separated by commas, usually "". Flags
    of a text are "source cut" and "source not UTF-8" (broken bytes were read as U+FFFD); flags of
    a translation are "length limit", "loop" and "length ratio", as in `kformer.Translation`.
    Requests over the limits of texts, characters or ids fail.

    Args:
        translator: `kformer.Translator`.
        transformer: The float32 copy of its transformer whose variables are saved.
        beam_size, length_penalty: See `kformer.Translator.translate`.
        limits: `kformer.export.saved_model.batch_limits.BatchLimits`.
        xla: Whether to compile the decode loops.
    """

    def __init__(self, translator, transformer, beam_size, length_penalty, limits, xla=False):
        self._source, self._target = translator.tokenizer, translator.target_tokenizer
        self._transformer = transformer
        self._longest = translator.max_source_length
        self._limits = limits
        self.n_best = beam_size if beam_size > 1 else BEAMS

        def translating(beam_size, number):
            search = make_search(self._target, beam_size, length_penalty, number)
            most = self._longest if xla else None
            return Translating(transformer, search, number, self._target, most)

        self._best = translating(beam_size, 1)
        self._several = translating(self.n_best, self.n_best)

    def functions(self):
        """Returns the signatures: concrete functions by name."""
        methods = {
            "serving_default": self.translate,
            "beam": self.beam,
            "score": self.score,
            "encode": self.encode,
            "tokenize": self.tokenize,
        }
        return {name: _traced(method) for name, method in methods.items()}

    def translate(self, text):
        """Returns the best translation of each text.

        Returns:
            translation: string (B,).
            score: float32 (B,), see `kformer.Greedy` and `kformer.Beam`.
            truncated: bool (B,), whether the text was cut.
            flags: string (B,).
        """
        [rows] = self._within_limits(self._read(self._source, text, self._longest))
        said = self._best(rows, self._at_once(rows))
        best = {name: tensor[:, 0] for name, tensor in said.items()}
        return {**best, "truncated": rows.cut}

    def beam(self, text):
        """Returns the N best translations of each text, best first.

        Returns:
            translation: string (B, N).
            score: float32 (B, N). If a text has fewer than N translations, the rest are empty, with
                scores of -1e9.
            flags: string (B, N).
        """
        [rows] = self._within_limits(self._read(self._source, text, self._longest))
        return self._several(rows, self._at_once(rows))

    def score(self, source, target):
        """Scores given translations.

        Args:
            source, target: string (B,).

        Returns:
            log_probability: float32 (B,), natural, of the whole target with its end.
            tokens: int32 (B,), number of ids of the target with its end.
            flags: string (B,); also "target cut" and "target not UTF-8".
        """
        with tf.control_dependencies([_as_many(source, target)]):
            sources = self._read(self._source, source, self._longest)
            targets = self._read(self._target, target, self._longest + EXTRA_LENGTH)
        rows, targets = self._within_limits(sources, targets)
        length = tf.reduce_max(tf.concat([targets.lengths, [1]], axis=0))
        at_once = CHUNK_LOGITS // (length * self._transformer.target_embedding.vocab_size)

        def score(source, target):
            lengths = target.row_lengths()
            target = target.to_tensor(self._target.padding_id)
            values, _ = likelihood(
                self._transformer, self._filled(source), target, self._target.start_id
            )
            real = tf.sequence_mask(lengths, tf.shape(target)[1])
            return {"log_probability": tf.reduce_sum(tf.where(real, values, 0.0), axis=1)}

        spec = {"log_probability": tf.TensorSpec([None], tf.float32)}
        at_once = tf.clip_by_value(at_once, 1, self._at_once(rows))
        flags = {**rows.flags("source"), **targets.flags("target")}
        return {
            **map_in_chunks(score, spec, at_once, rows.ids, targets.ids),
            "tokens": targets.lengths,
            "flags": joined(flags),
        }

    def encode(self, text):
        """Returns a vector for each text, for comparing texts: the mean of the encoder's output.

        Returns:
            vector: float32 (B, D), the mean over the ids of the text with its end.
            flags: string (B,).
        """
        [rows] = self._within_limits(self._read(self._source, text, self._longest))
        width = self._transformer.source_embedding.table.shape[1]

        def encode(ids):
            return {"vector": sentence_vectors(self._transformer, self._filled(ids))}

        spec = {"vector": tf.TensorSpec([None, width], tf.float32)}
        found = map_in_chunks(encode, spec, self._at_once(rows), rows.ids)
        return {**found, "flags": joined(rows.flags("source"))}

    def tokenize(self, text):
        """Returns the ids of each text.

        Returns:
            ids: int32 (B, S): pieces, the end id, padding. S is always the model's limit, because
                a server can only merge outputs of one shape.
            length: int32 (B,), number of ids without padding.
            flags: string (B,).
        """
        rows = self._read(self._source, text, self._longest)
        ids = rows.ids.to_tensor(self._source.padding_id, shape=(None, self._longest))
        return {"ids": ids, "length": rows.lengths, "flags": joined(rows.flags("source"))}

    def _read(self, tokenizer, text, max_length):
        # A request may violate the declared shape; the check runs only if the shape is unknown.
        given = tf.raw_ops.PlaceholderWithDefault(input=text, shape=tf.TensorShape(None))
        text = tf.ensure_shape(given, [None])
        with tf.control_dependencies([at_most(MAX_TEXTS, "texts", tf.size(text))]):
            text = tf.identity(text)
        total = tf.reduce_sum(characters_read(text))
        few = at_most(self._limits.characters, "characters in all of its texts", total)
        with tf.control_dependencies([few]):
            return read(tokenizer, tf.identity(text), max_length)

    def _within_limits(self, *several):
        """Returns the same `Read`s after checking that they are within the limit of ids."""
        total = sum(tf.reduce_sum(rows.lengths) for rows in several)
        few = at_most(self._limits.tokens, "ids in all of its texts", total)
        with tf.control_dependencies([few]):
            return [rows._replace(ids=tf.identity(rows.ids)) for rows in several]

    def _filled(self, ids):
        return ids.to_tensor(self._source.padding_id)

    def _at_once(self, rows):
        """Returns how many rows to process at once: fewer if they are long."""
        longest = tf.reduce_max(tf.concat([rows.lengths, [1]], axis=0))
        filled = class_of(longest, length_classes(self._longest))
        return tf.clip_by_value(CHUNK_IDS // filled, 1, CHUNK_ROWS)


def input_names(function) -> list[str]:
    """Returns the names of a signature's inputs."""
    return [spec.name for spec in function.structured_input_signature[0]]


def _traced(method):
    """Returns the concrete function of a method whose arguments are string (B,)."""
    names = inspect.signature(method).parameters
    strings = [tf.TensorSpec([None], tf.string, name=name) for name in names]
    traced = tf.function(method, input_signature=strings, autograph=False)
    return traced.get_concrete_function()


def _as_many(source, target):
    return tf.debugging.Assert(
        tf.equal(tf.size(source), tf.size(target)),
        ["There must be as many targets as sources. Received:", tf.size(source), tf.size(target)],
    )
