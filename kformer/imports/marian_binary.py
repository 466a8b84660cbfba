"""Marian's binary format of weights, version 1, as Firefox's translators are published in it.

A file has the version and the number of items, a header of four numbers for each item, then all
names, all shapes, padding, and the data of all items. The type `intgemm8` is int8 without a layout
of one processor: the matrix is transposed, except tables of vectors, and the number that multiplied
each weight follows its data. Numbers are little-endian. No length in a file is trusted.
"""

import math
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.archives import read_unpacked

_RULE = "The weights must be in Marian's binary format, version 1."
_VERSION = 1
_MOST_AXES = 8
_TYPES = {0x0101: "int8", 0x0404: "float32", 0x4101: "intgemm8"}
_WIDTHS = {"int8": 1, "float32": 4, "intgemm8": 1}
_REFUSED = {  # Types of Marian and of its fork for browsers that are not read.
    0x0402: "float16",
    0x0408: "float64",
    0x0802: "packed16",
    0x1801: "packed8avx2",
    0x2801: "packed8avx512",
    0x4102: "intgemm16",
    0x10001: "intgemm8 of Marian 1.10",
    0x10002: "intgemm16 of Marian 1.10",
    0x11001: "intgemm8avx2",
    0x12001: "intgemm8avx512",
    0x13001: "intgemm8avx512vnni",
    0x18001: "intgemm8ssse3",
    0x11002: "intgemm16avx2",
    0x12002: "intgemm16avx512",
    0x14002: "intgemm16sse2",
}
_TABLE = "Wemb"  # In the names of tables of vectors, which are not transposed.
_MULTIPLIER = 4  # Bytes of the number behind int8 weights.


class _Item(NamedTuple):
    type: str
    shape: tuple[int, ...]
    start: int  # Of its data in the file.


class MarianBinary:
    """The arrays of a file in Marian's binary format, with the methods of `Archive`.

    Args:
        path: The file; one whose name ends in .gz is unpacked.

    Raises:
        OSError: It cannot be opened.
        ValueError: It has another format, is damaged, or has weights of a type that is not read,
            such as those packed for one kind of processor.
    """

    def __init__(self, path: Path):
        self._path = path
        self._content = read_unpacked(path)
        self._place = 0
        self._items = self._read_items()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._content = b""

    def array_names(self) -> list[str]:
        """Returns the names of all arrays."""
        return [*self._items]

    def array(self, name: str) -> np.ndarray:
        """Returns an array: int8 as it is, float32 otherwise."""
        item = self._items[name]
        size = math.prod(item.shape)
        dtype = "<f4" if item.type == "float32" else np.int8
        values = np.frombuffer(self._content, dtype, size, item.start)
        if item.type != "intgemm8":
            return values.reshape(item.shape)
        (multiplier,) = struct.unpack_from("<f", self._content, item.start + size)
        if not 0 < multiplier < math.inf:
            raise self._broken(f"{name!r:.99}, whose int8 weights were multiplied by {multiplier}")
        weights = values.astype(np.float32) * (np.float32(1) / np.float32(multiplier))
        if _TABLE in name:
            return weights.reshape(item.shape)
        return weights.reshape(item.shape[::-1]).T

    def _read_items(self):
        version, number = self._numbers("Q", 2)
        if version != _VERSION:
            raise self._broken(f"version {version:,}")
        headers = [self._numbers("Q", 4) for _ in range(self._bounded(number, 32))]
        names = [self._name(length) for length, *_ in headers]
        shapes = [self._shape(header[2], name) for header, name in zip(headers, names, strict=True)]
        (padding,) = self._numbers("Q", 1)
        self._skip(padding)
        items = {}
        for (_, code, _, length), name, shape in zip(headers, names, shapes, strict=True):
            kind = self._type(code, name, shape)
            needed = math.prod(shape) * _WIDTHS[kind] + _MULTIPLIER * (kind == "intgemm8")
            if length < needed:
                raise self._broken(f"{name!r:.99} with {length:,} bytes for shape {shape}")
            if name in items:
                raise self._broken(f"{name!r:.99} twice")
            items[name] = _Item(kind, shape, self._place)
            self._skip(length)
        return items

    def _type(self, code, name, shape):
        """Returns the name of a type that is read."""
        if code not in _TYPES:
            kind = _REFUSED.get(code, f"unknown to Marian, {code:#x}")
            raise ValueError(
                "Weights of Marian must be float32, or int8 of the type intgemm8, which is for all "
                f"processors. Received: {name!r:.99} of the type {kind} in {str(self._path)!r}."
            )
        kind = _TYPES[code]
        if kind == "intgemm8" and len(shape) != 2:
            raise self._broken(f"{name!r:.99}, int8 weights of shape {shape}")
        return kind

    def _name(self, length):
        name = self._content[self._place : self._skip(length)]
        if not name.endswith(b"\0"):
            raise self._broken(f"a name {name[:40]!r} without an end")
        try:
            return name[:-1].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._broken(f"a name that is not UTF-8: {name[:40]!r}") from error

    def _shape(self, axes, name):
        if axes > _MOST_AXES:
            raise self._broken(f"{name!r:.99} with {axes:,} axes")
        shape = tuple(self._numbers("i", axes))
        if min(shape, default=1) < 1:
            raise self._broken(f"{name!r:.99} with shape {shape}")
        return shape

    def _numbers(self, kind, count):
        place = self._place
        self._skip(count * struct.calcsize(f"<{kind}"))
        return struct.unpack_from(f"<{count}{kind}", self._content, place)

    def _bounded(self, number, width):
        """Returns a number of entries of `width` bytes, if the rest of the file can hold them."""
        if number * width > len(self._content) - self._place:
            raise self._broken(f"{number:,} items in {len(self._content):,} bytes")
        return number

    def _skip(self, length):
        """Moves on by `length` bytes, and returns the place there."""
        if length > len(self._content) - self._place:
            raise self._broken(
                f"it ends at {len(self._content):,} bytes, {length:,} after {self._place:,} are "
                "missing"
            )
        self._place += length
        return self._place

    def _broken(self, why):
        return ValueError(f"{_RULE} Received: {str(self._path)!r} ({why}).")
