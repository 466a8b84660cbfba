"""Conversion of functions to LiteRT's operations, with stand-ins for their weights on the way.

Afterwards arrays replace their stand-ins, and operations on constants alone are computed, as a
compiler does: weights are scaled, joined and transposed beforehand. Each result is computed once,
however many subgraphs need it, and views stand for transposed matrices.

A constant that a loop passes on unchanged from one round to the next, as an input and an output of
its subgraphs, becomes a constant within them: LiteRT prepares the weights of a product only where
they are constants.
"""

import gc
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from tensorflow.lite.python.convert import convert_saved_model
from tensorflow.lite.python.lite import TFLiteSavedModelConverterV2

from kformer.export.tflite_graph.flatbuffer import DTYPES, Results, add_buffer, numbers_of
from kformer.export.tflite_graph.products import use_products
from kformer.export.tflite_graph.stand_ins import MARK, StandIns


def sink(
    model: schema.ModelT,
    graph: schema.SubGraphT,
    operator: schema.OperatorT,
    known: dict[int, np.ndarray],
):
    """Takes the constants out of the inputs of an operator that calls subgraphs.

    Args:
        known: dict from the index of a tensor of `graph` to its array; the outputs of a loop that
            are constants are added.

    Returns:
        list of the index of a subgraph that it calls, and of the arrays that it is passed, as
        `known`; empty for an operator that calls none.
    """
    options = operator.builtinOptions
    if isinstance(options, schema.WhileOptionsT):
        body = model.subgraphs[options.bodySubgraphIndex]
        places = [
            i
            for i, tensor in enumerate(operator.inputs)
            if tensor in known and body.inputs[i] == body.outputs[i]
        ]
        known |= {operator.outputs[i]: known[operator.inputs[i]] for i in places}
        called, first = (options.condSubgraphIndex, options.bodySubgraphIndex), 0
    elif isinstance(options, schema.IfOptionsT):
        places = [i for i, tensor in enumerate(operator.inputs[1:]) if tensor in known]
        called, first = (options.thenSubgraphIndex, options.elseSubgraphIndex), 1
    else:
        return []
    arrays = [known[operator.inputs[first + i]] for i in places]
    passed = [_removed_inputs(model.subgraphs[index], places, arrays) for index in called]
    operator.inputs = np.delete(operator.inputs, [first + i for i in places])
    if isinstance(options, schema.WhileOptionsT):
        operator.outputs = np.delete(operator.outputs, places)
        body.outputs = np.delete(body.outputs, places)
    return [*zip(called, passed, strict=True)]


def _removed_inputs(graph, places, arrays):
    """Removes inputs of a subgraph; returns the arrays by the tensors that they were."""
    known = dict(zip((graph.inputs[i] for i in places), arrays, strict=True))
    graph.inputs = np.delete(graph.inputs, places)
    return known


_OPERATOR = schema.BuiltinOperator
_NO_ACTIVATION = schema.ActivationFunctionType.NONE
_COMPUTED = (
    _OPERATOR.ADD,
    _OPERATOR.MUL,
    _OPERATOR.CONCATENATION,
    _OPERATOR.TRANSPOSE,
    _OPERATOR.RESHAPE,
    _OPERATOR.SLICE,
    _OPERATOR.BITCAST,
)


def put_constants(model: schema.ModelT, stand_ins: StandIns):
    """Replaces all stand-ins in a model.

    Args:
        model: `schema.ModelT` as converted from a graph of stand-ins; changed in place. Its large
            buffers then hold arrays as `buffers.numbers_of` reads them.
    """
    folding = _Folding(model, stand_ins)
    for signature in model.signatureDefs:
        folding.fold(signature.subgraphIndex, {})


class _Folding:
    def __init__(self, model: schema.ModelT, stand_ins: StandIns):
        self._model, self._stand_ins = model, stand_ins
        self._results = Results()
        self._buffers: dict[int, int] = {}  # id of an array -> index of its buffer
        self._kept: list[np.ndarray] = []  # The computed arrays.
        self._folded: set[int] = set()

    def fold(self, index: int, known: dict[int, np.ndarray]):
        """Folds a subgraph and the subgraphs that it calls.

        Args:
            known: {index of a tensor: array} of the constants that are passed to it.
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
    array, *operands = inputs
    if code == _OPERATOR.ADD:
        return array + operands[0]
    if code == _OPERATOR.MUL:
        return array * operands[0]
    if code == _OPERATOR.TRANSPOSE:
        return array.transpose(operands[0])
    if code == _OPERATOR.SLICE:
        begin, size = operands
        return array[tuple(slice(b, b + n) for b, n in zip(begin, size, strict=True))]
    if code == _OPERATOR.BITCAST:
        array = array.view(dtype)
    return array.reshape(shape)


def convert(functions: dict[str, Any], stand_ins: StandIns):
    """Traces and converts functions that share weights.

    Returns:
        `schema.ModelT` with their arrays in its buffers, by `put_constants`.
    """
    names = [*functions]
    with stand_ins.for_variables():
        traced = {name: functions.pop(name).get_concrete_function() for name in names}
    with tempfile.TemporaryDirectory() as folder:  # A SavedModel keeps the signatures' names.
        tf.saved_model.save(tf.Module(), folder, traced)
        del traced
        gc.collect()  # Graphs hold themselves.
        # `TFLiteConverter.from_saved_model` and its `convert` load the SavedModel three times, for
        # nothing that is needed here, and pack the result three times, to merge equal buffers.
        converter = TFLiteSavedModelConverterV2(folder, {tf.saved_model.SERVING}, names)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        # Otherwise the first attempt fails with a message: two signatures call one function.
        converter._experimental_guarantee_all_funcs_one_use = True
        content = convert_saved_model(**converter._get_base_converter_args())
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    put_constants(model, stand_ins)
    return model
