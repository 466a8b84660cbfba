"""Rows that have ended leave the batch, so that the others need not carry them.

A batch takes as many steps as its longest translation. In a file of real text, most of its rows
have ended long before: half of all the work, and more where a row runs away to its limit. Whenever
half of the rows have ended, the others go on in a batch of their own.

Both functions take and return the same:

Args:
    state: of the loop, with `rows`, int32 (B,), all of them.
    running: callable state -> bool (B,), which of its rows have not ended.
    advance_while: callable (state, condition) -> state: advances it while the condition, a callable
        of a state, holds.
    keep_rows: callable (cache, rows) -> cache, of the rows whose numbers are given.

Returns:
    the state that each row had last; without a cache.

Axes: B batch.
"""

import keras
from keras import ops

from kformer.backend import rows_of

_SHARED = ("position", "rows", "cache")  # Of a state, what is not a number for each row.
_FEWEST = 4  # Rows of a batch that stays as it is.


def leave_at_half(state, running, advance_while, keep_rows):
    """Rows leave a batch of any number of rows; TensorFlow's alone."""
    import tensorflow as tf

    def until_half_have_ended(last, now):
        most = tf.shape(now.rows)[0] // 2
        now = advance_while(now, lambda now: _count(running(now)) > most)
        place = now.rows[:, tf.newaxis]
        last = tf.nest.map_structure(
            lambda whole, part: tf.tensor_scatter_nd_update(whole, place, part), last, _of_rows(now)
        )
        kept = tf.reshape(tf.cast(tf.where(running(now)), tf.int32), [-1])
        return last, _only(now, kept, keep_rows)

    def any_number_of_rows(tensor):
        return tf.TensorShape(tensor.shape if not tensor.shape.rank else [None, *tensor.shape[1:]])

    last = _of_rows(state)
    last, _ = tf.while_loop(
        lambda _, now: tf.shape(now.rows)[0] > 0,
        until_half_have_ended,
        (last, state),
        shape_invariants=tf.nest.map_structure(any_number_of_rows, (last, state)),
    )
    return state._replace(**last, cache=())


def leave_in_halves(state, running, advance_while, keep_rows):
    """Rows leave a batch of static shape: a loop for it, one for its half, and so on."""
    size = state.ended.shape[0]
    own = ops.arange(size, dtype="int32")[:, None]  # (B, 1)
    last = None
    while True:
        fewer = size // 2 if size > _FEWEST else 0
        state = advance_while(state, lambda now, most=fewer: _count(running(now)) > most)
        if last is None:
            last = _of_rows(state)
        else:
            here = ops.cast(ops.equal(own, state.rows), "int32")  # (B, those left)
            place, there = ops.argmax(here, axis=1), ops.max(here, axis=1) > 0
            last = keras.tree.map_structure(
                lambda whole, part, place=place, there=there: _where(
                    there, rows_of(part, place), whole
                ),
                last,
                _of_rows(state),
            )
        if not fewer:
            return state._replace(**last, cache=())
        # Those that run come first; some that have ended may fill up.
        _, kept = ops.top_k(ops.cast(running(state), "float32"), fewer)
        state = _only(state, ops.cast(kept, "int32"), keep_rows)
        size = fewer


def _of_rows(state):
    return {name: getattr(state, name) for name in state._fields if name not in _SHARED}


def _only(state, kept, keep_rows):
    """The state of the rows `kept`, int32 (any,), alone."""
    parts = {"rows": state.rows, **_of_rows(state)}
    taken = keras.tree.map_structure(lambda part: rows_of(part, kept), parts)
    return state._replace(**taken, cache=keep_rows(state.cache, kept))


def _count(rows):
    return ops.sum(ops.cast(rows, "int32"))


def _where(rows, these, others):
    """`these` of the `rows`, bool (B,), and the `others` (B, ...)."""
    return ops.where(ops.reshape(rows, (-1,) + (1,) * (len(these.shape) - 1)), these, others)
