"""A quantized embedding: an int8 file stores one table for both look-ups and logits.

The converter quantizes matrices that are multiplied by row, and tables that are looked up as a
whole, so it would store the embedding twice. Here the rows are quantized beforehand, as the
converter would; it then stores the same bytes for both uses, and equal buffers are merged.
"""

import numpy as np
import tensorflow as tf

_MAX_INT8 = 127  # Symmetric about 0.
_SCALE_BITS = 30


def quantize_embeddings(network):
    """Replaces the embeddings of a network by quantized ones; a shared one stays shared.

    Args:
        network: `kformer.Transformer`; or `kformer.TransformerEncoder` or
            `kformer.TransformerDecoder`, which have only one.
    """
    quantized = {}
    for name in ("source_embedding", "target_embedding"):
        if name in vars(network):  # In a `TransformerDecoder`, one is another name of the other.
            embedding = getattr(network, name)
            if id(embedding) not in quantized:
                quantized[id(embedding)] = QuantizedEmbedding(embedding)
            setattr(network, name, quantized[id(embedding)])


class QuantizedEmbedding:
    """Looks up rows that are stored in int8, with a scale for each row.

    Args:
        embedding: `kformer.TokenEmbedding`; its table (V, D) is rounded, too.
    """

    def __init__(self, embedding):
        table = embedding.table.numpy()
        scales = np.abs(table).max(axis=1, keepdims=True) / np.float32(_MAX_INT8)  # (V, 1)
        scales[scales == 0] = 1.0
        self._rows = np.rint(table / scales).astype(np.int8)
        # The converter does not quantize integer constants.
        self._unit = float(scales.max()) / 2**_SCALE_BITS
        self._scales = np.rint(scales.astype(np.float64) / self._unit).astype(np.int32)
        embedding.table.assign(self._rows * scales)
        self.table, self.bias, self.d_model = embedding.table, embedding.bias, embedding.d_model

    def __call__(self, ids):
        """Returns float32 (..., D) for int32 `ids` (...)."""
        rows = tf.cast(tf.gather(tf.constant(self._rows), ids), tf.float32)
        scales = tf.cast(tf.gather(tf.constant(self._scales), ids), tf.float32)
        return rows * (scales * (self._unit * self.d_model**0.5))
