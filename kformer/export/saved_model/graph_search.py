"""A search in graph: from rows of ids to texts with scores and flags, by chunks of a batch.

Chunks bound the memory of a batch of any size. Optionally, the functions of ids are compiled by
XLA, for servers that were started with it. XLA compiles for every new shape, which takes seconds.
So there are few shapes: batches are padded to one of five sizes, rows to one of the lengths 16, 32,
64 and so on. With the chunks of `serving_signatures` and sources of up to 256 ids, that makes 22
shapes. The padding does not change a row's result.

Axes: B batch, S length, N sequences a text, T length of a sequence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from kformer.decoding.batch_decoder import sequential
from kformer.decoding.runtime import GRAPH, XLA, SliceBuffers
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search_ids import FixedSearch
from kformer.decoding.shortlist import Selection, Shortlist
from kformer.export.saved_model.text_in_graph import joined
from kformer.inference.results import UNSURE
from kformer.tasks.quality_estimates import QualityInGraph

BATCH_CLASSES = (1, 4, 16, 32, 64)  # Sizes to which batches are padded.
SHORTEST = 16  # The shortest padded length, in ids; each further one is twice as long.


class SelectedBuffers(SliceBuffers):
    """Writes a slice with public TensorFlow operations only.

    `SliceBuffers` needs `XlaDynamicUpdateSlice`, which is not public. With the tiny model it
    takes 14.8 ms for a sentence and 129 ms for 32, this class 16.2 ms and 132 ms.
    """

    def index(self, buffer: tf.Tensor, start: tf.Tensor, size: tf.Tensor):
        slots = tf.range(tf.shape(buffer)[2])
        return tf.reshape((slots >= start) & (slots < start + size), (1, 1, -1, 1))

    def write(self, buffer: tf.Tensor, rows: tf.Tensor, index: tf.Tensor):
        times = tf.shape(buffer)[2] // rows.shape[2]
        return tf.where(index, tf.tile(rows, tf.stack([1, 1, times, 1])), buffer)


COMPILED = XLA._replace(buffers=SelectedBuffers())


def length_classes(most: int) -> list[int]:
    """Returns the lengths to which rows of at most `most` ids are padded: 16, 32, ..., `most`."""
    lengths: list[int] = []
    while SHORTEST << len(lengths) < most:
        lengths.append(SHORTEST << len(lengths))
    return [*lengths, most]


def shapes(most: int, max_ids: int) -> list[tuple[int, int]]:
    """Returns all padded shapes (B, S) of batches with at most `max_ids` / S rows.

    Args:
        most: Maximum number of ids of a row.
        max_ids: Maximum number of ids of a batch before rows are added as padding.
    """
    pairs = []
    for length in length_classes(most):
        rows = min(max(1, max_ids // length), BATCH_CLASSES[-1])
        largest = next(batch for batch in BATCH_CLASSES if batch >= rows)
        pairs += [(batch, length) for batch in BATCH_CLASSES if batch <= largest]
    return pairs


def compiled(function: Callable, padding_id: int, most: int):
    """Compiles a function of ids.

    Args:
        function: callable of an int32 tensor (B, S), B at most 64, to a structure of tensors
            (B, ...). It must accept rows of nothing but padding.
        most: Maximum number of ids of a row.

    Returns:
        callable with the same inputs and outputs; output rows may be longer.
    """
    program = tf.function(function, jit_compile=True, autograph=False)
    lengths = length_classes(most)

    def run(ids):
        rows, length = tf.unstack(tf.shape(ids))
        more = [class_of(rows, BATCH_CLASSES) - rows, class_of(length, lengths) - length]
        filled = tf.pad(ids, [[0, more[0]], [0, more[1]]], constant_values=padding_id)
        return tf.nest.map_structure(lambda output: output[:rows], program(filled))

    return run


def class_of(number: tf.Tensor, classes: Sequence[int]):
    """Returns the smallest of the ascending `classes` that is at least `number`, int32 ()."""
    place = tf.searchsorted(tf.constant(classes), tf.reshape(number, (1,)))
    return tf.gather(classes, place)[0]


def map_in_chunks(
    function: Callable, outputs: Mapping[str, tf.TensorSpec], rows: tf.Tensor, *inputs: tf.Tensor
):
    """Returns the outputs of `function`, which is called for at most `rows` rows at a time.

    Args:
        function: callable of as many tensors as `inputs`, each of some rows, that returns a dict
            of tensors with as many rows.
        outputs: dict name -> `tf.TensorSpec` of the results for all rows.
        rows: int32 (), at least 1.
        *inputs: tensors, or `tf.RaggedTensor`s, (B, ...).
    """
    total = _row_count(inputs[0])
    number = tf.maximum(1, -(-total // rows))  # One chunk for an empty batch.
    arrays = {
        name: tf.TensorArray(spec.dtype, number, infer_shape=False, element_shape=spec.shape)
        for name, spec in outputs.items()
    }

    def chunk(i, arrays):
        start, end = i * rows, tf.minimum(total, (i + 1) * rows)
        results = function(*(tensor[start:end] for tensor in inputs))
        return i + 1, {name: array.write(i, results[name]) for name, array in arrays.items()}

    _, arrays = tf.while_loop(lambda i, _: i < number, chunk, (0, arrays), parallel_iterations=1)
    return {
        name: tf.ensure_shape(array.concat(), outputs[name].shape) for name, array in arrays.items()
    }


def _row_count(tensor):
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.nrows(out_type=tf.int32)
    return tf.shape(tensor)[0]


class Searching:
    """Answers rows of ids with one search; base class of `Translating` and `Continuing`.

    Args:
        network: `Transformer` or `TransformerDecoder`.
        search: `FixedSearch`, whose `n_best` is the number N of answers to a row.
        tokenizer: `Tokenizer` of the answers.
        most: Maximum number of ids of a row, to compile the search with XLA; None not to.
        shortlist: `kformer.Shortlist` of its candidates, or None.
        rate: `QualityInGraph`, which adds the output `quality` and a flag; None for neither.
    """

    output: str  # Name of the texts.

    def __init__(
        self,
        network: keras.Model,
        search: FixedSearch,
        tokenizer: Any,
        most: int | None = None,
        shortlist: Shortlist | None = None,
        rate: QualityInGraph | None = None,
    ):
        self._rate = rate
        self._padding_id = network.padding_id
        self._search, number = search, search.options.n_best
        self._tokenizer = tokenizer
        dtypes = {self.output: tf.string, "score": tf.float32, "flags": tf.string}
        if rate:
            dtypes["quality"] = tf.float32
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

    def __call__(self, ids: tf.RaggedTensor, flags: Mapping[str, tf.Tensor], at_once: tf.Tensor):
        """Answers rows, `at_once` at a time.

        Args:
            ids: int32 `tf.RaggedTensor` (B, None).
            flags: Flags of the rows: bool tensors (B,) by name.
            at_once: int32 ().

        Returns:
            dict of the texts, string, `score`, float32, and `flags`, string, (B, N) each, and with
            `rate` of `quality`, float32. If a row has fewer than N answers, the rest are "" with
            scores of -1e9.
        """

        def answer(ids, *raised):
            row_flags = {
                name: flag[:, tf.newaxis] for name, flag in zip(flags, raised, strict=True)
            }
            return self._answered(ids, row_flags)

        return map_in_chunks(answer, self._spec, at_once, ids, *flags.values())

    def _answered(self, ids, flags):
        source = ids.to_tensor(self._padding_id)
        output = self._decode(source)
        is_answer = (output.scores > NEG_INF / 2) & self._has_answer(ids, flags)  # (B, N)
        number = tf.shape(output.ids)[1]
        rows = tf.reshape(output.ids, [-1, tf.shape(output.ids)[2]])  # (B * N, T)
        end = tf.argmax(tf.equal(rows, self._tokenizer.end_id), axis=1, output_type=tf.int32)
        ended = tf.reshape(output.ended, [-1])
        limits = tf.gather(self._search.limits, tf.cast(ids.row_lengths(), tf.int32))
        limits = tf.minimum(tf.repeat(limits, number), tf.shape(rows)[1])
        lengths = tf.where(ended, end, limits)
        id_flags = self._degenerate(source, ids, rows, lengths, number)
        answer_flags = {"length limit": ~ended, **id_flags}
        qualities = {}
        if self._rate:
            sources = tf.repeat(source, number, axis=0)
            quality = self._rate(sources, rows, tf.reshape(output.scores, [-1]))
            answer_flags[UNSURE] = quality < self._rate.estimate.threshold
            quality = tf.reshape(quality, tf.shape(is_answer))
            is_blank = (ids.row_lengths() == 1)[:, tf.newaxis]
            qualities["quality"] = tf.where(is_answer | is_blank, quality, 0.0)
        answer_flags = {
            name: tf.reshape(flag, tf.shape(is_answer)) & is_answer
            for name, flag in answer_flags.items()
        }
        texts = self._tokenizer.detokenize(self._whole(ids, rows, number))
        texts = tf.strings.regex_replace(texts, r"\x00", "")
        answers = {
            self.output: tf.where(is_answer, tf.reshape(texts, tf.shape(is_answer)), ""),
            "score": output.scores,
            "flags": joined({**flags, **answer_flags}),
            **qualities,
        }
        number = self._search.options.n_best
        if number == 1:
            return answers
        return distinct(answers, self.output, number, is_answer, joined(flags))

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


def distinct(
    answers: Mapping[str, tf.Tensor], name: str, number: int, is_answer: tf.Tensor, flags: tf.Tensor
):
    """Returns the best N of at least as many answers to each row that differ in their texts.

    It is `kformer.tasks.distinct_answers` in graph.

    Args:
        answers: dict of tensors (B, more), best first: the texts, `score`, `flags` and perhaps
            `quality`.
        there: bool (B, more), False for answers that a row does not have.
        flags: string (B, 1), the flags of an answer that a row does not have.
    """
    texts = answers[name]
    place = tf.range(tf.shape(texts)[1])
    before = (place[:, tf.newaxis] > place) & is_answer[:, tf.newaxis, :]  # (B, more, more)
    same = tf.equal(texts[:, :, tf.newaxis], texts[:, tf.newaxis, :])
    again = is_answer & tf.reduce_any(same & before, axis=-1)  # (B, more)
    order = tf.argsort(tf.cast(again, tf.int32), axis=1, stable=True)[:, :number]
    again = tf.gather(again, order, batch_dims=1)
    missing = {name: "", "score": NEG_INF, "flags": flags, "quality": 0.0}
    return {
        key: tf.where(again, missing[key], tf.gather(values, order, batch_dims=1))
        for key, values in answers.items()
    }
