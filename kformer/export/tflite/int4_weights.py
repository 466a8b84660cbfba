"""Weights in int4, rounded from int8.

LiteRT's int4 matrices are quantized by row, symmetric about 0, two numbers per byte. An embedding
that is looked up in int8 stays so; it is recognized by its GATHER. A table that only the output
reads has the same shape, and stays in int8, too.

Rounding twice does little harm: a step of int8 is an eighteenth of a step of int4.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite.constants.buffers import add_buffer, numbers_of

STEP = np.float32(127 / 7)  # Of int4, in steps of int8.


def store_as_int4(model):
    """Rounds the weights of the layers from int8 to int4.

    Args:
        model: `schema.ModelT` with int8 weights and without equal buffers, changed in place.
    """
    embeddings = {
        tuple(tensor.shape)
        for tensor in _constants(model, schema.BuiltinOperator.GATHER, 0)
        if tensor.type == schema.TensorType.INT8
    }
    weights = {}  # Each tensor once, however many operators read it.
    for tensor in _constants(model, schema.BuiltinOperator.FULLY_CONNECTED, 1):
        if tensor.type == schema.TensorType.INT8 and tuple(tensor.shape) not in embeddings:
            weights[id(tensor)] = tensor
    rounded = {}  # Index of an int8 buffer, which other tensors may read -> of its int4 buffer.
    for tensor in weights.values():
        if tensor.buffer not in rounded:
            packed = packed_int4(numbers_of(model, tensor))
            rounded[tensor.buffer] = add_buffer(model, packed)
        tensor.quantization.scale = tensor.quantization.scale * STEP
        tensor.type, tensor.buffer = schema.TensorType.INT4, rounded[tensor.buffer]


def _constants(model, operator, place):
    """Yields the constant tensors at one input of all operators of a kind."""
    for graph in model.subgraphs:
        for one in graph.operators:
            if model.operatorCodes[one.opcodeIndex].builtinCode == operator:
                tensor = graph.tensors[one.inputs[place]]
                if model.buffers[tensor.buffer].data is not None:
                    yield tensor


def packed_int4(numbers):
    """Returns int8 numbers as int4, two per byte, the first in the lower bits: uint8 (bytes,)."""
    rounded = np.rint(numbers.ravel() / STEP).astype(np.int8).view(np.uint8) & 15
    pairs = np.pad(rounded, (0, len(rounded) % 2)).reshape(-1, 2)
    return pairs[:, 0] | pairs[:, 1] << 4
