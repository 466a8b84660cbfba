"""A quantized embedding: an int8 file stores one table for both look-ups and logits.

Matrices that are multiplied are quantized by row when the file is written. Here the same rows are
looked up, as int8 or as bytes of two int4, and scaled. So both uses store the same bytes, and equal
buffers are merged, unless the output has a table of its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from kformer.export.tflite.rounded_weights import packed_int4
from kformer.export.tflite_graph.int8_weights import quantized_rows

# The two int4 numbers of each byte: float32 (256, 2), the number in the lower bits first.
_PAIRS = ((np.arange(256)[:, None] >> [0, 4]) + 8 & 15).astype(np.float32) - 8


def with_quantized_embeddings(network: Any, constant: Callable = tf.constant, bits: int = 8):
    """Returns the network with quantized embeddings: one for both sides stays one for both.

    All other layers are shared with the given network, without a copy of their weights.

    Args:
        constant: Makes a tensor of an array, such as `tflite_graph.stand_ins.StandIns.constant`.
    """
    quantized, replaced = {}, {}
    for name in ("source_embedding", "target_embedding"):
        if name in vars(network):  # In a `TransformerDecoder`, one is another name of the other.
            embedding = getattr(network, name)
            if id(embedding) not in quantized:
                quantized[id(embedding)] = QuantizedEmbedding(embedding, constant, bits)
            replaced[name] = quantized[id(embedding)]
    return with_parts(network, **replaced)


def with_parts(network: Any, **parts: Any):
    """Returns a network that has other `parts`, by attribute, and shares all else with `network`.

    For tracing alone: Keras still lists the layers and weights of `network`.
    """
    copied = object.__new__(type(network))  # `copy.copy` would copy all weights.
    vars(copied).update({**vars(network), **parts})
    return copied


class QuantizedEmbedding:
    """Looks up rows that are stored in int8 or int4, with a scale for each row.

    Args:
        embedding: `kformer.TokenEmbedding`; its table (V, D) is rounded when the file is written,
            and so is the output's table.
        constant, bits: As for `with_quantized_embeddings`.
    """

    def __init__(self, embedding: Any, constant: Callable, bits: int):
        self._rows = self._output_rows = _QuantizedRows(embedding.table, constant, bits)
        if embedding.output_table is not embedding.table:
            self._output_rows = _QuantizedRows(embedding.output_table, constant, bits)
        self.output_table, self.bias = embedding.output_table, embedding.bias
        self.d_model = embedding.d_model

    def __call__(self, ids: tf.Tensor):
        """Returns float32 (..., D) for int32 `ids` (...)."""
        rows, scales = self._rows(ids)
        return rows * (scales * self.d_model**0.5)

    def output_rows(self, ids: tf.Tensor):
        """Returns the rounded rows of the output's table, float32 (..., D), of int32 `ids`."""
        rows, scales = self._output_rows(ids)
        return rows * scales


class _QuantizedRows:
    """The rows of a table (V, D), a variable, rounded."""

    def __init__(self, variable: Any, constant: Callable, bits: int):
        self._constant, self._bits = constant, bits
        table = np.asarray(memoryview(variable.value.read_value()))  # Without a copy.
        self._rows, scales = quantized_rows(table)
        if bits == 4:
            self._rows, steps = packed_int4(self._rows)
            scales = scales * steps
        self._scales, self._width = scales[:, None], table.shape[1]  # (V, 1), D

    def __call__(self, ids: tf.Tensor):
        """Returns rows, float32 (..., D), and their scales (..., 1), of int32 `ids` (...)."""
        rows = tf.gather(self._constant(self._rows), ids)
        if self._bits == 4:
            pairs = tf.gather(self._constant(_PAIRS), tf.cast(rows, tf.int32))  # (..., D / 2, 2)
            rows = tf.reshape(pairs, (*ids.shape, self._width))
        return tf.cast(rows, tf.float32), tf.gather(self._constant(self._scales), ids)
