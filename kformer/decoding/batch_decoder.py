"""Decodes any number of rows of ids, in batches, each by one TensorFlow function.

Axes: B batch, N sequences of a row, T target length.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from keras import ops

from kformer.backend import is_tensorflow
from kformer.decoding.decoder_inputs import SIGNATURE, DecoderInputs, make_inputs, make_jobs
from kformer.decoding.runtime import each_batch
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search_ids import search_ids, search_of_options
from kformer.decoding.shortlist import Selection, Shortlist
from kformer.inference.search_options import SearchOptions
from kformer.model.dense import form_of
from kformer.model.transformer import Transformer
from kformer.model.transformer_decoder import TransformerDecoder
from kformer.threads import batches_by_length


def sequential(function: Callable, input_signature: list | None = None) -> Callable:
    """Returns `function`, of tensors, as a `tf.function` for the loop of a search.

    TensorFlow's usual executor looks for operations that can run side by side, and turns a loop
    into several operations for each of its variables. A step of the decoder is a chain of small
    operations: with the simple executor a tiny model takes two thirds of the time, and less where
    there are several threads. Large operations still use all threads.

    The result may be called in another function that is traced, and saved with it.
    """
    graph = tf.function(  # Inlined, it would run on its caller's executor.
        function,
        input_signature=input_signature,
        autograph=False,  # Takes longer than all the rest, and finds nothing to convert.
        experimental_attributes={"_noinline": True},
    )

    def call(*inputs):
        with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
            return graph(*inputs)

    return call


class Hypothesis(NamedTuple):
    """One answer of a search: a sequence of ids and its score."""

    ids: list  # of int, the end id last if it came
    score: float  # as `kformer.Greedy` and `kformer.Beam` define it
    ended: bool  # False where the largest length came before the end id


class BatchDecoder:
    """Decodes any number of rows, in batches of about one length, one on each core.

    Each way to search is traced once; its graph takes any batch, lengths, prefixes and seeds.

    Args:
        transformer: `kformer.Transformer`; or `kformer.TransformerDecoder`, to continue prompts.
        tokenizer: `kformer.Tokenizer` of the target.
        max_positions: For prompts, the largest number of positions that a prompt and its
            continuation may take; else None.
        more_models: Transformers of the same vocabularies, whose probabilities are averaged with
            it.

    Attributes:
        shortlist: `kformer.Shortlist` of the vocabularies, for greedy and beam search without
            prefixes and constraints; None for none.
    """

    def __init__(
        self,
        transformer: Transformer | TransformerDecoder,
        tokenizer: Any,
        max_positions: int | None = None,
        more_models: Sequence = (),
    ):
        self._max_positions = max_positions
        self._transformer = transformer
        self._models = (transformer, *more_models)
        self._tokenizer = tokenizer
        self._graphs: dict = {}
        self.shortlist: Shortlist | None = None

    def __call__(
        self,
        rows: list,
        options: SearchOptions,
        prefixes: list | None = None,
        batch_size: int = 32,
        progress: Callable | None = None,
    ) -> list[list[Hypothesis]]:
        """Decodes all rows.

        Args:
            prefixes: for each row, a list of ids that its translations must begin with; or None.
        """
        graph = self._graph(options, forced=any(prefixes or ()))
        end_id, padding = self._tokenizer.end_id, self._tokenizer.padding_id
        prefixes = prefixes or [[]] * len(rows)
        jobs = make_jobs(rows, prefixes, options, end_id, self._max_positions)

        def decode(batch):
            real = [job for job in batch if not job.is_blank]
            if not real:
                return []
            inputs = make_inputs(real, options, padding)
            return list(zip(real, self._unpack(graph(*inputs), inputs.max_lengths), strict=True))

        by_length = batches_by_length([len(job.source) for job in jobs], batch_size)
        batches = [[jobs[j] for j in batch] for batch in by_length]
        outputs = each_batch(decode, batches)
        results: list[list[Hypothesis]] = [[] for _ in rows]
        for batch, decoded in zip(batches, outputs, strict=True):
            for job, hypotheses in decoded:
                results[job.source_index] += hypotheses
            if progress:
                progress(sum(job.last for job in batch))
        return [hypotheses or [Hypothesis([], 0.0, True)] for hypotheses in results]

    def _graph(self, options, forced):
        forms = tuple(map(form_of, self._models))
        shortlist = self.shortlist
        key = (options.graph(), options.has_minimum, forced, forms, shortlist)
        if key not in self._graphs:

            def decode(*inputs):
                inputs = DecoderInputs(*inputs)
                search = search_of_options(
                    options,
                    self._tokenizer,
                    inputs.minimum if options.has_minimum else None,
                    inputs.prefix if forced else None,
                    inputs.keys if options.sample else None,
                )
                candidates = None
                if shortlist and not (search.constraints or options.sample):
                    select = Selection(shortlist, self._transformer.padding_id)
                    candidates = select(inputs.source)
                return search_ids(
                    self._transformer,
                    inputs.source,
                    search,
                    max_lengths=inputs.max_lengths,
                    more_models=self._models[1:],
                    candidates=candidates,
                )

            if is_tensorflow():
                decode = sequential(decode, SIGNATURE)
            self._graphs[key] = decode
        return self._graphs[key]

    def _unpack(self, output, max_lengths):
        """Yields the list of `Hypothesis` of each row of a `SearchOutput`."""
        all_ids, scores, ended = (ops.convert_to_numpy(part) for part in output)
        for row, max_length in enumerate(max_lengths):
            hypotheses = []
            for ids, score, whole in zip(all_ids[row], scores[row], ended[row], strict=True):
                if hypotheses and score <= NEG_INF / 2:
                    break  # The row has no more sequences.
                ids = ids[:max_length].tolist()
                if whole:
                    ids = ids[: ids.index(self._tokenizer.end_id) + 1]
                hypotheses.append(Hypothesis(ids, float(score), bool(whole)))
            yield hypotheses
