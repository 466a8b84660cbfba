"""Gives loops and branches the constants that they are passed.

What a loop passes on unchanged from one round to the next is an input and an output of each of its
subgraphs. A constant among them becomes a constant within, as a compiler would make it: LiteRT
prepares the weights of a product only where they are constants.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema


def sink(model, graph, operator, known):
    """Takes the constants out of the inputs of an operator that calls subgraphs.

    Args:
        model: `schema.ModelT`.
        graph: The subgraph with the operator, changed in place, as are those that it calls.
        operator: Of any kind.
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
