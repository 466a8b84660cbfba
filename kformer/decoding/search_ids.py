"""From the ids of a source to the ids of its translations.

Axes: B batch, S source length, T target length, P prefix length, N candidates.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras import ops

from kformer.backend import gather
from kformer.decoding.decoder_step import DecoderStep, start_decoding
from kformer.decoding.runtime import GRAPH, Runtime
from kformer.decoding.search.beam import Beam
from kformer.decoding.search.constraints import (
    Constraint,
    MinLength,
    NoRepeat,
    Prefix,
    RepetitionPenalty,
    Spelling,
)
from kformer.decoding.search.ensemble_step import EnsembleStep
from kformer.decoding.search.greedy import Greedy
from kformer.decoding.search.sampling import Sample
from kformer.decoding.search.search_loop import SearchOutput
from kformer.inference.search_options import EXTRA_LENGTH, SearchOptions
from kformer.model.transformer import Transformer
from kformer.model.transformer_decoder import TransformerDecoder


def search_ids(
    transformer: Transformer | TransformerDecoder,
    source: Any,
    search: Greedy | Beam | Sample,
    runtime: Runtime = GRAPH,
    max_length: Any = None,
    max_lengths: Any = None,
    step_class: type[DecoderStep] = DecoderStep,
    more_models: Sequence = (),
    candidates: Any = None,
) -> SearchOutput:
    """Translates ids: Python, the SavedModel and the `.tflite` file all run this.

    A translation may have 50 ids more than its source, as in section 6.1 of
    [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). The translation of a blank line, a row
    with the end id alone, is empty.

    Args:
        source: int32 tensor (B, S), each row its pieces, the end id, padding.
        max_length: T, where shapes must be static: at least S + 50.
        max_lengths: int32 tensor (B,), the largest number of ids of each row; None for 50 more than
            its source has.
        candidates: int32 tensor (B, N), the only ids that a translation may have, each once in its
            row, or bool tensor (B, V), from `kformer.decoding.shortlist`; None for all ids. For
            greedy and beam search without constraints.
    """
    if candidates is not None and (search.constraints or isinstance(search, Sample)):
        raise ValueError(
            "Candidates are for greedy and beam search without constraints. "
            f"Received: {type(search).__name__} with {len(search.constraints)} constraints."
        )
    if max_lengths is None:
        real = ops.cast(ops.not_equal(source, transformer.padding_id), "int32")
        lengths = ops.sum(real, axis=1)  # (B,)
        max_lengths = ops.where(lengths > 1, lengths + EXTRA_LENGTH, 0)
    if max_length is None:
        max_length = ops.maximum(ops.max(max_lengths), 1)  # The batch may be empty.

    settings = (source, max_length, search.beam_size, runtime, step_class, candidates)
    started = [start_decoding(model, *settings) for model in (transformer, *more_models)]
    steps, caches = zip(*started, strict=True)
    step, cache = (EnsembleStep(steps), caches) if more_models else started[0]
    for_beam = {"source_length": ops.shape(source)[1]} if isinstance(search, Beam) else {}
    return search(step, cache, max_lengths, max_length, **for_beam)


class FixedSearch:
    """The search of an export: its options are chosen once, for sources or prompts of any length.

    Args:
        options: `SearchOptions`, without sampling.
        tokenizer: Tokenizer of the target.
        longest: Maximum number of ids of a source, its end id included, or of a prompt, its start
            id included.
        max_positions: For prompts, the largest number of positions that a prompt and its
            continuation may take; else None.

    Attributes:
        options: The `SearchOptions`.
        limits: int32 array (`longest` + 1,), the largest number of ids of an answer by the number
            of ids of its source or prompt; 0 for a source without pieces, or no prompt.
    """

    def __init__(
        self, options: SearchOptions, tokenizer: Any, longest: int, max_positions: int | None = None
    ):
        self.options, self._tokenizer = options, tokenizer
        first = 2 if max_positions is None else 1
        self.limits = np.zeros(longest + 1, np.int32)
        self._minima = np.zeros(longest + 1, np.int32)
        for length in range(first, longest + 1):
            left = None if max_positions is None else max_positions + 1 - length
            self.limits[length] = limit = options.limit(length, most=left)
            self._minima[length] = options.minimum(length, limit)

    def most(self, length: int) -> int:
        """Returns the largest number of ids of an answer to at most `length` ids."""
        return int(self.limits[: length + 1].max())

    @property
    def has_usual_limits(self) -> bool:
        """Whether no option limits the number of ids of an answer."""
        return self.options.max_length is None and self.options.max_length_ratio is None

    def __call__(
        self,
        transformer: Transformer | TransformerDecoder,
        source: Any,
        lengths: Any,
        runtime: Runtime = GRAPH,
        max_length: Any = None,
        step_class: type[DecoderStep] = DecoderStep,
        select: Callable | None = None,
    ) -> SearchOutput:
        """Searches.

        Args:
            lengths: int32 tensor (B,), the number of ids of each row of `source`.
            select: Callable from sources to their `candidates` in `search_ids`; None for all ids.
                Searches with constraints have all ids.
        """
        minimum = None
        if self.options.has_minimum:
            minimum = gather(ops.convert_to_tensor(self._minima), lengths)
        search = search_of_options(self.options, self._tokenizer, minimum)
        return search_ids(
            transformer,
            source,
            search,
            runtime,
            max_length,
            max_lengths=gather(ops.convert_to_tensor(self.limits), lengths),
            step_class=step_class,
            candidates=None if select is None or search.constraints else select(source),
        )


def search_of_options(
    options: SearchOptions,
    tokenizer: Any,
    minimum: Any = None,
    prefix: Any = None,
    keys: Any = None,
) -> Greedy | Beam | Sample:
    """Returns the search that `options` describe.

    Args:
        minimum: int32 tensor (B,) for `kformer.decoding.search.constraints.MinLength`; or None.
        prefix: int32 tensor (B, P) for `kformer.decoding.search.constraints.Prefix`; or None.
        keys: uint32 tensor (B, T) for `kformer.Sample`; needed for sampling alone.
    """
    constraints: list[Constraint] = []
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
        length_offset=options.length_offset,
        narrowing=options.narrowing,
        spelling=Spelling(tokenizer.spelled) if options.n_best > 1 else None,
        **shared,
    )
