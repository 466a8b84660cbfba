"""Random numbers that are a function of a key and an id: no state, no order, no batch.

Axes: B batch, C ids.
"""

import numpy as np
from keras import ops

_STRIDE = np.uint32(0x9E3779B9)  # 2^32 over the golden ratio, odd: keeps neighbouring ids apart.
_ROUNDS = (  # (shift, factor) of the integer hash `lowbias32`, found by Chris Wellons's search.
    (np.uint32(16), np.uint32(0x7FEB352D)),
    (np.uint32(15), np.uint32(0x846CA68B)),
)
_LAST_SHIFT = np.uint32(16)
_BELOW_ONE = 1 - 2**-24  # The largest float32 below 1, so that the logarithm stays finite.


def exponential(keys, ids):
    """Returns a number of the exponential distribution, of mean 1, for each key and id.

    The smallest numbers have all their digits, so that also an improbable id comes as rarely as it
    should.

    Args:
        keys: uint32 tensor, broadcastable to that of `ids`: random numbers.
        ids: int32 tensor (B, 1, C) or (C,).

    Returns:
        positive float32 tensor of the broadcast shape.
    """
    x = ops.cast(ids, "uint32") * _STRIDE + keys  # All of this wraps around.
    for shift, factor in _ROUNDS:
        x = ops.bitwise_xor(x, ops.right_shift(x, shift)) * factor
    x = ops.bitwise_xor(x, ops.right_shift(x, _LAST_SHIFT))
    uniform = ops.cast(x, "float32") * 2**-32 + 2**-33  # In (0, 1].
    return -ops.log1p(-ops.minimum(uniform, _BELOW_ONE))
