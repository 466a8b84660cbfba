"""What a server answers: a function for each signature, from strings on, batch first everywhere.

A request of any number of texts up to a limit is worked on in pieces, of texts up to a limit.
Axes: B batch, N sequences a text, S source length, T target length, D d_model.
"""

import inspect

import tensorflow as tf
from keras import ops

from kformer.decoding.options import EXTRA_LENGTH
from kformer.decoding.scoring import likelihood
from kformer.decoding.search_ids import make_search
from kformer.export.saved_model.batch_limits import MAX_TEXTS, at_most
from kformer.export.saved_model.chunks import in_row_pieces
from kformer.export.saved_model.compiled import BATCH_CLASSES, class_of, length_classes
from kformer.export.saved_model.reading import characters_read, joined, read
from kformer.export.saved_model.translating import Translating

BEAMS = 4  # Of the signature `beam`, if one beam was asked for.
PIECE_ROWS = BATCH_CLASSES[-1]  # Decoded at once,
PIECE_IDS = PIECE_ROWS * 64  # and ids of sources, padding included.
PIECE_LOGITS = 2**24  # Scored at once: 64 MiB.


class Signatures:
    """The functions of a translator that a server runs.

    Every `text` is string (B,). `flags` is string: what is wrong, with commas between, nothing
    most of the time. Those of a text: "source cut", "source not UTF-8" (what is broken was read
    as U+FFFD); of a translation, too: "length limit", "loop", "length ratio", as in
    `kformer.Translation`. Requests over the limits are refused: on texts, characters and ids.

    Args:
        translator: `kformer.Translator`.
        transformer: The float32 copy of its transformer whose variables are saved.
        beam_size, length_penalty: Of `translate`; see `kformer.Translator.translate`.
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
        """The best translation of each text.

        Returns:
            translation: string (B,).
            score: float32 (B,), see `kformer.Greedy` and `kformer.Beam`.
            truncated: bool (B,), whether only the beginning of the text was read.
            flags: string (B,).
        """
        [rows] = self._within_limits(self._read(self._source, text, self._longest))
        said = self._best(rows, self._at_once(rows))
        best = {name: tensor[:, 0] for name, tensor in said.items()}
        return {**best, "truncated": rows.cut}

    def beam(self, text):
        """The N best translations of each text, best first.

        Returns:
            translation: string (B, N).
            score: float32 (B, N). Where a text has not so many translations, the rest are empty,
                with scores of -1e9.
            flags: string (B, N).
        """
        [rows] = self._within_limits(self._read(self._source, text, self._longest))
        return self._several(rows, self._at_once(rows))

    def score(self, source, target):
        """How likely the model finds given translations.

        Args:
            source, target: string (B,).

        Returns:
            log_probability: float32 (B,), natural, of the whole target, its end included.
            tokens: int32 (B,), ids of the target, the end's too: what to divide by, for a mean.
            flags: string (B,); also "target cut", "target not UTF-8".
        """
        with tf.control_dependencies([_as_many(source, target)]):
            sources = self._read(self._source, source, self._longest)
            targets = self._read(self._target, target, self._longest + EXTRA_LENGTH)
        rows, targets = self._within_limits(sources, targets)
        length = tf.reduce_max(tf.concat([targets.lengths, [1]], axis=0))
        at_once = PIECE_LOGITS // (length * self._transformer.target_embedding.vocab_size)

        def piece(source, target):
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
            **in_row_pieces(piece, spec, at_once, rows.ids, targets.ids),
            "tokens": targets.lengths,
            "flags": joined(flags),
        }

    def encode(self, text):
        """A vector for each text, to compare texts by: the mean of the encoder's vectors.

        Returns:
            vector: float32 (B, D): the mean over the ids of the text, the end id's included.
            flags: string (B,).
        """
        [rows] = self._within_limits(self._read(self._source, text, self._longest))
        width = self._transformer.source_embedding.table.shape[1]

        def piece(ids):
            source = self._filled(ids)
            real = ops.not_equal(source, self._source.padding_id)[..., tf.newaxis]
            memory = tf.where(real, self._transformer.encode(source), 0.0)
            count = tf.cast(ids.row_lengths(), tf.float32)[:, tf.newaxis]
            return {"vector": tf.reduce_sum(memory, axis=1) / count}

        spec = {"vector": tf.TensorSpec([None, width], tf.float32)}
        found = in_row_pieces(piece, spec, self._at_once(rows), rows.ids)
        return {**found, "flags": joined(rows.flags("source"))}

    def tokenize(self, text):
        """What the encoder reads of each text.

        Returns:
            ids: int32 (B, S): pieces, the end id, padding. S is the most ids that the model
                reads: always the same, so that a server can join answers.
            length: int32 (B,), how many of these are not padding.
            flags: string (B,).
        """
        rows = self._read(self._source, text, self._longest)
        ids = rows.ids.to_tensor(self._source.padding_id, shape=(None, self._longest))
        return {"ids": ids, "length": rows.lengths, "flags": joined(rows.flags("source"))}

    def _read(self, tokenizer, text, max_length):
        # What TensorFlow knows of the shape, a request may contradict: it has to forget it first.
        given = tf.raw_ops.PlaceholderWithDefault(input=text, shape=tf.TensorShape(None))
        text = tf.ensure_shape(given, [None])
        with tf.control_dependencies([at_most(MAX_TEXTS, "texts", tf.size(text))]):
            text = tf.identity(text)
        total = tf.reduce_sum(characters_read(text))
        few = at_most(self._limits.characters, "characters in all of its texts", total)
        with tf.control_dependencies([few]):
            return read(tokenizer, tf.identity(text), max_length)

    def _within_limits(self, *several):
        """The same `Read`s, once it is certain that they have not too many ids together."""
        total = sum(tf.reduce_sum(rows.lengths) for rows in several)
        few = at_most(self._limits.tokens, "ids in all of its texts", total)
        with tf.control_dependencies([few]):
            return [rows._replace(ids=tf.identity(rows.ids)) for rows in several]

    def _filled(self, ids):
        return ids.to_tensor(self._source.padding_id)

    def _at_once(self, rows):
        """How many rows are worked on at once: few where they are long."""
        longest = tf.reduce_max(tf.concat([rows.lengths, [1]], axis=0))
        filled = class_of(longest, length_classes(self._longest))
        return tf.clip_by_value(PIECE_IDS // filled, 1, PIECE_ROWS)


def input_names(function) -> list[str]:
    """Returns the names of a signature's inputs."""
    return [spec.name for spec in function.structured_input_signature[0]]


def _traced(method):
    """The concrete function of a method whose arguments are string (B,)."""
    names = inspect.signature(method).parameters
    strings = [tf.TensorSpec([None], tf.string, name=name) for name in names]
    traced = tf.function(method, input_signature=strings, autograph=False)
    return traced.get_concrete_function()


def _as_many(source, target):
    return tf.debugging.Assert(
        tf.equal(tf.size(source), tf.size(target)),
        ["There must be as many targets as sources. Received:", tf.size(source), tf.size(target)],
    )
