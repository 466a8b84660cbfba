"""Computes something from any number of rows of ids, in batches, one on each core.

Axes: B batch, S length.
"""

from collections.abc import Callable, Iterator

import keras
import tensorflow as tf
from keras import ops

from kformer.backend import is_tensorflow
from kformer.decoding.decoder_inputs import padded
from kformer.decoding.runtime import each_batch
from kformer.model.dense import form_of
from kformer.threads import batches_by_length


class InBatches:
    """Runs functions of a network and of padded rows, in batches of about one length.

    Args:
        network: Keras model with `padding_id`.
    """

    def __init__(self, network: keras.Model):
        self._network = network
        self._graphs: dict = {}

    def __call__(
        self, function: Callable, rows: list, batch_size: int = 32, progress: Callable | None = None
    ) -> Iterator[tuple]:
        """Yields for each batch a list of the indices of its rows, and the outputs for them.

        Args:
            function: From the network and `source`, int32 (B, S), padded, to a tensor (B, ...).
            batch_size: Maximum number of rows of a batch. It changes speed, not results.
        """
        graph = self._graph(function)

        def compute(batch):
            source = padded([rows[i] for i in batch], self._network.padding_id)
            return ops.convert_to_numpy(graph(source))

        batches = list(batches_by_length([len(row) for row in rows], batch_size))
        outputs = each_batch(compute, batches)
        for batch, output in zip(batches, outputs, strict=True):
            yield batch, output
            if progress:
                progress(len(batch))

    def _graph(self, function):
        key = function, form_of(self._network)
        if key not in self._graphs:

            def compute(source):
                return function(self._network, source)

            if is_tensorflow():
                ids = tf.TensorSpec([None, None], tf.int32)
                compute = tf.function(compute, input_signature=[ids], autograph=False)
            self._graphs[key] = compute
        return self._graphs[key]
