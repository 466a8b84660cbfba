"""Random numbers computed from a key and an id; they do not depend on the batch or its order.

Axes: B batch, C ids.
"""

from typing import Any

import numpy as np
from keras import ops

_STRIDE = np.uint32(0x9E3779B9)  # 2^32 over the golden ratio, odd: keeps neighbouring ids apart.
_ROUNDS = (  # (shift, factor) of the integer hash `lowbias32`, found by Chris Wellons's search.
    (np.uint32(16), np.uint32(0x7FEB352D)),
    (np.uint32(15), np.uint32(0x846CA68B)),
)
_LAST_SHIFT = np.uint32(16)
_BELOW_ONE = 1 - 2**-24  # The largest float32 below 1, so that the logarithm stays finite.


def exponential(keys: Any, ids: Any) -> Any:
    """Returns an exponentially distributed number, of mean 1, for each key and id.

    Small numbers keep all their digits, so that improbable ids are drawn as rarely as they should.

    Args:
        keys: uint32 tensor of random numbers, broadcastable to the shape of `ids`.
        ids: int32 tensor (B, 1, C) or (C,).

    Returns:
        positive float32 tensor of the broadcast shape.
    """
    x = ops.cast(ids, "uint32") * _STRIDE + keys  # Unsigned integers wrap around.
    for shift, factor in _ROUNDS:
        x = ops.bitwise_xor(x, ops.right_shift(x, shift)) * factor
    x = ops.bitwise_xor(x, ops.right_shift(x, _LAST_SHIFT))
    uniform = ops.cast(x, "float32") * 2**-32 + 2**-33  # In (0, 1].
    return -ops.log1p(-ops.minimum(uniform, _BELOW_ONE))
