"""Searches for answers to rows of ids in graph, to texts with scores and flags.

Axes: B batch, N sequences a text, T length of a sequence.
"""

import tensorflow as tf

from kformer.decoding.runtime import GRAPH
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search_ids import FixedSearch
from kformer.decoding.sequential import sequential
from kformer.decoding.shortlist.selection import Selection
from kformer.export.saved_model.graph.chunks import map_in_chunks
from kformer.export.saved_model.graph.compiled import COMPILED, compiled
from kformer.export.saved_model.graph.reading import joined


class Searching:
    """Answers rows of ids with one search; base class of `Translating` and `Continuing`.

    Args:
        network: `Transformer` or `TransformerDecoder`.
        search: `FixedSearch`, whose `n_best` is the number N of answers to a row.
        tokenizer: `Tokenizer` of the answers.
        most: Maximum number of ids of a row, to compile the search with XLA; None not to.
        shortlist: `kformer.Shortlist` of its candidates, or None.
    """

    output: str  # Name of the texts.

    def __init__(self, network, search: FixedSearch, tokenizer, most=None, shortlist=None):
        self._padding_id = network.padding_id
        self._search, number = search, search.options.n_best
        self._tokenizer = tokenizer
        dtypes = {self.output: tf.string, "score": tf.float32, "flags": tf.string}
        self._spec = {name: tf.TensorSpec([None, number], dtype) for name, dtype in dtypes.items()}

        select = shortlist and Selection(shortlist, network.padding_id)

        def decode(ids, runtime=GRAPH, max_length=None):
            real = tf.not_equal(ids, self._padding_id)
            lengths = tf.math.count_nonzero(real, axis=1, dtype=tf.int32)
            return search(network, ids, lengths, runtime, max_length, select=select)

        def decode_compiled(ids):
            if search.has_usual_limits:
                return decode(ids, COMPILED, self._longest(tf.shape(ids)[1]))
            return decode(ids, COMPILED, search.most(most))

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
        limits = tf.gather(self._search.limits, tf.cast(ids.row_lengths(), tf.int32))
        limits = tf.minimum(tf.repeat(limits, number), tf.shape(rows)[1])
        lengths = tf.where(ended, end, limits)
        of_ids = self._degenerate(source, ids, rows, lengths, number)
        of_found = {"length limit": ~ended, **of_ids}
        of_found = {
            name: tf.reshape(flag, tf.shape(there)) & there for name, flag in of_found.items()
        }
        texts = self._tokenizer.detokenize(self._whole(ids, rows, number))
        texts = tf.strings.regex_replace(texts, r"\x00", "")
        answers = {
            self.output: tf.where(there, tf.reshape(texts, tf.shape(there)), ""),
            "score": found.scores,
            "flags": joined({**flags, **of_found}),
        }
        number = self._search.options.n_best
        if number == 1:
            return answers
        return distinct(answers, self.output, number, there, joined(flags))

    def _longest(self, length):
        """Returns the largest length of an answer to rows of `length` ids."""
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


def distinct(answers, name, number, there, flags):
    """Returns the best N of at least as many answers to each row that differ in their texts.

    It is `kformer.tasks.distinct_answers` in graph.

    Args:
        answers: dict of tensors (B, more), best first: the texts, `score` and `flags`.
        name: Name of the texts.
        number: N.
        there: bool (B, more), False for answers that a row does not have.
        flags: string (B, 1), the flags of an answer that a row does not have.
    """
    texts = answers[name]
    place = tf.range(tf.shape(texts)[1])
    before = (place[:, tf.newaxis] > place) & there[:, tf.newaxis, :]  # (B, more, more)
    same = tf.equal(texts[:, :, tf.newaxis], texts[:, tf.newaxis, :])
    again = there & tf.reduce_any(same & before, axis=-1)  # (B, more)
    order = tf.argsort(tf.cast(again, tf.int32), axis=1, stable=True)[:, :number]
    again = tf.gather(again, order, batch_dims=1)
    missing = {name: "", "score": NEG_INF, "flags": flags}
    return {
        key: tf.where(again, missing[key], tf.gather(values, order, batch_dims=1))
        for key, values in answers.items()
    }
