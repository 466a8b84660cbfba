"""Ways to write what a search has chosen at a position.

Each is a callable (values, new, position) -> values (..., T) with `new` (...,) at `position`.
"""

from keras import ops


def select_column(values, new, position):
    """On any runtime."""
    here = ops.equal(ops.arange(ops.shape(values)[-1]), position)  # (T,)
    return ops.where(here, ops.expand_dims(new, -1), values)


def update_column(values, new, position):
    """In one operation of LiteRT, XLA and JAX, which TF Serving has not.

    LiteRT would select one number after the other.
    """
    place = [0] * (len(values.shape) - 1)
    return ops.slice_update(values, ops.stack([*place, position]), ops.expand_dims(new, -1))
