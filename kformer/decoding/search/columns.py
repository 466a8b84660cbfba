"""Ways to write the ids that a search has chosen at a position.

Each is a callable (values, new, position) -> values (..., T) with `new` (...,) at `position`.
"""

from typing import Any

from keras import ops


def select_column(values: Any, new: Any, position: Any) -> Any:
    """Writes by a selection, on any runtime."""
    here = ops.equal(ops.arange(ops.shape(values)[-1]), position)  # (T,)
    return ops.where(here, ops.expand_dims(new, -1), values)


def update_column(values: Any, new: Any, position: Any) -> Any:
    """Writes in one operation of LiteRT, XLA and JAX, which TF Serving does not have.

    LiteRT runs a selection one number at a time.
    """
    start = [0] * (len(values.shape) - 1)
    return ops.slice_update(values, ops.stack([*start, position]), ops.expand_dims(new, -1))
