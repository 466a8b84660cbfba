"""The states of a decoder whose cells are recurrent: one vector for each beam and layer.

Nothing grows with the positions, so there are no blocks and no capacities. The states follow their
beams by `reorder`.

Axes: B batch, K beams, M = B * K rows, D d_model, L layers.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.backend import gather


class RecurrentState(NamedTuple):
    """The states after the last position."""

    layers: tuple  # L float tensors (M, D)
    memory: Any = ()  # `SourceMemory` of the remaining rows, where the batch is compacted.


class StateLayout:
    """Makes and reorders the states of one step; the other layout is `CacheLayout`.

    Args:
        layers: Number of layers L.
        width: Width of a state D.
        beams: Number of beams K.
        dtype: dtype of the states.
    """

    block = None
    capacities = ()
    uses_visible = False

    def __init__(self, layers: int, width: int, beams: int, dtype: str):
        self._layers, self._width, self._beams, self._dtype = layers, width, beams, dtype

    def empty(self, batch: Any, any_number: Any, memory: Any) -> RecurrentState:
        """Returns the states of the first step, zeros; the arguments are as of `CacheLayout`."""
        shape = (batch * self._beams, self._width)
        return RecurrentState((ops.zeros(shape, self._dtype),) * self._layers, memory)

    def pasts(self, cache: RecurrentState, position: Any, visible: Any, memory: Any) -> tuple:
        """Returns the state of each layer, (M, D)."""
        return cache.layers

    def updated(self, cache: RecurrentState, layers: list) -> RecurrentState:
        """Returns the cache with new states of all layers."""
        return cache._replace(layers=tuple(layers))

    def reorder(self, cache: RecurrentState, parents: Any) -> RecurrentState:
        """Returns the cache in which each beam continues the beam `parents`, int32 (B, K)."""
        first = ops.arange(ops.shape(parents)[0], dtype="int32")[:, None] * self._beams
        return self._gather(cache, ops.reshape(first + parents, (-1,)))

    def gather_rows(self, cache: RecurrentState, rows: Any) -> RecurrentState:
        """Returns the cache of some rows alone, int32 (any,)."""
        own = ops.arange(self._beams, dtype="int32")
        kept = self._gather(cache, ops.reshape(rows[:, None] * self._beams + own, (-1,)))
        memory = keras.tree.map_structure(lambda part: gather(part, rows), cache.memory)
        return kept._replace(memory=memory)

    def flush(self, cache: RecurrentState, start: Any) -> RecurrentState:
        """Returns the cache: an ensemble may flush the caches of other models."""
        return cache

    def grow(self, cache: RecurrentState, positions: Any) -> RecurrentState:
        """Returns the cache, which does not grow."""
        return cache

    def _gather(self, cache, index):
        return cache._replace(layers=tuple(gather(state, index) for state in cache.layers))
