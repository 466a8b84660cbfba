"""The cache of keys and values of all positions decoded so far.

Cached keys and values are never reordered: beam k at position t keeps slot t * K + k of its row,
and a mask selects each beam's ancestors. So the queries of all beams of a row meet all keys of the
row in one product.

Most runtimes copy the buffers that a loop changes. So a block of positions goes into the small
buffers of the tail first, and is flushed to the main buffers at once.

Axes: B batch, K beams, T largest number of positions, N = T * K slots, H heads, W width of a head,
L layers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.backend import gather
from kformer.decoding.runtime import Runtime
from kformer.decoding.source_memory import PromptMemory, additive_mask
from kformer.model.attention import MASKED_SCORE, KeysValues


class KVCache(NamedTuple):
    """Keys and values of earlier positions: tuples of L `KeysValues` (B, H, slots, W)."""

    main: Any  # All flushed blocks; () where there are no blocks.
    tail: Any  # The slots of one block; all slots where there are no blocks.
    memory: Any = ()  # `SourceMemory` of the remaining rows, where the batch is compacted.


class CachedPast(NamedTuple):
    """All that the self-attention of one layer reads of earlier positions."""

    main: tuple  # Its `KeysValues` in the main buffers, one or none.
    tail: KeysValues  # Its `KeysValues` in the tail.
    write: Callable  # (old, new) -> the tail with the new `KeysValues` of this position.
    masks: tuple  # Additive masks of the prompt and of the main buffers, if any, and of the tail.


class CacheLayout:
    """Makes, grows and flushes the caches of one step, and writes into them.

    Args:
        runtime: `kformer.decoding.runtime.Runtime`.
        max_length: int or int32 tensor, largest number of positions T.
        beams: Number of beams K.
        layers: Number of layers L.
        shape_of: callable: slots -> the shape of one buffer without the batch.

    Attributes:
        block: Positions of the tail; None if it holds all positions.
        capacities: Successive cache capacities, in positions.
        uses_visible: As of `kformer.decoding.search.search_loop.Step`.
    """

    uses_visible = True

    def __init__(
        self, runtime: Runtime, max_length: Any, beams: int, layers: int, shape_of: Callable
    ):
        fits_block = isinstance(max_length, int) and max_length <= (runtime.block or 0)
        self.block = None if fits_block else runtime.block
        smaller = (capacity for capacity in runtime.capacities if capacity < max_length)
        self.capacities = (*smaller, max_length)
        self._buffers, self._beams = runtime.buffers, beams
        self._layers, self._shape_of = layers, shape_of

    def empty(self, batch: Any, any_number: Any, memory: Any) -> KVCache:
        """Returns the cache of the first step, whose values have no meaning.

        Args:
            any_number: float scalar tensor that fills the buffers.
        """

        def empty(slots):
            shape, number = (batch, *self._shape_of(slots)), 2 * self._layers
            new = [self._buffers.empty(shape, any_number) for _ in range(number)]
            return tuple(map(KeysValues, new[::2], new[1::2]))

        slots = self._slots(self.capacities[0])
        if self.block is None:
            return KVCache((), empty(slots), memory)
        return KVCache(empty(slots), empty(self.block * self._beams), memory)

    def _slots(self, positions):
        """Returns the number of slots for a number of positions, in whole blocks."""
        if self.block is not None:
            positions = -(-positions // self.block) * self.block
        return positions * self._beams

    def pasts(self, cache: KVCache, position: Any, visible: Any, memory: Any) -> list[CachedPast]:
        """Returns the `CachedPast` of each layer."""
        within = position % self.block if self.block else position  # The index in the tail.
        masks = self._masks(visible, position, within, cache)
        if isinstance(memory, PromptMemory):
            masks = memory.join_masks(masks)
        write = self._writer(cache.tail, within * self._beams, self._beams)
        main: list[tuple] = [(old,) for old in cache.main] or [()] * self._layers
        return [
            CachedPast(old, tail, write, masks) for old, tail in zip(main, cache.tail, strict=True)
        ]

    def updated(self, cache: KVCache, layers: list) -> KVCache:
        """Returns the cache with new tails of all layers."""
        return cache._replace(tail=tuple(layers))

    def reorder(self, cache: KVCache, parents: Any) -> KVCache:
        """Returns the cache: `visible` selects the ancestors of each beam."""
        return cache

    def gather_rows(self, cache: KVCache, rows: Any) -> KVCache:
        """Returns the cache of some rows alone, int32 (any,)."""
        return keras.tree.map_structure(lambda part: gather(part, rows), cache)

    def flush(self, cache: KVCache, start: Any) -> KVCache:
        """Copies the tail, the block that began at position `start`, to the main buffers."""
        write = self._writer(cache.main, start * self._beams, self._slots(self.block))
        main = [write(old, new) for old, new in zip(cache.main, cache.tail, strict=True)]
        return cache._replace(main=tuple(main))

    def grow(self, cache: KVCache, positions: Any) -> KVCache:
        """Returns the cache with the capacity for a number of positions."""

        def grown(buffer):
            more = self._slots(positions) - buffer.shape[2]
            return ops.pad(buffer, ((0, 0), (0, 0), (0, more), (0, 0)))

        name = "tail" if self.block is None else "main"
        return cache._replace(**{name: keras.tree.map_structure(grown, getattr(cache, name))})

    def _writer(self, layers, start, size):
        """Returns (old, new) -> old with the `size` slots of new at `start`, for any layer."""
        index = self._buffers.index(layers[0].keys, start, size)

        def write(old, new):
            return KeysValues(
                self._buffers.write(old.keys, new.keys, index),
                self._buffers.write(old.values, new.values, index),
            )

        return write

    def _masks(self, visible, position, within, cache):
        """Returns the additive masks of the main buffers, if there are any, and of the tail."""
        large = cache.tail if self.block is None else cache.main
        slots = ops.shape(large[0].keys)[2]
        start = (position - within) * self._beams
        if visible is None:
            if self.block is None:
                return (_mask_up_to(position, slots),)
            return _mask_up_to(start - 1, slots), _mask_up_to(within, self.block)
        visible = self._fit_buffers(visible, slots)
        if self.block is None:
            return (additive_mask(ops.expand_dims(visible, 1)),)
        shape = (*ops.shape(visible)[:2], self.block * self._beams)
        tail = ops.slice(visible, (0, 0, start), shape)
        main = visible & (ops.arange(slots, dtype="int32") < start)
        return additive_mask(ops.expand_dims(main, 1)), additive_mask(ops.expand_dims(tail, 1))

    def _fit_buffers(self, visible, slots):
        """Returns `visible` (..., N) cut, or padded to whole blocks, to `slots` slots."""
        if len(self.capacities) > 1:
            visible = visible[..., :slots]
        if self.block is None:
            return visible
        return ops.pad(visible, ((0, 0), (0, 0), (0, slots - ops.shape(visible)[2])))


def _mask_up_to(last, slots):
    """Returns an additive mask (1, 1, 1, N): 0 up to slot `last`, very negative beyond."""
    index = ops.reshape(ops.arange(slots, dtype="float32"), (1, 1, 1, -1))
    return ops.relu(index - ops.cast(last, "float32")) * MASKED_SCORE
