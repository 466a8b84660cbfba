"""A quantized embedding: an int8 file stores one table for both look-ups and logits.

Matrices that are multiplied are quantized by row when the file is written. Here the same rows are
looked up, as int8, and scaled. So both uses store the same bytes, and equal buffers are merged.
"""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from kformer.export.tflite.constants.int8_weights import quantized_rows


def quantize_embeddings(network, constant: Callable = tf.constant):
    """Replaces the embeddings of a network by quantized ones; a shared one stays shared.

    Args:
        network: `kformer.Transformer`; or `kformer.TransformerEncoder` or
            `kformer.TransformerDecoder`, which have only one.
        constant: Makes a tensor of an array; see `constants.stand_ins.StandIns`.
    """
    quantized = {}
    for name in ("source_embedding", "target_embedding"):
        if name in vars(network):  # In a `TransformerDecoder`, one is another name of the other.
            embedding = getattr(network, name)
            if id(embedding) not in quantized:
                quantized[id(embedding)] = QuantizedEmbedding(embedding, constant)
            setattr(network, name, quantized[id(embedding)])


class QuantizedEmbedding:
    """Looks up rows that are stored in int8, with a scale for each row.

    Args:
        embedding: `kformer.TokenEmbedding`; its table (V, D) is rounded when the file is written.
        constant: See `quantize_embeddings`.
    """

    def __init__(self, embedding, constant):
        self._constant = constant
        # Without a copy of the table.
        table = np.asarray(memoryview(embedding.table.value.read_value()))
        self._rows, scales = quantized_rows(table)
        self._scales = scales[:, None]  # (V, 1)
        self.table, self.bias, self.d_model = embedding.table, embedding.bias, embedding.d_model

    def __call__(self, ids):
        """Returns float32 (..., D) for int32 `ids` (...)."""
        rows, scales = self._rounded(ids)
        return rows * (scales * self.d_model**0.5)

    def rows(self, ids):
        """Returns the rounded rows of the table, float32 (..., D), of int32 `ids` (...)."""
        rows, scales = self._rounded(ids)
        return rows * scales

    def _rounded(self, ids):
        rows = tf.cast(tf.gather(self._constant(self._rows), ids), tf.float32)
        return rows, tf.gather(self._constant(self._scales), ids)
