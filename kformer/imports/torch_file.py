"""Reads the tensors in a file of `torch.save`, without PyTorch, and runs nothing from the file.

Such a file holds a pickle, which refers to storages: arrays of one axis, saved beside it. A pickle
may name any function of any module to be called. Here only the few names that tensors need are
allowed, and each of them stands for an object of this module. A checkpoint may hold settings, too:
every object of the packages that the caller names becomes a `Record`, whatever its class.

There are two formats: a ZIP archive, since PyTorch 1.6; and before, five pickles one after the
other, and then the storages.
"""

import io
import math
import pickle
import pickletools
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, Any

import numpy as np

from kformer.archives import Archive
from kformer.files import check_file

BFLOAT16 = np.dtype("<u2")  # NumPy has no bfloat16: bits stand for it, until the end.
_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": BFLOAT16,
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}
_RULE = "A file of PyTorch must hold tensors, and nothing else."
_MOST_VALUES = 10**7  # In a file, where a value that it names twice counts twice.
_MEMO_OPCODES = ("PUT", "BINPUT", "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET")


class Record:
    """The attributes of an object in a file, without the methods of its class."""

    def __init__(self, *_: Any):
        pass

    def __setstate__(self, state):
        if isinstance(state, dict):
            self.__dict__.update(state)


def read_tensors(path: Path, packages: Collection[str] = ()):
    """Returns the content of the file at `path`, usually a dict of arrays by name."""
    if path.is_file():
        check_file(path)
    try:
        with path.open("rb") as file:
            read_content = _in_archive if zipfile.is_zipfile(file) else _in_pickles
            content = read_content(file, packages)
            _check_values(content, _MOST_VALUES + path.stat().st_size)
            return _as_numbers(content)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # Unpickling a damaged file can raise any.
        raise ValueError(
            f"{_RULE} Received: {str(path)!r} ({type(error).__name__}: {error})."
        ) from error


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """Returns float32 numbers: bfloat16 is the upper half of them."""
    return (bits.astype("<u4") << 16).view("<f4")


def _check_values(value, most):
    """Raises a ValueError if a file stands for more values than it can hold.

    A pickle can name a value many times, each of which names another many times, and so on: a walk
    through all of them would never end.
    """
    sizes = {}  # Of lists and dicts by id; None while it is counted.

    def size(value):
        if isinstance(value, np.ndarray):
            return value.size
        if isinstance(value, Record):
            value = vars(value)
        if not isinstance(value, dict | list | tuple | set):
            return 1
        if id(value) not in sizes:
            sizes[id(value)] = None
            values = value.values() if isinstance(value, dict) else value
            sizes[id(value)] = 1 + sum(map(size, values))
        if sizes[id(value)] is None or sizes[id(value)] > most:
            raise ValueError("a value that contains itself, or too many values")
        return sizes[id(value)]

    size(value)


def _as_numbers(value):
    if isinstance(value, dict):
        return {name: _as_numbers(item) for name, item in value.items()}
    is_bfloat16 = isinstance(value, np.ndarray) and value.dtype == BFLOAT16
    return from_bfloat16(value) if is_bfloat16 else value


def _in_archive(file, packages):
    with Archive(file, _RULE, repr(file.name)) as archive:
        archive.check_sizes()
        [pickled] = [name for name in archive.names() if name.endswith("/data.pkl")]
        storages = {}

        def storage(dtype, key, size):
            if key not in storages:
                content = archive.read(pickled.replace("data.pkl", f"data/{key}"))
                storages[key] = np.frombuffer(content, dtype, size)
            return storages[key]

        return _unpickled(io.BytesIO(archive.read(pickled)), storage, packages)


def _in_pickles(file, packages):
    content = _Bounded(file)
    storages = {}

    def storage(dtype, key, size):
        if key not in storages:
            allocated = sum(array.nbytes for array in storages.values())
            if allocated + size * np.dtype(dtype).itemsize > content.size:
                raise pickle.UnpicklingError(f"a storage of {size} numbers is not there")
            storages[key] = np.zeros(size, dtype)  # Filled below.
        return storages[key]

    for _ in ("magic number", "version", "system"):
        _unpickled(content, storage)
    state = _unpickled(content, storage, packages)
    for key in _unpickled(content, storage):
        (size,) = struct.unpack("<q", content.read(8))
        if size != len(storages[key]):
            raise pickle.UnpicklingError(f"a storage of {size} numbers, not {len(storages[key])}")
        array = np.frombuffer(content.read(storages[key].nbytes), storages[key].dtype)
        storages[key][:] = array
    return state


class _Bounded:
    """A file that allocates no more than it contains, whatever size a pickle asks for.

    Args:
        file: Open, to be read from its beginning.
    """

    def __init__(self, file: IO[bytes]):
        self._file, self.size = file, file.seek(0, io.SEEK_END)
        self.seek(0)

    def read(self, size: int):
        return self._file.read(min(size, self.size - self.tell()))

    def readline(self):
        return self._file.readline()

    def tell(self):
        return self._file.tell()

    def seek(self, place: int):
        return self._file.seek(place)


def _unpickled(content, storage, packages=()):
    """Returns the object in the next pickle of `content`, after a check of its memo places."""
    start = content.tell()
    for number, (opcode, argument, _) in enumerate(pickletools.genops(content), start=1):
        if opcode.name in _MEMO_OPCODES and not 0 <= argument <= number:
            raise pickle.UnpicklingError(f"place {argument} of a memo of at most {number}")
    content.seek(start)
    return _Unpickler(content, storage, packages).load()


class _Unpickler(pickle.Unpickler):
    """Unpickles tensors as arrays.

    Args:
        file: The pickle.
        storage: callable (dtype, key, size) -> array (size,).
        packages: Packages whose objects become a `Record`.
    """

    def __init__(self, file: IO[bytes], storage: Callable, packages: Collection[str] = ()):
        super().__init__(file)
        self._storage = storage
        self._packages = packages

    def find_class(self, module: str, name: str):
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        if module.partition(".")[0] in self._packages:
            return type(name, (Record,), {})  # Its own, which the pickle may change.
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"the pickle names {module}.{name}")
        return _KNOWN[module, name]

    def persistent_load(self, reference: Any):
        _, dtype, key, _, size, *_ = reference
        return self._storage(dtype, key, size)


# Objects without attributes, because a pickle may set attributes of the objects that it names.
class _RebuildTensor:
    __slots__ = ()

    def __call__(self, storage: Any, offset: Any, shape: Any, strides: Any, *_: Any):
        """Returns a view of `storage`, within it."""
        last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        if min((offset, *shape, *strides)) < 0 or not (
            last < len(storage) >= math.prod(shape) or math.prod(shape) == 0
        ):
            raise pickle.UnpicklingError(f"a tensor of shape {shape} is not in its storage")
        strides = [stride * storage.itemsize for stride in strides]
        return np.lib.stride_tricks.as_strided(storage[offset:], shape, strides, writeable=False)


class _RebuildParameter:
    __slots__ = ()

    def __call__(self, tensor: Any, *_: Any):
        return tensor


_KNOWN = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _RebuildTensor(),
    ("torch._utils", "_rebuild_parameter"): _RebuildParameter(),
}
