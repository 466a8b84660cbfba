"""Translates rows of ids in graph, to texts with scores and flags.

Axes: B batch, N sequences a text, T target length.
"""

import tensorflow as tf

from kformer.decoding.options import EXTRA_LENGTH
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search_ids import search_ids
from kformer.decoding.sequential import sequential
from kformer.export.saved_model.graph.chunks import map_in_chunks
from kformer.export.saved_model.graph.compiled import COMPILED, compiled
from kformer.export.saved_model.graph.degenerate_in_graph import degenerate_flags
from kformer.export.saved_model.graph.reading import joined


class Translating:
    """Translates rows of ids with one search.

    Args:
        transformer: `Transformer`.
        search: From `kformer.decoding.search_ids.make_search`.
        number: Sequences N per text that the search returns.
        tokenizer: `Tokenizer` of the target.
        most: Maximum number of ids of a source, to compile the search with XLA; None not to.
    """

    def __init__(self, transformer, search, number, tokenizer, most=None):
        self._padding_id = transformer.padding_id
        self._tokenizer = tokenizer
        dtypes = {"translation": tf.string, "score": tf.float32, "flags": tf.string}
        self._spec = {name: tf.TensorSpec([None, number], dtype) for name, dtype in dtypes.items()}

        def decode(ids):
            return search_ids(transformer, ids, search)

        def decode_compiled(ids):
            return search_ids(transformer, ids, search, COMPILED, tf.shape(ids)[1] + EXTRA_LENGTH)

        if most is None:
            self._decode = sequential(decode)
        else:
            self._decode = compiled(decode_compiled, self._padding_id, most)

    def __call__(self, read, at_once):
        """Translates the rows of `read`, `at_once` at a time.

        Args:
            read: `kformer.export.saved_model.graph.reading.Read`.
            at_once: int32 ().

        Returns:
            dict of `translation`, string, `score`, float32, and `flags`, string, (B, N) each. If a
            text has fewer than N translations, the rest are "" with scores of -1e9.
        """
        flags = read.flags("source")

        def translate(ids, *raised):
            of_text = {name: flag[:, tf.newaxis] for name, flag in zip(flags, raised, strict=True)}
            return self._translated(ids, of_text)

        return map_in_chunks(translate, self._spec, at_once, read.ids, *flags.values())

    def _translated(self, ids, flags):
        lengths = tf.cast(ids.row_lengths(), tf.int32) - 1  # Without the end id.
        source = ids.to_tensor(self._padding_id)
        found = self._decode(source)
        there = (found.scores > NEG_INF / 2) & (lengths > 0)[:, tf.newaxis]  # (B, N)
        of_found = self._found_flags(source, lengths, found)
        texts = self._tokenizer.detokenize(_rows(found.ids))
        texts = tf.strings.regex_replace(texts, r"\x00", "")
        return {
            "translation": tf.where(there, tf.reshape(texts, tf.shape(there)), ""),
            "score": found.scores,
            "flags": joined({**flags, **{name: flag & there for name, flag in of_found.items()}}),
        }

    def _found_flags(self, source, lengths, found):
        """Returns the flags of the sequences `found`: dict of bool tensors (B, N)."""
        ids, ended = _rows(found.ids), tf.reshape(found.ended, [-1])
        number = tf.shape(found.ids)[1]
        lengths = tf.repeat(lengths, number)
        end = tf.argmax(tf.equal(ids, self._tokenizer.end_id), axis=1, output_type=tf.int32)
        limits = tf.minimum(lengths + 1 + EXTRA_LENGTH, tf.shape(ids)[1])
        of_ids = degenerate_flags(
            tf.repeat(source, number, axis=0), lengths, ids, tf.where(ended, end, limits)
        )
        flags = {"length limit": ~ended, **of_ids}
        return {name: tf.reshape(raised, tf.shape(found.ended)) for name, raised in flags.items()}


def _rows(ids):
    """(B, N, T) -> (B * N, T)."""
    return tf.reshape(ids, [-1, tf.shape(ids)[2]])
