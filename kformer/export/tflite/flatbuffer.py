"""Makes a `.tflite` file smaller without changing its outputs.

The converter writes a function once per call, a name for every tensor, and a weight's scales once
per use. Here equal buffers, subgraphs and vectors are written once, and unused names are dropped.
"""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

_IDENTIFIER = b"TFL3"
_ALIGNMENT = 16  # Bytes, of weights; required by the schema.
_CALLED = {  # Options of operators that run subgraphs -> the fields with the subgraphs' indices.
    schema.IfOptionsT: ("thenSubgraphIndex", "elseSubgraphIndex"),
    schema.WhileOptionsT: ("condSubgraphIndex", "bodySubgraphIndex"),
}


def shrunk(content: bytes, first: str, change=None) -> bytes:
    """Returns the same model in fewer bytes.

    Args:
        content: A `.tflite` file.
        first: The default signature.
        change: If given, called with the `schema.ModelT`, without equal buffers, to change it.
    """
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    _merge_buffers(model)
    if change:
        change(model)
    _drop_names(model)
    while _merge_subgraphs(model):  # Their callers may have become equal.
        pass
    _drop_unused_buffers(model)
    _put_first(model, first)
    builder = _Builder(len(content))
    builder.Finish(model.Pack(builder), file_identifier=_IDENTIFIER)
    return bytes(builder.Output())


def _merge_buffers(model):
    first = {b"": 0}  # The schema requires the first buffer to be empty.
    same = []
    for i, buffer in enumerate(model.buffers):
        data = b"" if buffer.data is None else np.asarray(buffer.data, np.uint8).tobytes()
        same.append(first.setdefault(data, i))
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            tensor.buffer = same[tensor.buffer]


def _drop_names(model):
    for graph in model.subgraphs:
        graph.name = None
        for tensor in graph.tensors:
            tensor.name = None
            if tensor.quantization is not None:
                tensor.quantization.min = tensor.quantization.max = None
    for signature in model.signatureDefs:
        tensors = model.subgraphs[signature.subgraphIndex].tensors
        for named in [*signature.inputs, *signature.outputs]:
            tensors[named.tensorIndex].name = named.name


def _merge_subgraphs(model) -> bool:
    """Removes duplicate subgraphs, keeping one of each; returns whether any was removed."""
    first, kept, same = {}, [], []
    entries = {signature.subgraphIndex for signature in model.signatureDefs} | {0}
    for i, graph in enumerate(model.subgraphs):
        key = i if i in entries else _packed(graph)
        if key not in first:
            first[key] = len(kept)
            kept.append(graph)
        same.append(first[key])
    for graph in kept:
        for operator in graph.operators:
            for field in _CALLED.get(type(operator.builtinOptions), ()):
                called = getattr(operator.builtinOptions, field)
                setattr(operator.builtinOptions, field, same[called])
    for signature in model.signatureDefs:
        signature.subgraphIndex = same[signature.subgraphIndex]
    merged = len(kept) < len(model.subgraphs)
    model.subgraphs = kept
    return merged


def _packed(graph):
    builder = _Builder(1024)
    builder.Finish(graph.Pack(builder))
    return bytes(builder.Output())


def _put_first(model, name):
    """Makes the signature `name` the default: its subgraph and the signature come first.

    By default an interpreter runs the first subgraph, a compiled model the first signature.
    """
    [wanted] = [
        signature.subgraphIndex
        for signature in model.signatureDefs
        if signature.signatureKey == name.encode()
    ]
    places = {wanted: 0, 0: wanted}
    graphs = model.subgraphs
    graphs[0], graphs[wanted] = graphs[wanted], graphs[0]
    for signature in model.signatureDefs:
        place = signature.subgraphIndex
        signature.subgraphIndex = places.get(place, place)
    model.signatureDefs.sort(key=lambda signature: signature.subgraphIndex != 0)


def _drop_unused_buffers(model):
    used = {0} | {entry.buffer for entry in model.metadata or ()}
    used |= {tensor.buffer for graph in model.subgraphs for tensor in graph.tensors}
    places = {old: new for new, old in enumerate(sorted(used))}
    model.buffers = [model.buffers[old] for old in places]
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            tensor.buffer = places[tensor.buffer]
    for entry in model.metadata or ():
        entry.buffer = places[entry.buffer]
    model.metadataBuffer = None  # A deprecated copy of the same list.


class _Builder(flatbuffers.Builder):
    """Writes equal vectors once, and aligns weights."""

    def __init__(self, size):
        super().__init__(size)
        self._written = {}

    def CreateNumpyVector(self, x):
        content = x.tobytes()
        key = (x.dtype.str, content)
        if key not in self._written:
            if x.dtype == np.uint8:
                self.Prep(_ALIGNMENT, len(content))
            self._written[key] = super().CreateNumpyVector(x)
        return self._written[key]
