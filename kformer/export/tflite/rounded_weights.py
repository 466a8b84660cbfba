"""Weights in float16 or int4, rounded after the conversion.

The converter's own float16 rounds every constant. Indices that are stored as floats are then wrong
from 2,048 on, and large factors become 65,504, so the search returns other ids. Here the file is
converted in float32, and then only the matrices are rounded.

Only matrices that are read are dequantized, each just before its first reader. Otherwise XNNPACK
may make a part of a graph that has no inputs, for example of a DEQUANTIZE that nothing reads, and
ai-edge-litert 1.1 to 1.3 fail in such a part after a few calls.

Int4 is rounded from int8. LiteRT's int4 matrices are quantized by row, symmetric about 0, two
numbers per byte. An embedding that is looked up in int8 stays so; it is recognized by its GATHER. A
table that only the output reads has the same shape, and stays in int8, too.

Rounding twice does little harm: a step of int8 is an eighteenth of a step of int4.
"""

import math

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite_graph.flatbuffer import add_buffer, numbers_of

_MIN_SIZE = 1024  # Elements; smaller matrices stay in float32.
_NONE = -1  # As the index of a tensor.
_VERSION = 3  # The first version of DEQUANTIZE that reads float16.


def store_as_float16(model: schema.ModelT):
    """Stores the matrices of a model as float16 and dequantizes each once in a graph.

    The converter writes the same operator, so runtimes optimize it.

    Args:
        model: `schema.ModelT` in float32, changed in place.
    """
    operator_code = len(model.operatorCodes)
    rounded: dict[int, int] = {}  # Index of a float32 buffer -> index of its float16 buffer.
    for graph in model.subgraphs:
        operators = []
        for operator in graph.operators:
            operators += _dequantize(model, graph, operator.inputs, rounded, operator_code)
            operators.append(operator)
        operators += _dequantize(model, graph, graph.outputs, rounded, operator_code)
        graph.operators = operators
    if rounded:
        model.operatorCodes.append(_code())


def _dequantize(model, graph, indices, rounded, operator_code):
    """Returns operators that compute the matrices in float32 among the tensors `indices`."""
    operators = []
    for index in indices:
        if index != _NONE and _is_matrix(model, graph.tensors[index]):
            buffer = _float16(model, graph.tensors[index], rounded)
            operators.append(_operator(graph, index, buffer, operator_code))
    return operators


def _is_matrix(model, tensor):
    constant = model.buffers[tensor.buffer].data is not None
    shape = () if tensor.shape is None else tensor.shape
    large = len(shape) > 1 and math.prod(shape) >= _MIN_SIZE
    return constant and large and tensor.type == schema.TensorType.FLOAT32


def _float16(model, tensor, rounded):
    buffer = tensor.buffer
    if buffer not in rounded:
        rounded[buffer] = add_buffer(model, numbers_of(model, tensor).astype(np.float16))
    return rounded[buffer]


def _operator(graph, index, buffer, operator_code):
    """Returns an operator that computes the tensor `index` from a new float16 tensor."""
    tensor, stored = graph.tensors[index], schema.TensorT()
    stored.type, stored.shape, stored.buffer = schema.TensorType.FLOAT16, tensor.shape, buffer
    operator = schema.OperatorT()
    operator.opcodeIndex = operator_code
    operator.inputs = np.array([len(graph.tensors)], np.int32)
    operator.outputs = np.array([index], np.int32)
    graph.tensors.append(stored)
    tensor.buffer = 0
    return operator


def _code():
    code = schema.OperatorCodeT()
    code.deprecatedBuiltinCode = code.builtinCode = schema.BuiltinOperator.DEQUANTIZE
    code.version = _VERSION
    return code


def store_as_int4(model: schema.ModelT):
    """Rounds the weights of the layers from int8 to int4."""
    embeddings = {
        tuple(tensor.shape)
        for tensor in _constants(model, schema.BuiltinOperator.GATHER, 0)
        if tensor.type == schema.TensorType.INT8
    }
    weights = {}  # Each tensor once, however many operators read it.
    for tensor in _constants(model, schema.BuiltinOperator.FULLY_CONNECTED, 1):
        if tensor.type == schema.TensorType.INT8 and tuple(tensor.shape) not in embeddings:
            weights[id(tensor)] = tensor
    rounded = {}  # Index of an int8 buffer, which others may read -> of its int4 buffer, steps.
    for tensor in weights.values():
        if tensor.buffer not in rounded:
            packed, steps = packed_int4(numbers_of(model, tensor))
            rounded[tensor.buffer] = add_buffer(model, packed.reshape(-1)), steps
        tensor.buffer, steps = rounded[tensor.buffer]
        tensor.quantization.scale = tensor.quantization.scale * steps
        tensor.type = schema.TensorType.INT4


def _constants(model, operator, place):
    """Yields the constant tensors at one input of all operators of a kind."""
    for graph in model.subgraphs:
        for candidate in graph.operators:
            if model.operatorCodes[candidate.opcodeIndex].builtinCode == operator:
                tensor = graph.tensors[candidate.inputs[place]]
                if model.buffers[tensor.buffer].data is not None:
                    yield tensor


def packed_int4(rows: np.ndarray):
    """Rounds each row of an int8 matrix (F, D) to int4.

    Returns:
        packed: uint8 (F, D / 2), two int4 a byte, the first in the lower bits; (bytes,) for an odd
            number of columns, since bytes then hold numbers of two rows.
        steps: float32 (F,), the steps of int4 in steps of int8.
    """
    largest = np.abs(rows.astype(np.int16)).max(axis=1)
    steps = np.where(largest, largest, 1).astype(np.float32) / np.float32(7)
    rounded = np.rint(rows / steps[:, None]).astype(np.int8).view(np.uint8) & 15
    flat = np.pad(rounded.ravel(), (0, rounded.size % 2)).reshape(-1, 2)
    packed = flat[:, 0] | flat[:, 1] << 4
    return (packed if rows.shape[1] % 2 else packed.reshape(len(rows), -1)), steps
