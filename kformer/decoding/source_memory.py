"""What a decoder reads of its source at every step, computed once.

Axes: B batch, S source length, D d_model, H heads, W width of a head, L layers.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.model.attention import MASKED_SCORE, KeysValues


class SourceMemory(NamedTuple):
    """The encoder's output as the decoder's layers want it.

    Attributes:
        layers: tuple of L `KeysValues`: keys, float (B, H, W, S), so that products need not turn
            them, and values, float (B, H, S, W).
        mask: float (B, 1, 1, S), to be added to scores: 0, and for padding `MASKED_SCORE`.
    """

    layers: tuple
    mask: Any


def source_memory(transformer, encoded, mask) -> SourceMemory:
    """Projects what the encoder returned.

    Args:
        transformer: `kformer.Transformer`.
        encoded: float tensor (B, S, D).
        mask: boolean tensor (B, 1, 1, S), True for what is not padding.
    """
    layers = []
    for layer in transformer.decoder.layers:
        keys, values = layer.cross_attention.project(encoded)
        layers.append(KeysValues(ops.swapaxes(keys, -2, -1), values))
    return SourceMemory(tuple(layers), additive(mask))


def additive(mask):
    """Returns what to add to scores, of any float dtype, where the boolean `mask` is True: 0."""
    return ops.where(mask, 0.0, MASKED_SCORE)
