"""Searches for answers to rows of ids in graph, to texts with scores and flags.

Axes: B batch, N sequences a text, T length of a sequence.
"""

import tensorflow as tf

from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search_ids import search_ids
from kformer.decoding.sequential import sequential
from kformer.decoding.shortlist.selection import Selection
from kformer.export.saved_model.graph.chunks import map_in_chunks
from kformer.export.saved_model.graph.compiled import COMPILED, compiled
from kformer.export.saved_model.graph.reading import joined


class Searching:
    """Answers rows of ids with one search; base class of `Translating` and `Continuing`.

    Args:
        network: `Transformer` or `TransformerDecoder`.
        search: From `kformer.decoding.search_ids.make_search`.
        number: Sequences N per row that the search returns.
        tokenizer: `Tokenizer` of the answers.
        most: Maximum number of ids of a row, to compile the search with XLA; None not to.
        shortlist: `kformer.Shortlist` of its candidates, or None.
    """

    output: str  # Name of the texts.

    def __init__(self, network, search, number, tokenizer, most=None, shortlist=None):
        self._padding_id = network.padding_id
        self._tokenizer = tokenizer
        dtypes = {self.output: tf.string, "score": tf.float32, "flags": tf.string}
        self._spec = {name: tf.TensorSpec([None, number], dtype) for name, dtype in dtypes.items()}

        select = shortlist and Selection(shortlist, network.padding_id)

        def find(ids, *settings, **limits):
            return search_ids(
                network, ids, search, *settings, candidates=select and select(ids), **limits
            )

        def decode(ids):
            return find(ids, max_lengths=self._max_lengths(ids))

        def decode_compiled(ids):
            return find(ids, COMPILED, self._longest(tf.shape(ids)[1]), self._max_lengths(ids))

        if most is None:
            self._decode = sequential(decode)
        else:
            self._decode = compiled(decode_compiled, self._padding_id, most)

    def __call__(self, ids, flags, at_once):
        """Answers rows, `at_once` at a time.

        Args:
            ids: int32 `tf.RaggedTensor` (B, None).
            flags: Those of the rows: bool tensors (B,) by name.
            at_once: int32 ().

        Returns:
            dict of the texts, string, `score`, float32, and `flags`, string, (B, N) each. If a row
            has fewer than N answers, the rest are "" with scores of -1e9.
        """

        def answer(ids, *raised):
            of_row = {name: flag[:, tf.newaxis] for name, flag in zip(flags, raised, strict=True)}
            return self._answered(ids, of_row)

        return map_in_chunks(answer, self._spec, at_once, ids, *flags.values())

    def _answered(self, ids, flags):
        source = ids.to_tensor(self._padding_id)
        found = self._decode(source)
        there = (found.scores > NEG_INF / 2) & self._has_answer(ids, flags)  # (B, N)
        number = tf.shape(found.ids)[1]
        rows = tf.reshape(found.ids, [-1, tf.shape(found.ids)[2]])  # (B * N, T)
        end = tf.argmax(tf.equal(rows, self._tokenizer.end_id), axis=1, output_type=tf.int32)
        ended = tf.reshape(found.ended, [-1])
        limits = tf.minimum(tf.repeat(self._limits(ids), number), tf.shape(rows)[1])
        lengths = tf.where(ended, end, limits)
        of_ids = self._degenerate(source, ids, rows, lengths, number)
        of_found = {"length limit": ~ended, **of_ids}
        of_found = {
            name: tf.reshape(flag, tf.shape(there)) & there for name, flag in of_found.items()
        }
        texts = self._tokenizer.detokenize(self._whole(ids, rows, number))
        texts = tf.strings.regex_replace(texts, r"\x00", "")
        return {
            self.output: tf.where(there, tf.reshape(texts, tf.shape(there)), ""),
            "score": found.scores,
            "flags": joined({**flags, **of_found}),
        }

    def _max_lengths(self, ids):
        """Returns the largest length of the answer to each of `ids`, (B, S); or None, as usual."""
        raise NotImplementedError

    def _longest(self, length):
        """Returns the largest length of an answer to rows of `length` ids."""
        raise NotImplementedError

    def _limits(self, ids):
        """As `_max_lengths`, of ragged rows: int32 (B,)."""
        raise NotImplementedError

    def _has_answer(self, ids, flags):
        """Returns bool (B, 1)."""
        raise NotImplementedError

    def _degenerate(self, source, ids, rows, lengths, number):
        """Returns flags of `rows`, (B * N, T), of which `lengths`, (B * N,), are real, by name."""
        raise NotImplementedError

    def _whole(self, ids, rows, number):
        """Returns the ids of the texts, (B * N, None)."""
        raise NotImplementedError
