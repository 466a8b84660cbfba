"""State dicts: weights of PyTorch by name, from memory or a file, to be taken one by one."""

import itertools
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from kformer.files import check_file
from kformer.imports.torch_file import BFLOAT16, from_bfloat16, read_tensors
from kformer.json_files import check_schema, parse_json, read_json

_SAFETENSORS_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": BFLOAT16}
_TORCH_SUFFIXES = (".pt", ".pth", ".bin")
_INDEX = ".index.json"  # The end of the name of the file that lists shards.
_WRAPPED = ("state_dict", "model_state_dict", "model")  # Where training scripts put a state dict.
_MOST_OF_HEADER = 100_000_000  # Bytes, as in the reader of the format's authors.
_LAYER = re.compile(r"(?:.*\.)?layers\.\d+\.")


class _Index(TypedDict):
    """An index of shards."""

    weight_map: dict[str, str]


class _TensorEntry(TypedDict):
    """An entry in the header of a `.safetensors` file."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


class StateDict:
    """The arrays of a state dict, each to be taken once.

    Args:
        arrays: dict from name to float array.
    """

    def __init__(self, arrays: dict[str, Any]):
        self._arrays = arrays
        self._has_layers = any(_LAYER.match(name) for name in arrays)
        self._biased = {self._group(name) for name in arrays if name.endswith("bias")}

    def __iter__(self):
        """Yields the names of the arrays that are left."""
        return iter(self._arrays)

    def shape(self, name: str):
        """Returns the shape of an array that is left."""
        return self._arrays[name].shape

    def have(self, part: str):
        """Returns whether a name has `part` at its beginning or after a dot."""
        return any(f".{part}" in f".{name}" for name in self._arrays)

    def num_layers(self, prefix: str):
        """Returns the number of layers below `prefix`, at least 1."""
        start = f"{prefix}layers."
        names = [name.removeprefix(start) for name in self._arrays if name.startswith(start)]
        return max(1, len({name.split(".")[0] for name in names}))

    def _group(self, name):
        """Returns the layer of a weight, or the norm after the layers: all or none have biases."""
        if match := _LAYER.match(name):
            return match[0]
        return name.rpartition(".")[0] if self._has_layers else ""

    def take(self, name: str, *shape: int):
        """Returns an array of this shape, of finite numbers."""
        if name not in self._arrays:
            raise ValueError(f"The state dict must have all weights. Received: no {name!r}.")
        array = self._arrays.pop(name)
        if array.shape != shape:
            raise ValueError(
                f"The weights must fit each other: {name!r} must have shape {shape}. "
                f"Received: {array.shape}."
            )
        check_numbers(name, array)
        return array

    def take_bias(self, name: str, size: int):
        """As `take`; zeros if the layer, or the norm after the layers, has no biases."""
        if self._group(name) not in self._biased:
            return np.zeros(size)
        return self.take(name, size)

    def fill_dense(self, dense: Any, prefix: str, outputs: int, inputs: int):
        """Assigns the weights of an `nn.Linear` to a Dense layer."""
        kernel = self.take(f"{prefix}weight", outputs, inputs)
        dense.set_weights([kernel.T, self.take_bias(f"{prefix}bias", outputs)])

    def fill_norm(self, norm: Any, prefix: str, d_model: int):
        """Assigns the weights of an `nn.LayerNorm` to a `LayerNorm`."""
        gamma = self.take(f"{prefix}weight", d_model)
        norm.set_weights([gamma, self.take_bias(f"{prefix}bias", d_model)])

    def check_all_taken(self):
        """Raises a ValueError that names the weights which nothing took."""
        if self._arrays:
            raise ValueError(
                "The state dict must have no weights beside those of the layers. "
                f"Received: {', '.join(map(repr, self._arrays)):.200}."
            )


def check_numbers(name: str, array: np.ndarray):
    """Raises a ValueError unless an array holds floating-point numbers that float32 can hold."""
    if array.dtype.kind != "f":
        raise ValueError(
            f"Weights must be floating-point numbers. Received: {name!r} of dtype {array.dtype}."
        )
    if not (np.abs(array) <= np.finfo(np.float32).max).all():  # NaN is not, either.
        kind = "NaN" if np.isnan(array).any() else "infinite or too large numbers"
        raise ValueError(f"Weights must be finite numbers. Received: {name!r} with {kind}.")


def read_state_dict(state_dict: Mapping[str, Any] | str | Path) -> dict:
    """Returns a dict from name to float array.

    Args:
        state_dict: dict of tensors or of NumPy arrays, or one that holds such a dict as
            "state_dict", "model_state_dict" or "model"; or the path of a `.safetensors`, `.pt`,
            `.pth` or `.bin` file, which is read without PyTorch; or of the `.index.json` of one in
            shards.
    """
    if isinstance(state_dict, Mapping):
        wrapped = (state_dict.get(name) for name in _WRAPPED)
        if (
            inner := next((value for value in wrapped if isinstance(value, Mapping)), None)
        ) is not None:
            return read_state_dict(inner)
        return {name: _as_array(name, value) for name, value in state_dict.items()}
    path = Path(state_dict)
    if path.is_file():
        check_file(path)
    if path.name.endswith(_INDEX):
        return _read_shards(path)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    if path.suffix not in _TORCH_SUFFIXES:
        raise ValueError(
            "`state_dict` must be a dict or the path of a .safetensors file or of a .pt, .pth or "
            f".bin file of PyTorch. Received: {path}."
        )
    content = read_tensors(path)
    if not isinstance(content, Mapping):
        raise ValueError(
            f"A file of PyTorch must hold a state dict. Received: {type(content).__name__} in "
            f"{path}."
        )
    return read_state_dict(content)


def _read_shards(path):
    """Reads the files that an index lists: `weight_map`, from the name of a weight to its file."""
    rule = "The index of shards must have a `weight_map` from names of weights to files beside it."
    places = read_json(path, _Index, rule=rule)["weight_map"]
    files = sorted({*places.values()})
    if not files or not all(Path(file).name == file for file in files):
        raise ValueError(f"{rule} Received: {str(path)!r}.")
    weights = {}
    for file in files:
        shard = path.with_name(file)
        if not shard.is_file():
            raise FileNotFoundError(
                f"All shards must lie beside their index. Received: {str(path)!r}, without {file}."
            )
        arrays = read_state_dict(shard)
        wanted = {name for name, place in places.items() if place == file}
        if wanted != arrays.keys():
            odd = sorted(wanted ^ arrays.keys())[0]
            raise ValueError(
                "A shard must hold the weights that its index lists. Received: "
                f"{odd!r} in only one of {str(shard)!r} and {str(path)!r}."
            )
        weights |= arrays
    return weights


def _as_array(name, value):
    if hasattr(value, "detach"):  # A tensor of PyTorch, which need not be imported for this.
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        value = value.numpy()
    array = np.asarray(value)
    if array.dtype.kind != "f":
        raise ValueError(
            f"Weights must be floating-point numbers. Received: {name!r} of dtype {array.dtype}."
        )
    return array


def _read_safetensors(path):
    """Reads a file of https://huggingface.co/docs/safetensors: header size, JSON header, data.

    Each array is mapped by itself, so that its memory is freed after its use.
    """
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        size = path.stat().st_size
        content = file.read(max(0, min(start, size, _MOST_OF_HEADER) - 8))
    try:
        header = parse_json(content)
        header.pop("__metadata__", None)
        check_schema(header, dict[str, _TensorEntry], "the header")
    except ValueError as error:
        raise ValueError(
            "A .safetensors file must begin with a header of tensors. "
            f"Received: {str(path)!r} ({error})."
        ) from error
    _check_apart(path, header)
    return {name: _safetensor(path, name, entry, start) for name, entry in header.items()}


def _check_apart(path, header):
    """Raises a ValueError if tensors share bytes."""
    places = sorted((*entry["data_offsets"], name) for name, entry in header.items())
    for (_, end, name), (begin, _, next_name) in itertools.pairwise(places):
        if begin < end:
            raise ValueError(
                f"The tensors of a .safetensors file must not overlap. Received: {name!r} and "
                f"{next_name!r} in {path}."
            )


def _safetensor(path, name, entry, start):
    if entry["dtype"] not in _SAFETENSORS_DTYPES:
        raise ValueError(
            f"Weights must be one of {', '.join(_SAFETENSORS_DTYPES)}. "
            f"Received: {name!r} of dtype {entry['dtype']}, in {path}."
        )
    dtype = np.dtype(_SAFETENSORS_DTYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    shape, stored = tuple(entry["shape"]), path.stat().st_size - start
    is_inside = 0 <= begin <= end <= stored and min(shape, default=0) >= 0
    if not is_inside or end - begin != dtype.itemsize * math.prod(shape):
        raise ValueError(
            f"A .safetensors file must hold all bytes of its tensors. Received: {name!r} of shape "
            f"{entry['shape']} at bytes {begin} to {end} of {stored}, in {path}."
        )
    if begin == end:
        return np.zeros(shape, dtype)
    array = np.memmap(path, dtype, "r", start + begin, shape)
    return from_bfloat16(array) if entry["dtype"] == "BF16" else array
