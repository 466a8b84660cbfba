"""Puts arrays in place of their stand-ins, and computes what depends on constants alone.

That is what a compiler does with weights: it scales, joins and transposes them beforehand. Each
result is computed once, however many subgraphs need it, and views stand for transposed matrices.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite.constants.buffers import DTYPES, Results, add_buffer, numbers_of
from kformer.export.tflite.constants.products import use_products
from kformer.export.tflite.constants.sinking import sink
from kformer.export.tflite.constants.stand_ins import MARK

_OPERATOR = schema.BuiltinOperator
_NO_ACTIVATION = schema.ActivationFunctionType.NONE
_COMPUTED = (
    *(_OPERATOR.ADD, _OPERATOR.MUL, _OPERATOR.CONCATENATION),
    *(_OPERATOR.TRANSPOSE, _OPERATOR.RESHAPE, _OPERATOR.SLICE, _OPERATOR.BITCAST),
)


def put_constants(model, stand_ins):
    """Replaces all stand-ins in a model.

    Args:
        model: `schema.ModelT` as converted from a graph of stand-ins; changed in place. Its large
            buffers then hold arrays as `buffers.numbers_of` reads them.
        stand_ins: `StandIns` that made them.
    """
    folding = _Folding(model, stand_ins)
    for signature in model.signatureDefs:
        folding.fold(signature.subgraphIndex, {})


class _Folding:
    def __init__(self, model, stand_ins):
        self._model, self._stand_ins = model, stand_ins
        self._results = Results()
        self._buffers = {}  # id of an array -> index of its buffer
        self._kept = []  # Those arrays.
        self._folded = set()

    def fold(self, index, known):
        """Folds a subgraph and those that it calls.

        Args:
            index: Of the subgraph.
            known: dict from the index of a tensor to its array, of those that are passed to it.
        """
        if index in self._folded:
            raise ValueError(f"A subgraph must be called once. Received: another call of {index}.")
        self._folded.add(index)
        graph = self._model.subgraphs[index]
        left = []
        for operator in graph.operators:
            for called, passed in sink(self._model, graph, operator, known):
                self.fold(called, passed)
            value = self._value(graph, operator, known)
            if value is None:
                left.append(operator)
            else:
                known[operator.outputs[0]] = value
        graph.operators = left
        use_products(self._model, graph, known, self._results)
        used = {i for operator in graph.operators for i in operator.inputs} | {*graph.outputs}
        for i in used & known.keys():
            graph.tensors[i].buffer = self._buffer(known[i])

    def _value(self, graph, operator, known):
        """Returns the output of an operator that depends on stand-ins and constants; else None."""
        code = self._model.operatorCodes[operator.opcodeIndex].builtinCode
        options = operator.builtinOptions
        if code == _OPERATOR.RANDOM_STANDARD_NORMAL and options.seed2 == MARK:
            return self._stand_ins.array(options.seed)
        if code not in _COMPUTED or not any(i in known for i in operator.inputs):
            return None
        inputs = [
            known[i] if i in known else numbers_of(self._model, graph.tensors[i])
            for i in operator.inputs
        ]
        activation = getattr(options, "fusedActivationFunction", _NO_ACTIVATION)
        if activation != _NO_ACTIVATION or any(array is None for array in inputs):
            return None
        [output] = (graph.tensors[i] for i in operator.outputs)
        return self._results.of(
            _computed,
            *inputs,
            code=code,
            shape=tuple(output.shape),
            dtype=DTYPES[output.type],
            axis=getattr(options, "axis", None),
        )

    def _buffer(self, array):
        if id(array) not in self._buffers:
            self._kept.append(array)
            self._buffers[id(array)] = add_buffer(self._model, array)
        return self._buffers[id(array)]


def _computed(*inputs, code, shape, dtype, axis):
    if code == _OPERATOR.CONCATENATION:
        return np.concatenate(inputs, axis)
    array, *other = inputs
    if code == _OPERATOR.ADD:
        return array + other[0]
    if code == _OPERATOR.MUL:
        return array * other[0]
    if code == _OPERATOR.TRANSPOSE:
        return array.transpose(other[0])
    if code == _OPERATOR.SLICE:
        begin, size = other
        return array[tuple(slice(b, b + n) for b, n in zip(begin, size, strict=True))]
    if code == _OPERATOR.BITCAST:
        array = array.view(dtype)
    return array.reshape(shape)
