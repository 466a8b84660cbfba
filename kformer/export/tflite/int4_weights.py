"""Weights of 4 bits, made of those of 8.

The matrices of the layers go from 8 bits to 4, row by row, symmetric about 0, as LiteRT wants them:
two numbers a byte. The table of the vocabulary, by far the most sensitive, stays as it is; it is
known by being looked up in, too.

The 8 bits are a sixteenth of a step of the 4: rounding twice instead of once is of no account.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

_MOST_OF_8, _MOST_OF_4 = 127, 7


def shrink_to_four_bits(model):
    """Rounds the weights of the layers' products.

    Args:
        model: `schema.ModelT` with weights of 8 bits, a buffer for each that is different; it is
            changed.
    """
    looked_up = {buffer for _, buffer in _constants(model, schema.BuiltinOperator.GATHER, 0)}
    weights = {}  # Each tensor once, whatever it is used for.
    for tensor, buffer in _constants(model, schema.BuiltinOperator.FULLY_CONNECTED, 1):
        if tensor.type == schema.TensorType.INT8 and buffer not in looked_up:
            weights[id(tensor)] = tensor
    rounded = {}  # Of each buffer of 8 bits, which others may read, too: that of 4.
    for tensor in weights.values():
        if tensor.buffer not in rounded:
            buffer = schema.BufferT()
            buffer.data = _in_four_bits(model.buffers[tensor.buffer].data)
            rounded[tensor.buffer] = len(model.buffers)
            model.buffers.append(buffer)
        scales = tensor.quantization.scale
        tensor.quantization.scale = scales * np.float32(_MOST_OF_8 / _MOST_OF_4)
        tensor.type, tensor.buffer = schema.TensorType.INT4, rounded[tensor.buffer]


def _constants(model, operator, place):
    """Yields the tensors that operators of a kind read at a place, with the number of the buffer.

    Only those that have one; what a loop is given is not one of its own.
    """
    for graph in model.subgraphs:
        for one in graph.operators:
            if model.operatorCodes[one.opcodeIndex].builtinCode == operator:
                tensor = graph.tensors[one.inputs[place]]
                if model.buffers[tensor.buffer].data is not None:
                    yield tensor, tensor.buffer


def _in_four_bits(data):
    """Bytes of numbers of 8 bits as bytes of twice as many: the first in the lower half."""
    numbers = np.asarray(data, np.uint8).view(np.int8)
    rounded = np.rint(numbers * (_MOST_OF_4 / _MOST_OF_8)).astype(np.int8).view(np.uint8) & 15
    pairs = np.pad(rounded, (0, len(rounded) % 2)).reshape(-1, 2)
    return pairs[:, 0] | pairs[:, 1] << 4
