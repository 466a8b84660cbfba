"""State dicts: weights of PyTorch by name, from memory or a file, to be taken one by one."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kformer.model.networks.torch_file import BFLOAT16, from_bfloat16, read_tensors

_SAFETENSORS_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": BFLOAT16}
_OF_TORCH = (".pt", ".pth", ".bin")


class StateDict:
    """The arrays of a state dict, each to be taken once.

    Args:
        arrays: dict from name to float array.
    """

    def __init__(self, arrays):
        self._arrays = arrays
        self._biased = any(
            name.endswith("bias") and not f".{name}".endswith(".norm.bias") for name in arrays
        )

    def __iter__(self):
        """Yields the names of the arrays that are left."""
        return iter(self._arrays)

    def shape(self, name):
        """Returns the shape of an array that is left."""
        return self._arrays[name].shape

    def have(self, part):
        """Returns whether a name has `part` at its beginning or after a dot."""
        return any(f".{part}" in f".{name}" for name in self._arrays)

    def num_layers(self, prefix):
        """Returns the number of layers below `prefix`, at least 1."""
        start = f"{prefix}layers."
        names = [name.removeprefix(start) for name in self._arrays if name.startswith(start)]
        return max(1, len({name.split(".")[0] for name in names}))

    def take(self, name, *shape):
        """Returns an array of this shape."""
        if name not in self._arrays:
            raise ValueError(f"The state dict must have all weights. Received: no {name!r}.")
        array = self._arrays.pop(name)
        if array.shape != shape:
            raise ValueError(
                f"The weights must fit each other: {name!r} must have shape {shape}. "
                f"Received: {array.shape}."
            )
        return array

    def take_bias(self, name, size):
        """As `take`; zeros if the module has no biases."""
        if not self._biased and name not in self._arrays:
            return np.zeros(size)
        return self.take(name, size)

    def fill_dense(self, dense, prefix, outputs, inputs):
        """Assigns the weights of an `nn.Linear` to a Dense layer."""
        kernel = self.take(f"{prefix}weight", outputs, inputs)
        dense.set_weights([kernel.T, self.take_bias(f"{prefix}bias", outputs)])

    def fill_norm(self, norm, prefix, d_model):
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


def read_state_dict(state_dict) -> dict:
    """Returns a dict from name to float array.

    Args:
        state_dict: dict of tensors or of NumPy arrays; or the path of a `.safetensors`, `.pt`,
            `.pth` or `.bin` file, which is read without PyTorch.

    Raises:
        ValueError: The file has another format, or a weight is no array of floats.
    """
    if isinstance(state_dict, Mapping):
        return {name: _as_array(name, value) for name, value in state_dict.items()}
    path = Path(state_dict)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    if path.suffix not in _OF_TORCH:
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

    The arrays are mapped, each by itself, so that memory is free again when one was used.
    """
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        size = path.stat().st_size
        content = file.read(max(0, min(start, size) - 8))
    try:
        header = json.loads(content)
        header.pop("__metadata__", None)
        return {name: _safetensor(path, name, entry, start) for name, entry in header.items()}
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"A .safetensors file must begin with a header of tensors. Received: {path}."
        ) from error


def _safetensor(path, name, entry, start):
    if entry["dtype"] not in _SAFETENSORS_DTYPES:
        raise ValueError(
            f"Weights must be one of {', '.join(_SAFETENSORS_DTYPES)}. "
            f"Received: {name!r} of dtype {entry['dtype']}, in {path}."
        )
    dtype = np.dtype(_SAFETENSORS_DTYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    shape, there = tuple(entry["shape"]), path.stat().st_size - start
    if not 0 <= begin <= end <= there or end - begin != dtype.itemsize * math.prod(shape):
        raise ValueError(
            f"A .safetensors file must hold all bytes of its tensors. Received: {name!r} of shape "
            f"{entry['shape']} at bytes {begin} to {end} of {there}, in {path}."
        )
    if begin == end:
        return np.zeros(shape, dtype)
    array = np.memmap(path, dtype, "r", start + begin, shape)
    return from_bfloat16(array) if entry["dtype"] == "BF16" else array
