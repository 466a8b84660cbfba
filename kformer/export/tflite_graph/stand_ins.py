"""Operations that stand for arrays while a graph is traced and converted.

An operation that draws random numbers has a shape, and a seed by which it is found again. No
compiler computes it beforehand, merges two of them or moves them. Nothing ever runs it.
"""

import keras
import numpy as np
import tensorflow as tf

MARK = 0x6B66  # The second seed of all stand-ins.
_MIN_SIZE = 1024  # Bytes; smaller tables are constants.


class StandIns:
    """Makes stand-ins, and keeps their arrays.

    Args:
        network: The network whose variables have stand-ins within `for_variables`.
    """

    def __init__(self, network: keras.Model):
        self._numbers: dict[int, int] = {}  # id of a variable or of an array -> its number
        self._kept: list = []
        # Seed -> the array; always the same, so that it is recognized.
        self._arrays: dict[int, np.ndarray] = {}
        self._floats: dict[int, tuple] = {}  # id of an array -> the array, and its bits
        self._variables = {id(variable) for variable in network.variables}

    def constant(self, array: np.ndarray):
        """Returns a tensor of the shape and the dtype of `array`, a stand-in if it is large."""
        if array.nbytes < _MIN_SIZE:
            return tf.constant(array)
        if id(array) not in self._floats:
            self._floats[id(array)] = array, _as_floats(array)
        _, floats = self._floats[id(array)]
        bits = tf.reshape(tf.bitcast(self._stand_in(floats), array.dtype), [-1])
        if bits.shape != [array.size]:
            bits = tf.slice(bits, [0], [array.size])
        return tf.reshape(bits, array.shape)

    def for_variables(self):
        """Returns a context manager in which variables of the network are stand-ins."""
        return _Scope(self)

    def variable(self, variable: keras.Variable):
        """Returns the stand-in of a float32 variable of the network; None for other variables."""
        own = id(variable) in self._variables and variable.dtype == "float32"
        return self._stand_in(variable) if own else None

    def array(self, seed: int):
        """Returns the array of the operation with this seed; its memory must not be changed."""
        if seed not in self._arrays:
            kept = self._kept[seed - 1]
            is_array = isinstance(kept, np.ndarray)
            # The memory of a variable, without a copy.
            array = kept if is_array else np.asarray(memoryview(kept.value.read_value()))
            self._arrays[seed] = array
        return self._arrays[seed]

    def _stand_in(self, value):
        if id(value) not in self._numbers:
            self._kept.append(value)
            self._numbers[id(value)] = len(self._kept)
        shape, seed = tf.constant([*value.shape], tf.int32), self._numbers[id(value)]
        return tf.raw_ops.RandomStandardNormal(shape=shape, dtype=tf.float32, seed=seed, seed2=MARK)


def _as_floats(array):
    """Returns the bits of an array as float32 numbers, with zeros at the end if need be."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return np.pad(flat, (0, -len(flat) % 4)).view(np.float32)


class _Scope(keras.StatelessScope):
    def __init__(self, stand_ins: StandIns):
        super().__init__()
        self._stand_ins = stand_ins

    def get_current_value(self, variable: keras.Variable):
        return self._stand_ins.variable(variable)
