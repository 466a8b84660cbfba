"""Weights of 16 bits, and nothing else of 16 bits.

The converter's own float16 rounds every constant, numbers that only the graph needs, too: of the
indices 0, 1, 2, ..., kept as floats, every second from 2,048 on becomes its neighbour, and a large
factor becomes 65,504. A search with such numbers finds other words. So here the file is converted
in float32, and then the matrices are rounded.
"""

import math

import numpy as np
from ai_edge_litert import schema_py_generated as schema

_LEAST = 1024  # Numbers of a matrix that is worth an operator of its own.
_VERSION = 3  # Of DEQUANTIZE: the first that reads float16.


def halve_weights(model):
    """Stores the matrices of a model as float16; an operator makes float32 of each, once.

    Runtimes know that pattern: it is that of the converter.

    Args:
        model: `schema.ModelT` in float32, which is changed.
    """
    operator_code = len(model.operatorCodes)
    halves = {}  # Of each float32 buffer that is a matrix: the buffer of float16.
    for graph in model.subgraphs:
        graph.operators = [
            *(
                _dequantize(graph, tensor, _half(model, tensor.buffer, halves), operator_code)
                for tensor in list(graph.tensors)
                if _is_matrix(model, tensor)
            ),
            *graph.operators,
        ]
    if halves:
        model.operatorCodes.append(_code())


def _is_matrix(model, tensor):
    constant = model.buffers[tensor.buffer].data is not None
    large = tensor.shape is not None and len(tensor.shape) > 1 and math.prod(tensor.shape) >= _LEAST
    return constant and large and tensor.type == schema.TensorType.FLOAT32


def _half(model, buffer, halves):
    if buffer not in halves:
        numbers = np.asarray(model.buffers[buffer].data, np.uint8).view(np.float32)
        rounded = schema.BufferT()
        rounded.data = numbers.astype(np.float16).view(np.uint8)
        halves[buffer] = len(model.buffers)
        model.buffers.append(rounded)
    return halves[buffer]


def _dequantize(graph, tensor, buffer, operator_code):
    """Returns the operator that makes `tensor` of a new one in float16."""
    stored = schema.TensorT()
    stored.type, stored.shape, stored.buffer = schema.TensorType.FLOAT16, tensor.shape, buffer
    operator = schema.OperatorT()
    operator.opcodeIndex = operator_code
    operator.inputs = np.array([len(graph.tensors)], np.int32)
    operator.outputs = np.array([graph.tensors.index(tensor)], np.int32)
    graph.tensors.append(stored)
    tensor.buffer = 0
    return operator


def _code():
    code = schema.OperatorCodeT()
    code.deprecatedBuiltinCode = code.builtinCode = schema.BuiltinOperator.DEQUANTIZE
    code.version = _VERSION
    return code
