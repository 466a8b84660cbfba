"""Matrices of products in int8, as the converter's dynamic-range quantization stores them.

Each row has a scale, symmetric about 0; products round their inputs while they run. Weights that
were integers already, as in Firefox's translators, stay the same integers: rounding them twice
would change a twentieth of the translations.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite_graph.flatbuffer import add_buffer, numbers_of

_MAX_INT8 = 127
_MIN_SIZE = 1024  # Elements; smaller matrices stay in float32.
_VERSION = 12  # The first version of FULLY_CONNECTED with a scale for each row.
_CHUNK = 1 << 20  # Elements that are rounded at once, so that no second table is needed.
_EXACT = 1e-3  # Largest error of a multiple, in steps: products of float32 have errors of 1e-5.
_TRIED = 16  # Elements of a row that show whether a step is worth trying.


def store_as_int8(model: schema.ModelT):
    """Rounds the constant matrices of all products.

    Args:
        model: `schema.ModelT` in float32, changed in place.
    """
    rounded = {}  # Index of a float32 buffer -> index of its int8 buffer, and the scales.
    read_elsewhere = _read_elsewhere(model)
    for graph in model.subgraphs:
        for operator in graph.operators:
            if not _is_product(model, operator):
                continue
            tensor = graph.tensors[operator.inputs[1]]
            if tensor.type == schema.TensorType.FLOAT32:
                if tensor.buffer not in rounded:
                    numbers = numbers_of(model, tensor)
                    if numbers is None or numbers.size < _MIN_SIZE:
                        continue
                    rows, scales = quantized_rows(numbers)
                    rounded[tensor.buffer] = add_buffer(model, rows), scales
                    if tensor.buffer not in read_elsewhere:
                        model.buffers[tensor.buffer].data = None  # Not all are in memory at once.
                tensor.buffer, scales = rounded[tensor.buffer]
                tensor.type = schema.TensorType.INT8
                tensor.quantization = _row_quantization(scales)
            if tensor.type == schema.TensorType.INT8:
                operator.builtinOptions.asymmetricQuantizeInputs = True
                code = model.operatorCodes[operator.opcodeIndex]
                code.version = max(code.version, _VERSION)


def _is_product(model, operator):
    code = model.operatorCodes[operator.opcodeIndex].builtinCode
    return code == schema.BuiltinOperator.FULLY_CONNECTED


def _read_elsewhere(model):
    """Returns the indices of the buffers that are more than the matrix of a product."""
    buffers = set()
    for graph in model.subgraphs:
        read = [*graph.outputs]
        for operator in graph.operators:
            inputs = [*operator.inputs]
            read += inputs[:1] + inputs[2:] if _is_product(model, operator) else inputs
        buffers |= {graph.tensors[i].buffer for i in read if i >= 0}
    return buffers


def quantized_rows(table: np.ndarray):
    """Rounds each row of a float32 matrix (F, D) by its own scale.

    A row of multiples of one number, of at most 127 times this number, is rounded to exactly these;
    other rows to multiples of a 127th of their largest number.

    Returns:
        rows: int8 (F, D).
        scales: float32 (F,), such that rows times scales are the table; 1 for rows of zeros.
    """
    rows, scales = np.empty(table.shape, np.int8), np.empty(len(table), np.float32)
    step = max(1, _CHUNK // table.shape[1])
    for start in range(0, len(table), step):
        part = np.asarray(table[start : start + step], order="C")
        part_scales = np.abs(part).max(axis=1) / _largest_integers(part)
        part_scales[part_scales == 0] = 1.0
        scales[start : start + step] = part_scales
        rows[start : start + step] = np.rint(part / part_scales[:, None])
    return rows, scales


def _largest_integers(rows):
    """Returns the largest of the integers that each row (F, D) is a multiple of; else 127.

    float32 (F,): a row of float32 numbers k * s with integers k has its largest k.
    """
    largest = np.abs(rows).max(axis=1)
    shares = np.divide(rows, largest[:, None], where=largest[:, None] > 0, out=np.zeros_like(rows))
    integers = np.full(len(rows), _MAX_INT8, np.float32)
    pending = np.flatnonzero(largest)
    beginnings = shares[pending, :_TRIED]
    for integer in range(1, _MAX_INT8 + 1):
        likely = np.flatnonzero(_are_integers(beginnings * np.float32(integer)))
        exact = likely[_are_integers(shares[pending[likely]] * np.float32(integer))]
        integers[pending[exact]] = integer
        pending, beginnings = np.delete(pending, exact), np.delete(beginnings, exact, axis=0)
    return integers


def _are_integers(rows):
    """Returns bool (F,), whether all numbers of a row (F, D) are close to integers."""
    return (np.abs(rows - np.rint(rows)) < _EXACT).all(axis=1)


def _row_quantization(scales):
    quantization = schema.QuantizationParametersT()
    quantization.scale = scales
    quantization.zeroPoint = np.zeros(len(scales), np.int64)
    quantization.quantizedDimension = 0
    return quantization
