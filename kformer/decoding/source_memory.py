"""The keys and values of the source, projected once for all steps.

Axes: B batch, S source length, D d_model, H heads, W width of a head, L layers.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.model.attention import MASKED_SCORE, KeysValues


class SourceMemory(NamedTuple):
    """The encoder's output as the decoder's layers want it.

    Attributes:
        layers: tuple of L `KeysValues`: keys, float (B, H, W, S), transposed once for all steps,
            and values, float (B, H, S, W).
        mask: float (B, 1, 1, S), added to scores: 0, and `MASKED_SCORE` for padding.
    """

    layers: tuple[KeysValues, ...]
    mask: Any


def source_memory(transformer, encoded: Any, mask: Any) -> SourceMemory:
    """Projects the encoder's output with `MultiHeadAttention.project` of every layer.

    Args:
        transformer: `kformer.Transformer`.
        encoded: float tensor (B, S, D).
        mask: boolean tensor (B, 1, 1, S), the source's `padding_mask`.
    """
    layers = []
    for layer in transformer.decoder.layers:
        keys, values = layer.cross_attention.project(encoded)
        layers.append(KeysValues(ops.swapaxes(keys, -2, -1), values))
    return SourceMemory(tuple(layers), additive_mask(mask))


def additive_mask(mask: Any) -> Any:
    """Returns what to add to scores: 0 where the boolean `mask` is True, else `MASKED_SCORE`."""
    return ops.where(mask, 0.0, MASKED_SCORE)
