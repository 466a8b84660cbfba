"""Constants that are the beginning of another one: positional encodings of several lengths.

Only the longest is stored. The others are slices of it, which take microseconds.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite_graph.flatbuffer import add_buffer, numbers_of, operator_code

_OPERATOR = schema.BuiltinOperator
_NONE = -1  # As the index of a tensor.
_MIN_SIZE = 1024  # Elements; smaller constants stay.


def share_beginnings(model: schema.ModelT):
    """Replaces constants that are the first rows of a longer one.

    Args:
        model: `schema.ModelT` in float32 without equal buffers, changed in place.
    """
    longest = _longest(model)
    for graph in model.subgraphs:
        operators = []
        for operator in graph.operators:
            inputs = [*operator.inputs]
            for place, index in enumerate(inputs):
                tensor = graph.tensors[index]
                if index == _NONE or tensor.buffer not in longest:
                    continue
                inputs[place] = _whole(graph, tensor, *longest[tensor.buffer])
                if place > 0 or _code(model, operator) != _OPERATOR.SLICE:
                    operators.append(_slice(model, graph, inputs[place], tensor.shape))
                    [inputs[place]] = operators[-1].outputs
            operator.inputs = np.array(inputs, np.int32)
            operators.append(operator)
        graph.operators = operators


def _longest(model):
    """Finds the tables that are the beginning of a longer one."""
    tables = {}
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            numbers = numbers_of(model, tensor)
            if (
                tensor.type == schema.TensorType.FLOAT32
                and numbers is not None
                and _is_table(numbers)
            ):
                tables[tensor.buffer] = numbers.reshape(-1, numbers.shape[-1])
    beginnings, wholes = {}, []
    for buffer, rows in sorted(tables.items(), key=lambda table: -len(table[1])):
        for whole in wholes:
            if np.array_equal(tables[whole][: len(rows)], rows):
                beginnings[buffer] = whole, len(tables[whole])
                break
        else:
            wholes.append(buffer)
    return beginnings


def _is_table(numbers):
    """Whether an array has rows along one axis alone, (..., 1, N, D)."""
    return numbers.ndim > 1 and numbers.size >= _MIN_SIZE and set(numbers.shape[:-2]) <= {1}


def _whole(graph, tensor, buffer, rows):
    """Returns the index of a new tensor with all rows, in the form of `tensor`."""
    return _added(graph, tensor, [*tensor.shape[:-2], rows, tensor.shape[-1]], buffer)


def _slice(model, graph, whole, shape):
    """Returns an operator that makes a new tensor of the first rows."""
    operator = schema.OperatorT()
    operator.opcodeIndex = operator_code(model, _OPERATOR.SLICE)
    bounds = [_vector(model, graph, vector) for vector in (np.zeros_like(shape), shape)]
    operator.inputs = np.array([whole, *bounds], np.int32)
    operator.outputs = np.array([_added(graph, graph.tensors[whole], shape, 0)], np.int32)
    operator.builtinOptionsType = schema.BuiltinOptions.SliceOptions
    operator.builtinOptions = schema.SliceOptionsT()
    return operator


def _vector(model, graph, numbers):
    tensor = schema.TensorT()
    tensor.type, tensor.hasRank = schema.TensorType.INT32, True
    buffer = add_buffer(model, np.asarray(numbers, np.int32))
    return _added(graph, tensor, [len(numbers)], buffer)


def _added(graph, like, shape, buffer):
    """Adds a tensor to a subgraph; returns its index."""
    tensor = schema.TensorT()
    tensor.type, tensor.hasRank = like.type, like.hasRank
    tensor.shape, tensor.buffer = np.array(shape, np.int32), buffer
    graph.tensors.append(tensor)
    return len(graph.tensors) - 1


def _code(model, operator):
    return model.operatorCodes[operator.opcodeIndex].builtinCode
