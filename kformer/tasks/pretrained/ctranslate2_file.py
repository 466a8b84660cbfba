"""Reads model.bin of CTranslate2: a version, the kind of model, and its variables.

All numbers are little-endian. A string is its size as uint16, its end included, and its UTF-8 bytes
with an end of zero.

    uint32 version
    string kind; uint32 revision of the kind      since version 2
    uint32 count; of each variable:
        string name; uint8 rank; uint32 shape[rank]; uint8 dtype; uint32 size; bytes
    uint32 count; of each second name of a variable: string name; string of which variable
                                                  since version 3

Before version 4, a variable has the bytes of one number instead of the dtype, and the count of
numbers instead of their size: 4 bytes are float32, 2 are int16 and 1 is int8.
"""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.model.networks.torch_file import BFLOAT16, from_bfloat16
from kformer.tasks.pretrained.ctranslate2_revisions import is_setting

VERSION = 6  # Versions 1 to 6 are read.
_FIRST_WITH_KIND, _FIRST_WITH_NAMES, _FIRST_WITH_DTYPE = 2, 3, 4
_DTYPES = ("<f4", "<i1", "<i2", "<i4", "<f2", BFLOAT16)
_BFLOAT16 = 5
_BY_WIDTH = {4: 0, 2: 2, 1: 1}  # dtypes by the bytes of a number, before version 4.
_SCALE_OF_INT16 = np.float32(1000)  # Where a model has none.
_SCALE = "weight_scale"


class Model(NamedTuple):
    """What a model.bin holds.

    Attributes:
        version: Of the file.
        kind, revision: Of the model.
        variables: dict by name: weights as floats, and numbers.
    """

    version: int
    kind: str
    revision: int
    variables: dict


def read_variables(path: Path) -> Model:
    """Reads a model.bin of version 1 to 6.

    Weights of 8 and 16 bits become float32: what CTranslate2 computes with, but for the rounding of
    the vectors that it multiplies with them.

    Raises:
        ValueError: The file is damaged, or of a newer version.
    """
    content = _Content(path.read_bytes())
    try:
        (version,) = content.numbers("I")
        if not 1 <= version <= VERSION:
            raise ValueError(f"version {version}, not one of 1 to {VERSION}")
        kind, revision = "", 1
        if version >= _FIRST_WITH_KIND:
            kind, (revision,) = content.string(), content.numbers("I")
        has_dtype = version >= _FIRST_WITH_DTYPE
        variables = dict(content.variable(has_dtype) for _ in range(*content.numbers("I")))
        others = []
        if version >= _FIRST_WITH_NAMES:
            others = [(content.string(), content.string()) for _ in range(*content.numbers("I"))]
        content.check_end()
        variables |= {name: variables[of] for name, of in others if name.endswith(_SCALE)}
        variables = _without_scales(variables)
        others = {name: variables[of] for name, of in others if not name.endswith(_SCALE)}
        return Model(version, kind, revision, variables | others)
    except (ValueError, KeyError, IndexError, struct.error) as error:
        raise ValueError(
            f"A model.bin of CTranslate2 of version 1 to {VERSION} must be whole: convert the "
            f"model again. Received: {str(path)!r} ({error})."
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

    def variable(self, has_dtype):
        name = self.string()
        (rank,) = self.numbers("B")
        shape = self.numbers(f"{rank}I")
        dtype, size = self.numbers("BI")
        if not has_dtype:
            size *= dtype
            dtype = _BY_WIDTH[dtype]
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
        if is_setting(name):
            found[name] = array
            continue
        if array.ndim and array.dtype.kind != "f":
            scale = variables.get(f"{name}_scale", array.dtype == "i2" and _SCALE_OF_INT16)
            if scale is False:
                raise ValueError(f"no {name}_scale")
            scale = np.asarray(scale, "f4")
            array = array.astype("f4") / (scale[:, None] if scale.ndim else scale)
        found[name] = array.astype("f4", copy=False) if array.ndim else array
    return found
