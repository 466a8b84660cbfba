"""The decoder for one position, all beams of a row at once: the step that searches call.

It computes the same as `kformer.model.decoder.Decoder` for whole sequences, which is its
reference; `tests/decoding/test_decoder_step.py` holds the two together. Decoding one position is
bound by reading the weights and launching operations, so this uses as few operations as possible,
and everything that is the same in all steps is computed once: the memory's keys and values, the
table of positions, and the matrices of each layer (`kformer.decoding.layer_step`).

Vectors are rows of a matrix, M = B * K of them: all runtimes are best at products of matrices.

Axes: B batch, K beams, T largest number of positions, N = T * K slots, S source length, H heads,
D d_model, V vocabulary, C candidates, L layers.
"""

from typing import Any

import numpy as np
from keras import ops

from kformer.decoding.fused_layers import FusedNorm, Vectors
from kformer.decoding.kv_cache import CacheLayout, KVCache
from kformer.decoding.layer_step import LayerStep
from kformer.decoding.recurrent_state import RecurrentState, StateLayout
from kformer.decoding.runtime import GRAPH, Runtime
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search.search_loop import Step, StepOutput
from kformer.decoding.source_memory import (
    PromptMemory,
    SourceMemory,
    prompt_memory,
    source_memory,
)
from kformer.decoding.step_attention import ElementwiseAttention, MatmulAttention
from kformer.model.encoder import Encoder
from kformer.model.transformer import Transformer
from kformer.model.transformer_decoder import TransformerDecoder


class DecoderStep(Step):
    """Scores the ids that follow, for one batch of sources or of prompts.

    Args:
        transformer: `kformer.Transformer` or `kformer.TransformerDecoder`.
        memory: `kformer.decoding.source_memory.SourceMemory` of the batch, or its `PromptMemory`.
        max_length: int or int32 tensor, largest number of positions T.
        beams: Number of beams K.
        runtime: `kformer.decoding.runtime.Runtime`.
        layer: Index of the layer whose attention to the source the outputs have.
        head: Index of its head; None for the mean of all.
    """

    def __init__(
        self,
        transformer: Transformer | TransformerDecoder,
        memory: SourceMemory | PromptMemory,
        max_length: Any,
        beams: int = 1,
        runtime: Runtime = GRAPH,
        layer: int = -1,
        head: int | None = None,
    ):
        self._arguments = transformer, memory, max_length, beams, runtime, layer, head
        self._head = layer % len(transformer.decoder.layers), head
        decoder, dtype = transformer.decoder, transformer.compute_dtype
        self.top_k, self.log_sum_exp = runtime.top_k, runtime.log_sum_exp
        self.write, self.compact_batch = runtime.write, runtime.compact_batch
        self._beams = beams
        elementwise = runtime.elementwise_attention and beams == 1
        attention_class = ElementwiseAttention if elementwise else MatmulAttention
        width = decoder.d_model // decoder.num_heads
        self._attention = attention_class(decoder.num_heads, width, beams)
        self._layout = self._layout_for(decoder, runtime, max_length, dtype)
        self.block, self.capacities = self._layout.block, self._layout.capacities
        self.uses_visible = self._layout.uses_visible
        self._layers, before = [], None
        for layer in decoder.layers:
            self._layers.append(LayerStep(layer, self._attention, dtype, before))
            before = self._layers[-1].last_norm
        self._norm = decoder.norm and FusedNorm(decoder.norm)
        first = 0
        self._memory: SourceMemory | PromptMemory
        if isinstance(memory, PromptMemory):
            self._memory, first = memory, ops.shape(memory.mask)[3]
        else:
            self._memory = self._attention.prepare_memory(memory)
        values = memory.layers[0].values
        self._any_number = ops.sum(values[:1, :1, :1, :1])  # A sum, as the batch may be empty.
        self._embedding = transformer.target_embedding
        table = ops.cast(self._embedding.output_table, dtype)
        self._columns = ops.transpose(table)  # (D, V); once, not in every step.
        bias = self._embedding.bias
        self._bias = None if bias is None else ops.cast(bias, dtype)  # (V,)
        self.refusal = refusal_of(transformer)
        positions = transformer.positions.encodings(first + max_length, table.shape[1])
        positions = ops.reshape(ops.cast(positions, dtype), (1, 1, -1, table.shape[1]))
        self._positions = positions  # (1, 1, T, D): cached keys are sliced by the same index.

    def _layout_for(self, decoder, runtime, max_length, dtype):
        """Returns the layout of the cache that the cells of the decoder read."""
        layers = len(decoder.layers)
        if getattr(decoder, "decoder_cell", "attention") == "ssru":
            wide = "float32" if dtype in ("float16", "bfloat16") else dtype
            return StateLayout(layers, decoder.d_model, self._beams, wide)
        shape_of = self._attention.cache_shape
        return CacheLayout(runtime, max_length, self._beams, layers, shape_of)

    def empty_cache(self, batch: Any) -> KVCache | RecurrentState:
        """Returns the cache of the first step for B rows."""
        memory = self._memory if self.compact_batch else ()
        return self._layout.empty(batch, self._any_number, memory)

    def __call__(
        self, ids: Any, position: Any, visible: Any, cache: KVCache | RecurrentState
    ) -> StepOutput:
        """Scores the next ids, as `kformer.decoding.search.search_loop.Step` describes.

        The attention of the `StepOutput` is that of the chosen layer and head.
        """
        # Transformer.decode: embedded ids plus positions (sections 3.4 and 3.5).
        memory = cache.memory or self._memory
        x = self._embedding(ops.reshape(ids, (-1,))) + self._encoding(position, memory)  # (M, D)
        x = Vectors(x, x)
        pasts = self._layout.pasts(cache, position, visible, memory)
        # Decoder.attend: one layer after the other, then the final norm of the pre-norm variant.
        updated, attentions = [], []
        for layer, past, source in zip(self._layers, pasts, memory.layers, strict=True):
            x, past, weights = layer(x, past, source, memory.mask)
            updated.append(past)
            attentions.append(weights)
        if self._norm:
            x = self._norm(x.whole)
        cache = self._layout.updated(cache, updated)
        number, head = self._head
        attention = attentions[number]
        if attention is not None:
            attention = ops.mean(attention, axis=1) if head is None else attention[:, head]
        candidates = getattr(memory, "candidates", ())
        if candidates and not isinstance(candidates.ids, tuple):
            return StepOutput(
                self._logits_of(candidates, x.whole), cache, attention, candidates.ids
            )
        # TokenEmbedding.logits: the output's table, transposed (section 3.4), and its bias.
        logits = ops.matmul(x.whole, self._columns)  # (M, V)
        if candidates:
            logits = ops.reshape(logits, (-1, self._beams, logits.shape[1]))
            return StepOutput(logits + ops.expand_dims(candidates.bias, 1), cache, attention)
        if self._bias is not None:
            logits = logits + self._bias
        logits = ops.reshape(logits, (-1, self._beams, logits.shape[1]))
        return StepOutput(logits, cache, attention)

    def _logits_of(self, candidates, x):
        """Returns the logits (B, K, C) of each row's own candidates for vectors (M, D)."""
        if len(candidates.columns.shape) == 3:
            x = ops.reshape(x, (-1, self._beams, x.shape[1]))
        logits = ops.matmul(x, candidates.columns)
        logits = ops.reshape(logits, (-1, self._beams, logits.shape[-1]))
        if isinstance(candidates.bias, tuple):
            return logits
        return logits + ops.expand_dims(candidates.bias, 1)

    def _encoding(self, position, memory):
        """Returns the encoding of the position, (1, D); after prompts one for each row, (M, D)."""
        width = self._columns.shape[0]
        if isinstance(memory, PromptMemory):
            rows = ops.repeat(memory.lengths + position, self._beams)  # (M,)
            return ops.take(ops.reshape(self._positions, (-1, width)), rows, axis=0)
        start = ops.stack([0, 0, position, 0])  # JAX demands a single dtype.
        encoding = ops.slice(self._positions, start, (1, 1, 1, width))
        return ops.reshape(encoding, (1, width))

    def first_ids(self, start_id: int, batch: Any, beams: int) -> Any:
        if isinstance(self._memory, PromptMemory):
            return ops.repeat(self._memory.last_ids, beams, axis=1)
        return super().first_ids(start_id, batch, beams)

    def reorder(self, cache: Any, parents: Any) -> Any:
        return self._layout.reorder(cache, parents)

    def flush(self, cache: Any, start: Any) -> Any:
        return self._layout.flush(cache, start)

    def grow(self, cache: Any, positions: Any) -> Any:
        return self._layout.grow(cache, positions)

    def gather_rows(self, cache: Any, rows: Any) -> Any:
        return self._layout.gather_rows(cache, rows)

    def rebuild(self) -> "DecoderStep":
        return type(self)(*self._arguments)


def refusal_of(transformer: Transformer | TransformerDecoder) -> Any:
    """Returns what is added to the scores of all ids, float32 (V,): `NEG_INF` for forbidden ones.

    None where the network forbids none.
    """
    forbidden = getattr(transformer, "forbidden_ids", ())
    if not forbidden:
        return None
    refusal = np.zeros(transformer.target_embedding.output_table.shape[0], np.float32)
    refusal[[*forbidden]] = NEG_INF
    return refusal


def start_decoding(
    transformer: Transformer | TransformerDecoder,
    source: Any,
    max_length: Any,
    beams: int = 1,
    runtime: Runtime = GRAPH,
    step_class: type[DecoderStep] = DecoderStep,
    candidates: Any = None,
) -> tuple[DecoderStep, KVCache | RecurrentState]:
    """Reads `source` once; returns the step that decodes it, and the cache of its first call.

    Args:
        source: integer tensor (B, S). A prompt begins with the start id and has no end id.
        candidates: int32 tensor (B, C), the only ids that are scored, each once in its row, or
            bool tensor (B, V); None for all ids, and for prompts.
    """
    memory: SourceMemory | PromptMemory
    if isinstance(transformer.decoder, Encoder):
        memory = prompt_memory(transformer, source)
    else:
        mask = transformer.source_mask(source)
        memory = source_memory(transformer, transformer.encode(source), mask, candidates)
    step = step_class(transformer, memory, max_length, beams, runtime)
    return step, step.empty_cache(ops.shape(source)[0])
