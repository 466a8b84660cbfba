"""Rows that have ended leave the batch, so that the others need not carry them.

A batch takes as many steps as its longest translation. In a file of real text, most of its rows
have ended long before: half of all the work, and more where a row runs away to its limit. Whenever
half of the rows have ended, the others go on in a batch of their own.

Axes: B batch.
"""


def while_rows_leave(state, running, run, keep_rows):
    """Runs a search's loop until every row has ended.

    TensorFlow's alone: the number of rows varies, which neither XLA nor LiteRT have.

    Args:
        state: of the loop, with `rows`, int32 (B,), all of them.
        running: callable state -> bool (B,), which of its rows have not ended.
        run: callable (state, condition) -> state: advances it while the condition, a callable of a
            state, holds.
        keep_rows: callable (cache, rows) -> cache, of the rows whose numbers are given.

    Returns:
        the state that each row had last; without a cache.
    """
    import tensorflow as tf

    shared = {"position", "rows", "cache"}  # Not a number for each row.
    of_rows = [name for name in state._fields if name not in shared]

    def named(now):
        return {name: getattr(now, name) for name in of_rows}

    def until_half_have_ended(last, now):
        most = tf.shape(now.rows)[0] // 2
        now = run(now, lambda now: tf.reduce_sum(tf.cast(running(now), tf.int32)) > most)
        place = now.rows[:, tf.newaxis]
        last = tf.nest.map_structure(
            lambda whole, part: tf.tensor_scatter_nd_update(whole, place, part), last, named(now)
        )
        kept = tf.reshape(tf.cast(tf.where(running(now)), tf.int32), [-1])
        taken = tf.nest.map_structure(
            lambda part: tf.gather(part, kept), {"rows": now.rows, **named(now)}
        )
        return last, now._replace(**taken, cache=keep_rows(now.cache, kept))

    def any_number_of_rows(tensor):
        return tf.TensorShape(tensor.shape if not tensor.shape.rank else [None, *tensor.shape[1:]])

    last = named(state)
    last, _ = tf.while_loop(
        lambda _, now: tf.shape(now.rows)[0] > 0,
        until_half_have_ended,
        (last, state),
        shape_invariants=tf.nest.map_structure(any_number_of_rows, (last, state)),
    )
    return state._replace(**last, cache=())
