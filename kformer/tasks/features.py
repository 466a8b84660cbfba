"""Features: the encoder's vectors of rows of ids, one for each id or one for each row.

Axes: B batch, S length, D d_model.
"""

from typing import Any

from keras import ops

from kformer.model.networks.sequence_classifier import pool


def token_vectors(network, source) -> Any:
    """Returns the encoder's vector of each id, float32 (B, S, D).

    Args:
        network: `kformer.Transformer`, or another network with an encoder.
        source: int32 tensor (B, S), padded.
    """
    return ops.cast(network.encode(source), "float32")


def sentence_vectors(network, source) -> Any:
    """Returns a vector for each row, float32 (B, D): the mean of those of its ids.

    Args:
        network: `kformer.Transformer`, or another network with an encoder.
        source: int32 tensor (B, S), padded; each row has at least its end id.
    """
    return pool(network.encode(source), source, network.padding_id)
