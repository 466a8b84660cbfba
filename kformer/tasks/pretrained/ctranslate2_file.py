"""Reads model.bin of CTranslate2: a version, the kind of model, and its variables.

All numbers are little-endian. A string is its size as uint16, its end included, and its UTF-8 bytes
with an end of zero.

    uint32 version; string kind; uint32 revision of the kind
    uint32 count; of each variable:
        string name; uint8 rank; uint32 shape[rank]; uint8 dtype; uint32 size; bytes
    uint32 count; of each second name of a variable: string name; string of which variable
"""

import struct
from pathlib import Path

import numpy as np

from kformer.model.networks.torch_file import BFLOAT16, from_bfloat16

VERSION = 6
_DTYPES = ("<f4", "<i1", "<i2", "<i4", "<f2", BFLOAT16)
_BFLOAT16 = 5
_SCALE = "weight_scale"


def read_variables(path: Path) -> tuple[str, dict]:
    """Returns the kind of model and its variables by name: weights as floats, and numbers.

    Weights of 8 and 16 bits become float32: what CTranslate2 computes with, but for the rounding of
    the vectors that it multiplies with them.

    Raises:
        ValueError: The file is damaged, or of another version.
    """
    content = _Content(path.read_bytes())
    try:
        (version,) = content.numbers("I")
        if version != VERSION:
            raise ValueError(f"version {version}, not {VERSION}")
        kind = content.string()
        content.numbers("I")
        variables = dict(content.variable() for _ in range(*content.numbers("I")))
        others = [(content.string(), content.string()) for _ in range(*content.numbers("I"))]
        content.check_end()
        variables |= {name: variables[of] for name, of in others if name.endswith(_SCALE)}
        variables = _without_scales(variables)
        others = {name: variables[of] for name, of in others if not name.endswith(_SCALE)}
        return kind, variables | others
    except (ValueError, KeyError, IndexError, struct.error) as error:
        raise ValueError(
            f"A model.bin of CTranslate2 of version {VERSION} must be whole: convert the model "
            f"again. Received: {str(path)!r} ({error})."
        ) from error


class _Content:
    """The bytes of the file, read from the beginning to the end."""

    def __init__(self, content):
        self._content, self._place = memoryview(content), 0

    def _take(self, size):
        taken = self._content[self._place : self._place + size]
        if len(taken) < size:
            raise ValueError("it ends too early")
        self._place += size
        return taken

    def numbers(self, form):
        form = f"<{form}"
        return struct.unpack(form, self._take(struct.calcsize(form)))

    def string(self):
        (size,) = self.numbers("H")
        return bytes(self._take(size))[:-1].decode("utf-8")

    def variable(self):
        name = self.string()
        (rank,) = self.numbers("B")
        shape = self.numbers(f"{rank}I")
        dtype, size = self.numbers("BI")
        array = np.frombuffer(self._take(size), _DTYPES[dtype]).reshape(shape)
        return name, from_bfloat16(array) if dtype == _BFLOAT16 else array

    def check_end(self):
        if self._place != len(self._content):
            raise ValueError(f"{len(self._content) - self._place} bytes too many")


def _without_scales(variables):
    """Divides rounded weights by their scales, one for each row or one for all."""
    found = {}
    for name, array in variables.items():
        if name.endswith(_SCALE):
            continue
        if array.ndim and array.dtype.kind != "f":
            scale = variables[f"{name}_scale"].astype("f4")
            array = array.astype("f4") / (scale[:, None] if scale.ndim else scale)
        found[name] = array.astype("f4", copy=False) if array.ndim else array
    return found
