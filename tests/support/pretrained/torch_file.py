"""Writes files as `torch.save` does, of NumPy arrays, in both of its formats."""

import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from types import ModuleType
from unittest import mock

import numpy as np

_KINDS = {"<f4": "FloatStorage", "<f2": "HalfStorage", "<u2": "BFloat16Storage"}


def _torch():
    """Returns modules that hold the names which a pickle of tensors mentions."""

    def named(module, name, bases=None):
        made = type(name, (), {}) if bases is None else lambda *_: None
        made.__module__, made.__name__, made.__qualname__ = module, name, name
        return made

    torch, utils = ModuleType("torch"), ModuleType("torch._utils")
    for name in _KINDS.values():
        setattr(torch, name, named("torch", name))
    utils._rebuild_tensor_v2 = named("torch._utils", "_rebuild_tensor_v2", bases=())
    torch._utils = utils
    return {"torch": torch, "torch._utils": utils}


class _Storage:
    def __init__(self, key, array):
        self.key, self.array = key, array


class _Tensor:
    def __init__(self, storage):
        self.storage = storage

    def __reduce__(self):
        array = self.storage.array
        strides = tuple(stride // array.itemsize for stride in array.strides)
        arguments = (self.storage, 0, array.shape, strides, False, OrderedDict())
        return sys.modules["torch._utils"]._rebuild_tensor_v2, arguments


class _Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if not isinstance(value, _Storage):
            return None
        array = value.array
        kind = getattr(sys.modules["torch"], _KINDS[array.dtype.str])
        return "storage", kind, value.key, "cpu", array.size


def write_torch_file(path, content, legacy=False):
    """Writes what `torch.save` would write of tensors.

    Args:
        content: dict from name to an array of float32, float16 or, as uint16, bfloat16, to another
            such dict, or to anything that can be pickled.
        legacy: Whether in the format before PyTorch 1.6.
    """
    storages = []

    def tensors(value):
        if isinstance(value, dict):
            return OrderedDict((name, tensors(one)) for name, one in value.items())
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        array = np.asarray(value)
        array = array if array.flags.forc else np.ascontiguousarray(array)
        storages.append(_Storage(str(len(storages)), array))
        return _Tensor(storages[-1])

    state = tensors(content)
    with mock.patch.dict(sys.modules, _torch()), path.open("wb") as file:
        if legacy:
            for before in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
                pickle.dump(before, file, 2)
            _Pickler(file, 2).dump(state)
            pickle.dump([storage.key for storage in storages], file, 2)
            for storage in storages:
                file.write(struct.pack("<q", storage.array.size) + storage.array.tobytes("A"))
            return path
        with zipfile.ZipFile(file, "w") as archive:
            with archive.open("model/data.pkl", "w") as pickled:
                _Pickler(pickled, 2).dump(state)
            archive.writestr("model/version", "3\n")
            for storage in storages:
                archive.writestr(f"model/data/{storage.key}", storage.array.tobytes("A"))
    return path
