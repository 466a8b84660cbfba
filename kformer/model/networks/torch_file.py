"""Reads the tensors in a file of `torch.save`, without PyTorch, and runs nothing from the file.

Such a file holds a pickle, which refers to storages: arrays of one axis, saved beside it. A pickle
may name any function of any module to be called. Here only the few names that tensors need are
known, and each of them stands for something in this module. A checkpoint may hold settings, too:
of the packages that the caller names, every object becomes a `Record`, whatever its class.

There are two formats: a ZIP archive, since PyTorch 1.6; and before, five pickles one after the
other, and then the storages.
"""

import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

BFLOAT16 = np.dtype("<u2")  # NumPy has no bfloat16: bits stand for it, until the end.
_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": BFLOAT16,
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}


class Record:
    """What a file says of an object: its attributes, and nothing of what its class does."""

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        if isinstance(state, dict):
            self.__dict__.update(state)


def read_tensors(path: Path, packages: Collection[str] = ()):
    """Returns what the file at `path` holds, usually a dict of arrays by name.

    Args:
        path: The file.
        packages: Packages whose objects become a `Record`.

    Raises:
        ValueError: The file is damaged, or its pickle names something that is no part of a tensor,
            nor of `packages`.
    """
    try:
        with path.open("rb") as file:
            read = _in_archive if zipfile.is_zipfile(file) else _in_pickles
            return _as_numbers(read(file, packages))
    except OSError:
        raise
    except Exception as error:  # Unpickling what is damaged can raise any.
        raise ValueError(
            "A file of PyTorch must hold tensors, and nothing else. "
            f"Received: {str(path)!r} ({type(error).__name__}: {error})."
        ) from error


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """Returns float32 numbers: bfloat16 is the upper half of them."""
    return (bits.astype("<u4") << 16).view("<f4")


def _as_numbers(value):
    if isinstance(value, dict):
        return {name: _as_numbers(one) for name, one in value.items()}
    is_bfloat16 = isinstance(value, np.ndarray) and value.dtype == BFLOAT16
    return from_bfloat16(value) if is_bfloat16 else value


def _in_archive(file, packages):
    with zipfile.ZipFile(file) as archive:
        [pickled] = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        storages = {}

        def storage(dtype, key, size):
            if key not in storages:
                content = archive.read(pickled.replace("data.pkl", f"data/{key}"))
                storages[key] = np.frombuffer(content, dtype, size)
            return storages[key]

        with archive.open(pickled) as content:
            return _Unpickler(content, storage, packages).load()


def _in_pickles(file, packages):
    size_of_file = file.seek(0, 2)
    file.seek(0)
    storages = {}

    def storage(dtype, key, size):
        if key not in storages:
            if size * np.dtype(dtype).itemsize > size_of_file:
                raise pickle.UnpicklingError(f"a storage of {size} numbers is not there")
            storages[key] = np.zeros(size, dtype)  # Filled below.
        return storages[key]

    for _ in ("magic number", "version", "system"):
        _Unpickler(file, storage).load()
    found = _Unpickler(file, storage, packages).load()
    for key in _Unpickler(file, storage).load():
        (size,) = struct.unpack("<q", file.read(8))
        content = file.read(size * storages[key].itemsize)
        storages[key][:] = np.frombuffer(content, storages[key].dtype, size)
    return found


class _Unpickler(pickle.Unpickler):
    """Unpickles tensors as arrays.

    Args:
        file: The pickle.
        storage: callable (dtype, key, size) -> array (size,).
        packages: See `read_tensors`.
    """

    def __init__(self, file, storage: Callable, packages: Collection[str] = ()):
        super().__init__(file)
        self._storage = storage
        self._packages = packages

    def find_class(self, module, name):
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        if module.partition(".")[0] in self._packages:
            return type(name, (Record,), {})  # Its own, which the pickle may change.
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"the pickle names {module}.{name}")
        return _KNOWN[module, name]

    def persistent_load(self, reference):
        _, dtype, key, _, size, *_ = reference
        return self._storage(dtype, key, size)


# Objects without attributes, because a pickle may set attributes of what it names.
class _RebuildTensor:
    __slots__ = ()

    def __call__(self, storage, offset, shape, strides, *_):
        """Returns a view of `storage`, within it."""
        last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        if min((offset, *shape, *strides)) < 0 or last >= len(storage) > 0:
            raise pickle.UnpicklingError(f"a tensor of shape {shape} is not in its storage")
        strides = [stride * storage.itemsize for stride in strides]
        return np.lib.stride_tricks.as_strided(storage[offset:], shape, strides, writeable=False)


class _RebuildParameter:
    __slots__ = ()

    def __call__(self, tensor, *_):
        return tensor


_KNOWN = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _RebuildTensor(),
    ("torch._utils", "_rebuild_parameter"): _RebuildParameter(),
}
