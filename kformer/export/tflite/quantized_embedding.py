"""An embedding in 8 bits, so that an int8 file stores one table for looking up and for logits.

The converter rounds what is multiplied row by row, and what is looked up as a whole, and so stores
two tables. Here the rows are rounded beforehand, as it would; then it finds nothing left to round,
and both are the same bytes.
"""

import numpy as np
import tensorflow as tf

_MOST = 127  # The largest number of 8 bits, symmetric about 0.
_SCALE_BITS = 30


def round_embeddings(transformer):
    """Rounds the tables of a `kformer.Transformer`, and looks ids up in 8 bits from now on."""
    source, target = transformer.source_embedding, transformer.target_embedding
    transformer.source_embedding = transformer.target_embedding = RoundedEmbedding(source)
    if target is not source:
        transformer.target_embedding = RoundedEmbedding(target)


class RoundedEmbedding:
    """As `kformer.TokenEmbedding`, for graphs that are saved.

    Args:
        embedding: `kformer.TokenEmbedding`; its table (V, D) is rounded, too.
    """

    def __init__(self, embedding):
        table = embedding.table.numpy()
        scales = np.abs(table).max(axis=1, keepdims=True) / np.float32(_MOST)  # (V, 1)
        scales[scales == 0] = 1.0
        self._rows = np.rint(table / scales).astype(np.int8)
        # As integers, which the converter leaves alone.
        self._unit = float(scales.max()) / 2**_SCALE_BITS
        self._scales = np.rint(scales.astype(np.float64) / self._unit).astype(np.int32)
        embedding.table.assign(self._rows * scales)
        self.table, self.d_model = embedding.table, embedding.d_model

    def __call__(self, ids):
        """Returns float32 (..., D) for int32 `ids` (...)."""
        rows = tf.cast(tf.gather(tf.constant(self._rows), ids), tf.float32)
        scales = tf.cast(tf.gather(tf.constant(self._scales), ids), tf.float32)
        return rows * (scales * (self._unit * self.d_model**0.5))
