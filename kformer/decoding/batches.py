"""Decoding: rows of ids in, rows of ids out.

Axes: B batch, S source length, N sequences a row, T target length, P prefix length.
"""

from typing import NamedTuple

import keras
from keras import ops

from kformer.decoding.inputs import SIGNATURE, Inputs, inputs_of, jobs_of
from kformer.decoding.options import EXTRA_LENGTH, SearchOptions
from kformer.decoding.parallel import in_parallel
from kformer.decoding.runtime import GRAPH
from kformer.decoding.search import (
    Beam,
    Greedy,
    MinLength,
    NoRepeat,
    Prefix,
    RepetitionPenalty,
    Sample,
)
from kformer.decoding.search.loop import LEAST
from kformer.decoding.sequential import sequential
from kformer.decoding.step import start_decoding
from kformer.model.dense import form_of


def search_ids(
    transformer,
    source,
    search,
    runtime=GRAPH,
    max_length=None,
    limits=None,
    start=start_decoding,
):
    """Translates ids: what Python, the SavedModel and the TFLite file all run.

    A row may get 50 ids more than its source has, as in section 6.1 of
    [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). A row that holds nothing but its
    end id, a blank line, gets none.

    Args:
        transformer: a `Transformer`.
        source: int32 tensor (B, S), each row its pieces, the end id, padding.
        search: `Greedy`, `Beam` or `Sample`.
        runtime: What it runs on; see `kformer.decoding.runtime`.
        max_length: T, where shapes must be static: at least S + 50.
        limits: int32 tensor (B,), the most ids of each row, if not these.
        start: Makes the step and its first cache; arguments as for `start_decoding`.

    Returns:
        `kformer.decoding.search.Found`.
    """
    if limits is None:
        real = ops.cast(ops.not_equal(source, transformer.padding_id), "int32")
        lengths = ops.sum(real, axis=1)  # (B,)
        limits = ops.where(lengths > 1, lengths + EXTRA_LENGTH, 0)
    if max_length is None:
        max_length = ops.maximum(ops.max(limits), 1)  # An empty batch has a largest limit, too.

    step, cache = start(transformer, source, max_length, search.beam_size, runtime)
    of_beam = {"source_length": ops.shape(source)[1]} if isinstance(search, Beam) else {}
    return search(step, cache, limits, max_length, **of_beam)


def make_search(
    tokenizer,
    beam_size=SearchOptions.beam_size,
    length_penalty=SearchOptions.length_penalty,
    n_best=SearchOptions.n_best,
):
    """Returns `Greedy` for one beam and `Beam` for more, with the ids of the target tokenizer."""
    return search_by(SearchOptions(beam_size, length_penalty, n_best=n_best), tokenizer)


def search_by(options, tokenizer, minimum=None, prefix=None, keys=None):
    """Returns the search that `options` describe.

    Args:
        options: `SearchOptions`.
        tokenizer: That of the target.
        minimum: int32 tensor (B,), see `kformer.decoding.search.MinLength`; or None.
        prefix: int32 tensor (B, P), see `kformer.decoding.search.Prefix`; or None.
        keys: uint32 tensor (B, T), see `kformer.Sample`; for that alone.
    """
    constraints = []
    if options.repetition_penalty > 1:
        constraints.append(RepetitionPenalty(options.repetition_penalty))
    if options.no_repeat_ngram:
        constraints.append(NoRepeat(options.no_repeat_ngram))
    if minimum is not None:
        constraints.append(MinLength(minimum, tokenizer.end_id))
    if prefix is not None:
        constraints = [Prefix(prefix, tokenizer.padding_id, then=constraints)]
    shared = {
        "start_id": tokenizer.start_id,
        "end_id": tokenizer.end_id,
        "padding_id": tokenizer.padding_id,
        "constraints": constraints,
    }
    if options.sample:
        return Sample(keys, options.temperature, options.top_k, options.top_p, **shared)
    if options.beam_size == 1:
        return Greedy(**shared)
    return Beam(
        options.beam_size,
        options.length_penalty,
        options.n_best,
        options.coverage_penalty,
        **shared,
    )


class Decoded(NamedTuple):
    """A sequence that a search has found."""

    ids: list  # of int, the end id last if it came
    score: float  # see `kformer.Greedy` and `kformer.Beam`
    ended: bool  # False where the limit came before the end id


class BatchDecoder:
    """Decodes any number of rows, in batches of about one length, one on each core.

    A way to search is traced once; any batch, length, limit, prefix and seed runs in it.

    Args:
        transformer: `Transformer`.
        tokenizer: `Tokenizer` of the target.
    """

    def __init__(self, transformer, tokenizer):
        self._transformer = transformer
        self._tokenizer = tokenizer
        self._graphs = {}

    def __call__(self, rows, options, prefixes=None, batch_size=32, progress=None):
        """Decodes.

        Args:
            rows: list of lists of ids, each ending in the end id. A row of just that, a blank
                line, gives its prefix, whose score is the model's.
            options: `SearchOptions`.
            prefixes: as many lists of ids that the translations must begin with; or None.
            batch_size: Rows decoded at once. It changes speed, not answers.
            progress: Called with the number of rows done, after each batch.

        Returns:
            for each row a list of `Decoded`, best first: `options.n_best` of them, or as many as
            there are: a blank line has one. Samples come in the order of their numbers.
        """
        graph = self._graph(options, forced=any(prefixes or ()))
        end_id, padding = self._tokenizer.end_id, self._tokenizer.padding_id
        jobs = jobs_of(rows, prefixes or [[]] * len(rows), options, end_id)

        def decode(batch):
            real = [job for job in batch if not job.is_blank]
            if not real:
                return []
            inputs = inputs_of(real, options, padding)
            return list(zip(real, self._unpack(graph(*inputs), inputs.limits), strict=True))

        by_length = batches_by_length([len(job.source) for job in jobs], batch_size)
        batches = [[jobs[j] for j in batch] for batch in by_length]
        results = [[] for _ in rows]
        for batch, found in zip(batches, in_parallel(decode, batches), strict=True):
            for job, sequences in found:
                results[job.index] += sequences
            if progress:
                progress(sum(job.last for job in batch))
        return [sequences or [Decoded([], 0.0, True)] for sequences in results]

    def _graph(self, options, forced):
        key = (options.graph(), options.has_minimum, forced, form_of(self._transformer))
        if key not in self._graphs:

            def decode(*inputs):
                inputs = Inputs(*inputs)
                search = search_by(
                    options,
                    self._tokenizer,
                    inputs.minimum if options.has_minimum else None,
                    inputs.prefix if forced else None,
                    inputs.keys if options.sample else None,
                )
                return search_ids(self._transformer, inputs.source, search, limits=inputs.limits)

            if keras.backend.backend() == "tensorflow":
                decode = sequential(decode, SIGNATURE)
            self._graphs[key] = decode
        return self._graphs[key]

    def _unpack(self, found, limits):
        all_ids, scores, ended = (ops.convert_to_numpy(part) for part in found)
        for row, limit in enumerate(limits):
            sequences = []
            for ids, score, whole in zip(all_ids[row], scores[row], ended[row], strict=True):
                if sequences and score <= LEAST / 2:
                    break  # There are no more.
                ids = ids[:limit].tolist()
                if whole:
                    ids = ids[: ids.index(self._tokenizer.end_id) + 1]
                sequences.append(Decoded(ids, float(score), bool(whole)))
            yield sequences


def batches_by_length(lengths, batch_size):
    """Yields lists of indices, the longest first, of rows of about one length."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
