"""Products with constant matrices, with their biases: FULLY_CONNECTED, which LiteRT runs fastest.

- x W is a FULLY_CONNECTED with the transposed matrix.
- A vector that is added to it becomes its bias.
- (x + c) W = x W + c W: a constant before the product becomes part of the bias.

Axes: D inputs, F outputs.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite_graph.flatbuffer import Results, operator_code

_OPERATOR = schema.BuiltinOperator
_NO_ACTIVATION = schema.ActivationFunctionType.NONE
_NONE = -1  # As the index of a tensor.
_VERSION = 5  # Of FULLY_CONNECTED: the first that keeps the number of axes.


def use_products(
    model: schema.ModelT, graph: schema.SubGraphT, known: Mapping[int, np.ndarray], results: Results
):
    """Rewrites the products with constants in a subgraph.

    Args:
        known: dict from the index of a tensor to its array; new constants are added.
    """
    _Products(model, graph, known, results).rewrite()


class _Products:
    def __init__(
        self,
        model: schema.ModelT,
        graph: schema.SubGraphT,
        known: Mapping[int, np.ndarray],
        results: Results,
    ):
        self._model, self._graph = model, graph
        self._known, self._results = known, results

    def rewrite(self):
        for operator in self._graph.operators:
            if self._code(operator) == _OPERATOR.BATCH_MATMUL:
                self._use_fully_connected(operator)
        self._add_biases()
        self._absorb_vectors()

    def _code(self, operator):
        return self._model.operatorCodes[operator.opcodeIndex].builtinCode

    def _use_fully_connected(self, operator):
        x, matrix = operator.inputs
        options = operator.builtinOptions
        if matrix not in self._known or self._known[matrix].ndim != 2 or options.adjX:
            return
        if not options.adjY:
            matrix = self._constant(self._results.of(np.transpose, self._known[matrix]))
        operator.inputs = np.array([x, matrix, _NONE], np.int32)
        operator.opcodeIndex = operator_code(self._model, _OPERATOR.FULLY_CONNECTED, _VERSION)
        operator.builtinOptionsType = schema.BuiltinOptions.FullyConnectedOptions
        operator.builtinOptions = schema.FullyConnectedOptionsT()
        operator.builtinOptions.keepNumDims = len(self._graph.tensors[x].shape) != 2

    def _is_product(self, operator, x=None):
        """Whether an operator is a product with a constant matrix; of `x`, if that is given."""
        return (
            operator is not None
            and self._code(operator) == _OPERATOR.FULLY_CONNECTED
            and operator.inputs[1] in self._known
            and (operator.inputs[2] == _NONE or operator.inputs[2] in self._known)
            and (x is None or operator.inputs[0] == x)
        )

    def _add_biases(self):
        readers, additions = self._readers(), set()
        for operator in self._graph.operators:
            if not self._is_product(operator) or operator.inputs[2] != _NONE:
                continue
            [output] = operator.outputs
            addition, *more_readers = readers[output] or [None]
            if more_readers or addition is None or self._code(addition) != _OPERATOR.ADD:
                continue
            vector = self._operand(addition, output)
            outputs = len(self._known[operator.inputs[1]])
            if vector is not None and self._known[vector].shape == (outputs,):
                _replace_input(operator, 2, vector)
                activation = addition.builtinOptions.fusedActivationFunction
                operator.builtinOptions.fusedActivationFunction = activation
                operator.outputs = addition.outputs
                additions.add(id(addition))
        self._drop(additions)

    def _absorb_vectors(self):
        """Moves constants that are added to the inputs of products into their biases."""
        for before in reversed(self._graph.operators):
            if self._code(before) != _OPERATOR.ADD or _is_activated(before):
                continue
            [output] = before.outputs
            products = self._readers()[output]
            if not products or not all(self._is_product(reader, output) for reader in products):
                continue
            for x in before.inputs:
                vector = self._operand(before, x)
                width = self._known[products[0].inputs[1]].shape[1]
                if vector is not None and self._known[vector].shape == (width,):
                    for product in products:
                        self._move(product, vector)
                        _replace_input(product, 0, x)
                    self._drop({id(before)})

    def _move(self, product, vector):
        _, matrix, bias = product.inputs
        arrays = [self._known[i] for i in (matrix, vector, bias) if i != _NONE]
        _replace_input(product, 2, self._constant(self._results.of(_moved_bias, *arrays)))

    def _operand(self, addition, x):
        """Returns the constant that is added to `x`; None if there is none."""
        rest = [i for i in addition.inputs if i != x]
        return rest[0] if len(rest) == 1 and rest[0] in self._known else None

    def _readers(self):
        """Returns for each tensor the operators that read it, None for an output of the graph."""
        readers = defaultdict(list)
        for operator in self._graph.operators:
            for i in operator.inputs:
                readers[i].append(operator)
        for i in self._graph.outputs:
            readers[i].append(None)
        return readers

    def _drop(self, identities):
        self._graph.operators = [o for o in self._graph.operators if id(o) not in identities]

    def _constant(self, array):
        """Returns the index of a new tensor for a float32 array."""
        tensor = schema.TensorT()
        tensor.type, tensor.buffer = schema.TensorType.FLOAT32, 0
        tensor.shape, tensor.hasRank = np.array(array.shape, np.int32), True
        self._graph.tensors.append(tensor)
        self._known[len(self._graph.tensors) - 1] = array
        return len(self._graph.tensors) - 1


def _replace_input(operator, place, tensor):
    operator.inputs = np.array([*operator.inputs[:place], tensor, *operator.inputs[place + 1 :]])


def _is_activated(addition):
    return addition.builtinOptions.fusedActivationFunction != _NO_ACTIVATION


def _moved_bias(matrix, vector, bias=0.0):
    return bias + matrix @ vector
