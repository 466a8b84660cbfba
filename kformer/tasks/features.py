"""Features: the encoder's vectors of texts, one for each id or one for each text.

Axes: B batch, N rows, S source length, D d_model.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from keras import ops

from kformer.backend import is_tensorflow
from kformer.decoding.inputs import padded
from kformer.decoding.parallel import batches_by_length, in_parallel
from kformer.decoding.runtime import max_parallel_batches
from kformer.model.dense import form_of


def token_vectors(transformer, source) -> Any:
    """Returns the encoder's vector of each id, float32 (B, S, D).

    Args:
        transformer: `kformer.Transformer`.
        source: int32 tensor (B, S), padded.
    """
    return ops.cast(transformer.encode(source), "float32")


def sentence_vectors(transformer, source) -> Any:
    """Returns a vector for each row, float32 (B, D): the mean of those of its ids.

    Args:
        transformer: `kformer.Transformer`.
        source: int32 tensor (B, S), padded; each row has at least its end id.
    """
    real = ops.not_equal(source, transformer.padding_id)[..., None]  # (B, S, 1)
    total = ops.sum(ops.where(real, token_vectors(transformer, source), 0.0), axis=1)
    return total / ops.sum(ops.cast(real, "float32"), axis=1)


class BatchEncoder:
    """Encodes any number of rows, in batches of about one length, one on each core.

    Args:
        transformer: `kformer.Transformer`.
    """

    def __init__(self, transformer):
        self._transformer = transformer
        self._graphs = {}

    def sentence_vectors(
        self, rows: list, batch_size: int = 32, progress: Callable | None = None
    ) -> np.ndarray:
        """Returns a vector for each row, float32 (N, D).

        Args:
            rows: list of N lists of ids, each ending in the end id.
            batch_size: Rows encoded at once. It changes speed, not results.
            progress: Called with the number of rows done, after each batch.
        """
        result = np.empty((len(rows), self._transformer.d_model), np.float32)
        for batch, vectors in self._encoded(sentence_vectors, rows, batch_size, progress):
            result[batch] = vectors
        return result

    def token_vectors(
        self, rows: list, batch_size: int = 32, progress: Callable | None = None
    ) -> list[np.ndarray]:
        """Returns for each row float32 (S, D), a vector for each of its ids.

        Args:
            rows, batch_size, progress: See `sentence_vectors`.
        """
        result = [np.empty(0)] * len(rows)
        for batch, vectors in self._encoded(token_vectors, rows, batch_size, progress):
            for i, of_row in zip(batch, vectors, strict=True):
                result[i] = of_row[: len(rows[i])].copy()  # The batch is not kept.
        return result

    def _encoded(self, function, rows, batch_size, progress) -> Iterator[tuple]:
        """Yields the indices of each batch and what `function` computes from its rows."""
        graph = self._graph(function)

        def compute(batch):
            source = padded([rows[i] for i in batch], self._transformer.padding_id)
            return ops.convert_to_numpy(graph(source))

        batches = list(batches_by_length([len(row) for row in rows], batch_size))
        outputs = in_parallel(compute, batches, max_parallel_batches())
        for batch, vectors in zip(batches, outputs, strict=True):
            yield batch, vectors
            if progress:
                progress(len(batch))

    def _graph(self, function):
        key = function, form_of(self._transformer)
        if key not in self._graphs:

            def compute(source):
                return function(self._transformer, source)

            if is_tensorflow():
                ids = tf.TensorSpec([None, None], tf.int32)
                compute = tf.function(compute, input_signature=[ids], autograph=False)
            self._graphs[key] = compute
        return self._graphs[key]
