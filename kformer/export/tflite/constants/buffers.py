"""The arrays in the buffers of a model, before they are written as bytes."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

DTYPES = {
    schema.TensorType.FLOAT32: np.float32,
    schema.TensorType.FLOAT16: np.float16,
    schema.TensorType.INT8: np.int8,
    schema.TensorType.UINT8: np.uint8,
    schema.TensorType.INT16: np.int16,
    schema.TensorType.INT32: np.int32,
    schema.TensorType.INT64: np.int64,
    schema.TensorType.BOOL: np.bool_,
}
_SMALL = 64  # Bytes; smaller arrays are equal if their content is.


def numbers_of(model, tensor):
    """Returns the array in the buffer of a tensor; None if it is no constant.

    It has the shape of the tensor, and may be a view of another array.
    """
    data = model.buffers[tensor.buffer].data
    if data is None or len(data) == 0 or tensor.type not in DTYPES:
        return None
    data = np.asarray(data)
    shape = () if tensor.shape is None else tuple(tensor.shape)
    if data.dtype == np.uint8 and tensor.type != schema.TensorType.UINT8:
        data = data.view(DTYPES[tensor.type])
    return data.reshape(shape)


def add_buffer(model, array) -> int:
    """Adds a buffer with an array of any dtype and strides; returns its index."""
    buffer = schema.BufferT()
    buffer.data = array
    model.buffers.append(buffer)
    return len(model.buffers) - 1


class Results:
    """Arrays that are computed from others, each once."""

    def __init__(self):
        self._results = {}
        self._inputs = []  # Kept, so that no other array gets the id of one.

    def of(self, compute, *arrays, **settings):
        """Returns `compute(*arrays, **settings)`."""
        key = compute, tuple(settings.items()), *map(_identity, arrays)
        if key not in self._results:
            self._inputs.append(arrays)
            self._results[key] = compute(*arrays, **settings)
        return self._results[key]


def _identity(array):
    small = array.nbytes <= _SMALL
    return (array.dtype.str, array.shape, array.tobytes()) if small else id(array)
