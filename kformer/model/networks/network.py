"""What whole networks share: the way from ids to vectors, copies, and how `fit` begins.

Axes: B batch, S sequence length, D d_model.
"""

import keras

from kformer.backend import is_tensorflow
from kformer.model.dense import HoldsDense
from kformer.model.networks.copying import float32_copy


class Network(HoldsDense, keras.Model):
    """Base class of `Transformer`, `TransformerEncoder` and `SequenceClassifier`.

    Its subclasses create all weights at once, so that every method works before any call.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        # TensorFlow's XLA would compile anew for every shape of a batch, and trains no faster on a
        # processor; Keras's other backends compile in any case.
        self.supports_jit = not is_tensorflow()

    def build(self, input_shape=None):
        """Does nothing: all weights exist from the start."""

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        """Builds the state of `fit` as Keras does, but from the share of one replica.

        Keras takes the mean of all replicas' shares of the first batch, only to learn its shape.
        That fails where the shares have different shapes. There is no public way to change this; a
        test in `tests/model/networks/test_transformer.py` checks that Keras still has this method.
        """
        strategy = self.distribute_strategy
        if iterator is not None and strategy.num_replicas_in_sync > 1:
            first = next(next(iter(iterator))[-1])
            data_batch = keras.tree.map_structure(
                lambda shares: strategy.experimental_local_results(shares)[0], first
            )
            iterator = None
        super()._maybe_symbolic_build(iterator, data_batch)

    def copy(self):
        """Returns a float32 copy with the same weights and without an optimizer, for export.

        LoRA is merged; quantized weights become floats of the same values.
        """
        return float32_copy(self)

    def _embed(self, embedding, ids, training=None):
        """Returns the vectors of ids with their positions, float (B, S, D)."""
        return self.dropout(self.positions(embedding(ids)), training=training)
