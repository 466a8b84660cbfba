"""The FlatBuffer of a `.tflite` file: made smaller with the same outputs, written by arrays.

The converter writes a function once per call, a name for every tensor, and a weight's scales once
per use. Here equal buffers, subgraphs and vectors are written once, and unused parts are dropped.
"""

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

_IDENTIFIER = b"TFL3"
_ALIGNMENT = 16  # Bytes, of weights; required by the schema.
_LARGE = 4096  # Bytes; larger arrays are written behind the rest.
_CALLED = {  # Options of operators that run subgraphs -> the fields with the subgraphs' indices.
    schema.IfOptionsT: ("thenSubgraphIndex", "elseSubgraphIndex"),
    schema.WhileOptionsT: ("condSubgraphIndex", "bodySubgraphIndex"),
}
_NONE = -1  # As the index of a tensor.
_DATA_FIELD = 4  # Of `Buffer.data` in its table, by the schema.


def shrink(model: schema.ModelT, first: str):
    """Drops parts that the outputs of a model do not depend on, and stores equal parts once.

    Args:
        model: `schema.ModelT`, changed in place. The data of its buffers may be arrays of any dtype
            and strides.
    """
    _drop_tensors(model)
    merge_buffers(model)
    _drop_names(model)
    while _merge_subgraphs(model):  # Their callers may have become equal.
        pass
    _drop_unused_buffers(model)
    _put_first(model, first)
    _sort_by_name(model)


def write_model(model: schema.ModelT, path: str | Path):
    """Writes a model to a file.

    In a FlatBuffer, a vector may stand anywhere behind the field that refers to it. So the large
    arrays follow the rest of the file, and only one of them is in memory as bytes.
    """
    large = {}
    for i, buffer in enumerate(model.buffers):
        if buffer.data is not None and np.asarray(buffer.data).nbytes >= _LARGE:
            large[i], buffer.data = buffer.data, np.zeros(1, np.uint8)
        elif buffer.data is not None:
            buffer.data = _bytes_of(buffer.data)
    _share_equal_parts(model)
    builder = _Builder(1 << 20)
    builder.Finish(model.Pack(builder), file_identifier=_IDENTIFIER)
    head = builder.Output()
    begin, sizes = len(head), {i: np.asarray(data).nbytes for i, data in large.items()}
    packed = schema.Model.GetRootAs(head)
    for i, size in sizes.items():
        table = packed.Buffers(i)._tab
        field = table.Pos + table.Offset(_DATA_FIELD)
        begin += -(begin + 4) % _ALIGNMENT  # The size comes before the data.
        struct.pack_into("<I", head, field, begin - field)
        begin += 4 + size
    with Path(path).open("wb") as file:
        file.write(head)
        for i, size in sizes.items():
            file.write(bytes(-(file.tell() + 4) % _ALIGNMENT) + struct.pack("<I", size))
            file.write(_bytes_of(large[i]))


def merge_buffers(model: schema.ModelT):
    """Makes tensors of equal content share one buffer."""
    first = {b"": 0}  # The schema requires the first buffer to be empty.
    same = []
    for i, buffer in enumerate(model.buffers):
        data = b"" if buffer.data is None else _bytes_of(buffer.data)
        same.append(first.setdefault(hashlib.sha256(data).digest() if len(data) else b"", i))
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            tensor.buffer = same[tensor.buffer]


def _bytes_of(data):
    """Returns the array of a buffer as uint8 (bytes,)."""
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8)


def _drop_tensors(model):
    """Removes the tensors that no operator reads or writes."""
    for index, graph in enumerate(model.subgraphs):
        lists = [graph, *graph.operators]
        used = {int(i) for node in lists for i in (*node.inputs, *node.outputs)} - {_NONE}
        places = {old: new for new, old in enumerate(sorted(used))} | {_NONE: _NONE}
        graph.tensors = [graph.tensors[i] for i in sorted(used)]
        for node in lists:
            node.inputs = np.array([places[i] for i in node.inputs], np.int32)
            node.outputs = np.array([places[i] for i in node.outputs], np.int32)
        for signature in model.signatureDefs:
            if signature.subgraphIndex == index:
                for named in [*signature.inputs, *signature.outputs]:
                    named.tensorIndex = places[named.tensorIndex]


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
    first, same = {}, []
    kept: list = []
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


def _share_equal_parts(model):
    """Has equal tensors and operators written once, whatever the subgraph; there are thousands."""
    shared = {}
    for graph in model.subgraphs:
        for parts in (graph.tensors, graph.operators):
            for i, part in enumerate(parts):
                parts[i] = shared.setdefault((type(part), _packed(part)), _Shared(part))


class _Shared:
    """A part of a model that is written at the first place that refers to it.

    Args:
        part: An object of `schema` that can be packed.
    """

    def __init__(self, part: Any):
        self._part = part
        self._offset = None

    def Pack(self, builder: Any):
        if self._offset is None:
            self._offset = self._part.Pack(builder)
        return self._offset


def _packed(part):
    builder = _Builder(1024)
    builder.Finish(part.Pack(builder))
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


def _sort_by_name(model):
    """Puts the inputs and outputs of each signature, and of its subgraph, in order of their names.

    The converter's order has no meaning; runtimes without signatures know only the subgraph's.
    """
    for signature in model.signatureDefs:
        graph = model.subgraphs[signature.subgraphIndex]
        for part in (signature.inputs, signature.outputs):
            part.sort(key=lambda named: named.name)
        graph.inputs = np.array([named.tensorIndex for named in signature.inputs], np.int32)
        graph.outputs = np.array([named.tensorIndex for named in signature.outputs], np.int32)


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

    def __init__(self, size: int):
        super().__init__(size)
        self._written: dict = {}

    def CreateNumpyVector(self, x: np.ndarray):
        content = x.tobytes()
        key = (x.dtype.str, content)
        if key not in self._written:
            if x.dtype == np.uint8:
                self.Prep(_ALIGNMENT, len(content))
            self._written[key] = super().CreateNumpyVector(x)
        return self._written[key]


DTYPES = {
    schema.TensorType.FLOAT32: np.float32,
    schema.TensorType.FLOAT16: np.float16,
    schema.TensorType.INT8: np.int8,
    schema.TensorType.UINT8: np.uint8,
    schema.TensorType.INT16: np.int16,
    schema.TensorType.INT32: np.int32,
    schema.TensorType.INT64: np.int64,
    schema.TensorType.BOOL: np.bool_,
}
_SMALL = 64  # Bytes; smaller arrays are equal if their content is.


def numbers_of(model: schema.ModelT, tensor: schema.TensorT):
    """Returns the array in the buffer of a tensor; None if it is no constant.

    It has the shape of the tensor, and may be a view of another array.
    """
    data = model.buffers[tensor.buffer].data
    if data is None or len(data) == 0 or tensor.type not in DTYPES:
        return None
    data = np.asarray(data)
    shape = () if tensor.shape is None else tuple(tensor.shape)
    if data.dtype == np.uint8 and tensor.type != schema.TensorType.UINT8:
        data = data.view(DTYPES[tensor.type])
    return data.reshape(shape)


def add_buffer(model: schema.ModelT, array: np.ndarray) -> int:
    """Adds a buffer with an array of any dtype and strides; returns its index."""
    buffer = schema.BufferT()
    buffer.data = array
    model.buffers.append(buffer)
    return len(model.buffers) - 1


class Results:
    """Arrays that are computed from others, each once."""

    def __init__(self):
        self._results = {}
        self._inputs = []  # Kept, so that no other array gets the id of one.

    def of(self, compute: Callable, *arrays: np.ndarray, **settings: Any):
        """Returns `compute(*arrays, **settings)`."""
        key = compute, tuple(settings.items()), *map(_identity, arrays)
        if key not in self._results:
            self._inputs.append(arrays)
            self._results[key] = compute(*arrays, **settings)
        return self._results[key]


def _identity(array):
    small = array.nbytes <= _SMALL
    return (array.dtype.str, array.shape, array.tobytes()) if small else id(array)


def operator_code(model: schema.ModelT, builtin: int, version: int = 1) -> int:
    """Returns the place of an operator in the model's list; adds it if it is missing."""
    for index, code in enumerate(model.operatorCodes):
        if code.builtinCode == builtin:
            code.version = max(code.version, version)
            return index
    code = schema.OperatorCodeT()
    code.deprecatedBuiltinCode = code.builtinCode = builtin
    code.version = version
    model.operatorCodes.append(code)
    return len(model.operatorCodes) - 1
