"""Compaction: rows that have ended leave the batch.

A batch takes as many steps as its longest translation. In real text, most rows end long before:
half of all work would be done for rows that have ended, and more if one row degenerates up to its
largest length. So whenever half of the rows have ended, the others continue in a smaller batch.
Replacing ended rows by new sentences at once would gain little more: 20,000 image captions, by
their lengths and sorted in batches of 32, would need 7 % less work in the decoder. But rows would
be at different positions, and the keys and values of sources would change during the loop.

Both functions that compact a batch have these arguments:

Args:
    state: of the loop, with all rows in `rows`.
    running: callable state -> bool (B,), which rows have not ended.
    advance_while: callable (state, condition) -> state: advances it while the condition, a callable
        of a state, holds.
    gather_rows: callable (cache, rows) -> cache of these rows alone.

Returns:
    the last state of each row, without a cache.

Axes: B batch.
"""

from collections.abc import Callable
from typing import Any, Protocol

import keras
from keras import ops

from kformer.backend import gather

_SHARED = ("position", "rows", "cache")  # Fields of a state that are not values of its rows.
_MIN_ROWS = 4  # A batch of so few rows is not halved.


class SearchState(Protocol):
    """The state of a search: a NamedTuple of tensors; B is the first axis of all other fields."""

    @property
    def position(self) -> Any: ...  # int32 ()

    @property
    def ended(self) -> Any: ...  # bool (B,)

    @property
    def rows(self) -> Any: ...  # From `initial_rows`.

    @property
    def cache(self) -> Any: ...

    @property
    def _replace(self) -> Callable: ...


def initial_rows(step: Any, batch: Any) -> Any:
    """Returns the first `rows` of a state: int32 (B,), or () where the batch is never compacted.

    They are the indices, in the first batch, of the rows that remain.
    """
    return ops.arange(batch, dtype="int32") if step.compact_batch else ()


def remaining(values: Any, rows: Any) -> Any:
    """Returns `values` (B, ...) of the `rows` that remain."""
    return values if isinstance(rows, tuple) else gather(values, rows)


def compact_at_half(
    state: SearchState, running: Callable, advance_while: Callable, gather_rows: Callable
) -> SearchState:
    """Compacts a batch of any size, on TensorFlow alone."""
    import tensorflow as tf

    def until_half_have_ended(last, now):
        max_running = tf.shape(now.rows)[0] // 2
        now = advance_while(now, lambda now: _count(running(now)) > max_running)
        index = now.rows[:, tf.newaxis]
        last = tf.nest.map_structure(
            lambda whole, part: tf.tensor_scatter_nd_update(whole, index, part),
            last,
            _row_fields(now),
        )
        kept = tf.reshape(tf.cast(tf.where(running(now)), tf.int32), [-1])
        return last, _gather_state(now, kept, gather_rows)

    def any_batch_size(tensor):
        return tf.TensorShape(tensor.shape if not tensor.shape.rank else [None, *tensor.shape[1:]])

    last = _row_fields(state)
    last, _ = tf.while_loop(
        lambda _, now: tf.shape(now.rows)[0] > 0,
        until_half_have_ended,
        (last, state),
        shape_invariants=tf.nest.map_structure(any_batch_size, (last, state)),
    )
    return state._replace(**last, cache=())


def compact_in_halves(
    state: SearchState, running: Callable, advance_while: Callable, gather_rows: Callable
) -> SearchState:
    """Compacts a batch of static size: one loop for it, one for its half, and so on."""
    size = state.ended.shape[0]
    own = ops.arange(size, dtype="int32")[:, None]  # (B, 1)
    last = None
    while True:
        fewer = size // 2 if size > _MIN_ROWS else 0
        state = advance_while(state, lambda now, fewer=fewer: _count(running(now)) > fewer)
        if last is None:
            last = _row_fields(state)
        else:
            here = ops.cast(ops.equal(own, state.rows), "int32")  # (B, remaining)
            index, remains = ops.argmax(here, axis=1), ops.max(here, axis=1) > 0
            last = keras.tree.map_structure(
                lambda whole, part, index=index, remains=remains: where_rows(
                    remains, gather(part, index), whole
                ),
                last,
                _row_fields(state),
            )
        if not fewer:
            return state._replace(**last, cache=())
        # Running rows come first; rows that have ended may fill the rest.
        _, kept = ops.top_k(ops.cast(running(state), "float32"), fewer)
        state = _gather_state(state, ops.cast(kept, "int32"), gather_rows)
        size = fewer


def _row_fields(state):
    """Returns the fields of a state that hold a value for each row, by name."""
    return {name: getattr(state, name) for name in state._fields if name not in _SHARED}


def _gather_state(state, kept, gather_rows):
    """Returns the state of the rows `kept`, int32 (any,), alone."""
    parts = {"rows": state.rows, **_row_fields(state)}
    parts = keras.tree.map_structure(lambda part: gather(part, kept), parts)
    return state._replace(**parts, cache=gather_rows(state.cache, kept))


def _count(rows):
    return ops.sum(ops.cast(rows, "int32"))


def where_rows(rows: Any, values: Any, otherwise: Any) -> Any:
    """Returns `values` (B, ...) for `rows`, bool (B,), and `otherwise` elsewhere."""
    return ops.where(ops.reshape(rows, (-1,) + (1,) * (len(values.shape) - 1)), values, otherwise)
