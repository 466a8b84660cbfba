"""One position of the decoder, for all beams of a row: what search calls again and again.

The equations are those of `kformer.model.decoder`. Decoding one position is bound by reading the
weights and launching operations, so this uses as few operations as possible, and what does not
change between steps is computed once: the memory's keys and values, the table of positions, and the
matrices of each layer, see `kformer.decoding.layer_step`.

What is kept of the past never moves: position t of beam k is slot t * K + k of its row, and a mask
says which slots are whose past. So keys and values of a whole row meet the queries of all its
beams in one product. A block of positions is kept in small buffers, `Past.recent`, and then goes
to the large ones, `Past.settled`, at once: most runtimes copy what a loop changes.

Vectors are rows of a matrix, M = B * K of them: products of matrices are what all runtimes do best.

Axes: B batch, K beams, T most positions, N = T * K slots, R = K slots a position * positions of a
block, S source length, H heads, W width of a head, D d_model, V vocabulary, L layers.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

from kformer.backend import rows_of
from kformer.decoding.layer_step import LayerStep, Norm, Vectors
from kformer.decoding.runtime import GRAPH
from kformer.decoding.search.loop import Step
from kformer.decoding.source_memory import additive, source_memory
from kformer.decoding.step_attention import Products, Sums
from kformer.model.attention import MASKED_SCORE, KeysValues
from kformer.model.masks import padding_mask


class Past(NamedTuple):
    """What the steps before left: tuples of L `KeysValues` (B, H, slots, W)."""

    settled: Any  # at least N slots; () where there are no blocks.
    recent: Any  # R slots; N where there are no blocks.
    memory: Any = ()  # `SourceMemory` of the rows that are left, where rows leave.


class DecoderStep:
    """A decoder that has seen one batch of sources, as a step for `kformer.decoding.search`.

    Args:
        transformer: `kformer.Transformer`.
        memory: `kformer.decoding.source_memory.SourceMemory` of the batch.
        max_length: int or int32 tensor, most positions T.
        beams: Beams K.
        runtime: `kformer.decoding.runtime.Runtime`.
    """

    def __init__(self, transformer, memory, max_length, beams=1, runtime=GRAPH):
        self._made_of = transformer, memory, max_length, beams, runtime
        decoder, self._dtype = transformer.decoder, transformer.compute_dtype
        self.top_k, self.log_sum_exp = runtime.top_k, runtime.log_sum_exp
        self.write = runtime.write
        self.leave, self.keep_rows = runtime.leave, _kept
        self._buffers = runtime.buffers
        self._beams = beams
        enough = isinstance(max_length, int) and max_length <= (runtime.block or 0)
        self.block = None if enough else runtime.block  # None: all in `Past.recent`.
        self.rooms = (*(room for room in runtime.rooms if room < max_length), max_length)
        own = decoder.layers[0].self_attention
        sizes = own.num_heads, own.d_model // own.num_heads
        self._attention = Sums(*sizes) if runtime.sums and beams == 1 else Products(*sizes, beams)
        self._layers, before = [], None
        for layer in decoder.layers:
            self._layers.append(LayerStep(layer, self._attention, self._dtype, before))
            before = self._layers[-1].last_norm
        self._norm = decoder.norm and Norm(decoder.norm)
        self._memory = self._attention.memory(memory)
        values = memory.layers[0].values
        self._any = ops.sum(values[:1, :1, :1, :1])  # A number; the batch may be empty.
        self._embedding = transformer.target_embedding
        table = ops.cast(self._embedding.table, self._dtype)
        self._columns = ops.transpose(table)  # (D, V); once, not in every step.
        positions = transformer.positions.encodings(max_length, table.shape[1])
        positions = ops.reshape(ops.cast(positions, self._dtype), (1, 1, -1, table.shape[1]))
        self._positions = positions  # As past keys are, so that one place is that of both.

    def again(self):
        """The same step, whose weights are read now."""
        return DecoderStep(*self._made_of)

    def empty_past(self, batch):
        """The `Past` of the first step: of no meaning, but of its shapes."""

        def empty(slots):
            shape = (batch, *self._attention.shape(slots))
            new = [self._buffers.empty(shape, self._any) for _ in range(2 * len(self._layers))]
            return tuple(map(KeysValues, new[::2], new[1::2]))

        slots = self._slots(self.rooms[0])
        memory = self._memory if self.leave else ()
        if self.block is None:
            return Past((), empty(slots), memory)
        return Past(empty(slots), empty(self.block * self._beams), memory)

    def _slots(self, positions):
        """How many slots there are for so many positions: of whole blocks."""
        if self.block is not None:
            positions = -(-positions // self.block) * self.block
        return positions * self._beams

    def __call__(self, ids, position, visible, past):
        """Scores what follows; see `kformer.decoding.search`.

        Args:
            ids: int32 tensor (B, K), at `position`.
            position: int32 scalar tensor.
            visible: boolean tensor (B or 1, K, N), which slots are the past of each beam, those of
                this position too; None for one beam, whose past is all that there is.
            past: what `empty_past` or the step before returned.

        Returns:
            `Step`; its attention is the mean over the heads of the last layer.
        """
        width = self._columns.shape[0]
        place = ops.slice(self._positions, (0, 0, position, 0), (1, 1, 1, width))
        x = self._embedding(ops.reshape(ids, (-1,))) + ops.reshape(place, (1, width))  # (M, D)
        x = Vectors(x, x)
        within = position % self.block if self.block else position
        masks = self._masks(visible, position, within, past)
        write = self._writer(past.recent, within * self._beams, self._beams)
        recent = []
        settled = [(old,) for old in past.settled] or [()] * len(self._layers)
        memory = past.memory or self._memory
        parts = zip(self._layers, settled, past.recent, memory.layers, strict=True)
        for layer, old, new, source in parts:
            x, new, weights = layer(x, old, new, write, masks, source, memory.mask)
            recent.append(new)
        if self._norm:
            x = self._norm(x.whole)
        logits = ops.matmul(x.whole, self._columns)  # (M, V)
        logits = ops.reshape(logits, (-1, self._beams, logits.shape[1]))
        past = past._replace(recent=tuple(recent))
        return Step(logits, past, ops.mean(weights, axis=1))

    def settle(self, past, start):
        """Moves the block that began at position `start` to the large buffers."""
        write = self._writer(past.settled, start * self._beams, self.block * self._beams)
        settled = [write(old, new) for old, new in zip(past.settled, past.recent, strict=True)]
        return past._replace(settled=tuple(settled))

    def grow(self, past, positions):
        """Returns the past with room for so many positions."""

        def grown(buffer):
            more = self._slots(positions) - buffer.shape[2]
            return ops.pad(buffer, ((0, 0), (0, 0), (0, more), (0, 0)))

        large = "recent" if self.block is None else "settled"
        return past._replace(**{large: keras.tree.map_structure(grown, getattr(past, large))})

    def _writer(self, past, start, size):
        """Returns (old, new) -> old, with the `size` slots of new at `start`; of any layer."""
        place = self._buffers.place(past[0].keys, start, size)

        def write(old, new):
            return KeysValues(
                self._buffers.write(old.keys, new.keys, place),
                self._buffers.write(old.values, new.values, place),
            )

        return write

    def _masks(self, visible, position, within, past):
        """What to add to the scores of settled slots, and of the block, `within` which we are."""
        large = past.recent if self.block is None else past.settled
        slots = ops.shape(large[0].keys)[2]
        start = (position - within) * self._beams
        if visible is None:
            if self.block is None:
                return (_up_to(position, slots),)
            return _up_to(start - 1, slots), _up_to(within, self.block)
        visible = self._of_slots(visible, slots)
        if self.block is None:
            return (additive(ops.expand_dims(visible, 1)),)
        shape = (*ops.shape(visible)[:2], self.block * self._beams)
        recent = ops.slice(visible, (0, 0, start), shape)
        settled = visible & (ops.arange(slots, dtype="int32") < start)
        return additive(ops.expand_dims(settled, 1)), additive(ops.expand_dims(recent, 1))

    def _of_slots(self, visible, slots):
        """`visible` (..., N) of the slots that there are: fewer, or more in whole blocks."""
        if len(self.rooms) > 1:
            visible = visible[..., :slots]
        if self.block is None:
            return visible
        return ops.pad(visible, ((0, 0), (0, 0), (0, slots - ops.shape(visible)[2])))


def start_decoding(transformer, source, max_length, beams=1, runtime=GRAPH):
    """Encodes `source` once; returns the step that decodes it, and the cache of its first call.

    Args:
        transformer: `kformer.Transformer`.
        source: integer tensor (B, S).
        max_length: Largest number of steps T.
        beams: Beams K that are decoded side by side for each row.
        runtime: What the step will run on; see `kformer.decoding.runtime`.

    Returns:
        step: `DecoderStep`, as `kformer.decoding.search` calls it.
        cache: what its first call gets.
    """
    mask = padding_mask(source, transformer.padding_id)
    memory = source_memory(transformer, transformer.encode(source), mask)
    step = DecoderStep(transformer, memory, max_length, beams, runtime)
    return step, step.empty_past(ops.shape(source)[0])


def _up_to(last, slots):
    """What to add to the scores (1, 1, 1, N) of slots up to the `last`: 0; more to later ones."""
    places = ops.reshape(ops.arange(slots, dtype="float32"), (1, 1, 1, -1))
    return ops.relu(places - ops.cast(last, "float32")) * MASKED_SCORE


def _kept(past, rows):
    """What is kept of some rows, and what they read of the source."""
    return keras.tree.map_structure(lambda part: rows_of(part, rows), past)
