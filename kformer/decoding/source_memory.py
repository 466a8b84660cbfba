"""Memories of a source or a prompt: the keys and values that all steps read besides their own ids.

They are computed in one pass, once for all steps.

Axes: B batch, K beams, S source length, P prompt length, N candidates,
D d_model, H heads, W width of a head, L layers.
"""

from typing import Any, NamedTuple

from keras import ops
from keras.backend import standardize_dtype

from kformer.backend import gather
from kformer.model.attention import MASKED_SCORE, KeysValues
from kformer.model.masks import causal_mask
from kformer.model.transformer import Transformer
from kformer.model.transformer_decoder import TransformerDecoder


class CandidateRows(NamedTuple):
    """The rows of the target's table that score the candidates of each source.

    Attributes:
        ids: int32 (B, N), the candidates, each once; () if the bias excludes all other ids.
        columns: float (B, D, N), the rows, transposed once for all steps; (D, N) for a single
            source, which is faster than a batch of one product; () for all V.
        bias: float (B, N), bias of the candidates; () if the embedding has none. Without `ids`
            float (B, V), `MASKED_SCORE` for ids that are no candidates.
    """

    ids: Any
    columns: Any
    bias: Any


class SourceMemory(NamedTuple):
    """The encoder's output as keys and values for the decoder's layers.

    Attributes:
        layers: tuple of L `KeysValues`: keys, float (B, H, W, S), transposed once for all steps,
            and values, float (B, H, S, W).
        mask: float (B, 1, 1, S), added to scores: 0, and `MASKED_SCORE` for padding.
        candidates: `CandidateRows`; () to score all ids.
    """

    layers: tuple[KeysValues, ...]
    mask: Any
    candidates: Any = ()


def source_memory(
    transformer: Transformer | TransformerDecoder, encoded: Any, mask: Any, candidates: Any = None
) -> SourceMemory:
    """Projects the encoder's output with `MultiHeadAttention.project` of every layer.

    Args:
        encoded: float tensor (B, S, D).
        mask: boolean tensor (B, 1, 1, S), from `transformer.source_mask`.
        candidates: int32 tensor (B, N), the only ids to score, each once; or bool tensor (B, V);
            None for all.
    """
    layers = []
    for layer in transformer.decoder.layers:
        keys, values = layer.cross_attention.project(encoded)
        layers.append(KeysValues(ops.swapaxes(keys, -2, -1), values))
    rows = () if candidates is None else _candidate_rows(transformer, candidates)
    return SourceMemory(tuple(layers), additive_mask(mask), rows)


def _candidate_rows(transformer, candidates):
    embedding, dtype = transformer.target_embedding, transformer.compute_dtype
    candidates = ops.convert_to_tensor(candidates)
    if standardize_dtype(candidates.dtype) == "bool":
        penalty = ops.cast(additive_mask(candidates), dtype)
        has_bias = embedding.bias is not None
        return CandidateRows(
            (), (), penalty + ops.cast(embedding.bias, dtype) if has_bias else penalty
        )
    single = candidates.shape[0] == 1
    rows = ops.cast(embedding.output_rows(candidates[0] if single else candidates), dtype)
    bias = ()
    if embedding.bias is not None:
        bias = ops.cast(gather(embedding.bias, candidates), dtype)
    return CandidateRows(candidates, ops.swapaxes(rows, -2, -1), bias)


class PromptMemory(NamedTuple):
    """Keys and values of a prompt without its last id, for a decoder without an encoder.

    The self-attention of the steps reads it beside their own cache. All beams share it.

    Attributes:
        layers: tuple of L `KeysValues` (B, H, P, W).
        mask: float (B, 1, 1, P), added to scores: 0, and `MASKED_SCORE` after the prompt.
        lengths: int32 (B,), the number of ids read: the position of the first step.
        last_ids: int32 (B, 1), the last ids of the prompts, which the first step reads.
    """

    layers: tuple[KeysValues, ...]
    mask: Any
    lengths: Any
    last_ids: Any

    def join_masks(self, masks: tuple) -> tuple:
        """Returns its own mask and `masks` (B or 1, 1, K or 1, any) of the cache, of equal axes."""
        batch, queries = ops.shape(self.mask)[0], ops.shape(masks[0])[2]
        return tuple(
            ops.broadcast_to(mask, (batch, 1, queries, ops.shape(mask)[3]))
            for mask in (self.mask, *masks)
        )


def prompt_memory(network: Any, prompt: Any) -> PromptMemory:
    """Reads all ids of each prompt but the last, in one pass.

    Args:
        prompt: int32 tensor (B, P + 1), each row the start id, pieces, padding.
    """
    real = ops.cast(ops.not_equal(prompt, network.padding_id), "int32")
    lengths = ops.sum(real, axis=1) - 1  # (B,)
    beginning = prompt[:, :-1]
    x = network.positions(network.target_embedding(beginning))  # (B, P, D)
    length, layers = ops.shape(beginning)[1], []
    for layer in network.decoder.layers:
        layers.append(layer.attention.project(layer.attention_residual.enter(x)))
        x, _ = layer.attend(x, causal_mask(length))
    is_prompt = ops.arange(length, dtype="int32") < lengths[:, None]  # (B, P)
    return PromptMemory(
        tuple(layers),
        additive_mask(is_prompt[:, None, None]),
        lengths,
        ops.cast(ops.take_along_axis(prompt, lengths[:, None], axis=1), "int32"),
    )


def additive_mask(mask: Any) -> Any:
    """Returns a mask to add to scores: 0 where the boolean `mask` is True, else `MASKED_SCORE`."""
    return ops.where(mask, 0.0, MASKED_SCORE)
