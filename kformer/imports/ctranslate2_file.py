"""Reads model.bin of CTranslate2, of every version: the kind of model and its variables.

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

`as_current` gives the variables of older models today's names and defaults, and `take_config` reads
the settings that were variables before version 6, and are in config.json since then.
"""

import re
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.files import check_file
from kformer.imports.torch_file import BFLOAT16, from_bfloat16

KIND = "TransformerSpec"
_HEADS = {"": 8, "TransformerBase": 8, "TransformerBig": 16}  # By kinds that do not store them.
_FIRST_NAMES = {  # Of OpenNMT-tf, in the first revision; replaced once, in this order.
    "transformer/": "",
    ":0": "",
    "w_embs": "embeddings/weight",
    "kernel": "weight",
    "LayerNorm": "layer_norm",
    "dense": "projection",
    "conv1d_": "linear_",
    "conv1d": "linear_0",
}
_OF_BOTH_SIDES = ("num_heads", "pre_norm", "activation")
_DEFAULTS = {
    "num_heads": np.int8(8),
    "pre_norm": np.int8(1),
    "activation": np.int8(0),
    "scale_embeddings": np.int8(1),
}
_OLD_SCALE = "embeddings/multiply_by_sqrt_depth"
_TOKENS = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def as_current(kind: str, revision: int, variables: dict) -> tuple[str, dict]:
    """Returns the kind and the variables that a model would have today."""
    if kind not in (KIND, *_HEADS):
        return kind, variables
    if revision == 1:
        variables = {_renamed(name): value for name, value in variables.items()}
    variables = {
        name.replace("encoder/embeddings/weight", "encoder/embeddings_0/weight"): value
        for name, value in variables.items()
    }
    if revision < 3:
        variables.setdefault("num_heads", np.int8(_HEADS.get(kind, 8)))
    joint = {name: variables.pop(name, None) for name in _OF_BOTH_SIDES}
    variables.pop("embeddings_merge", None)  # Only for word features.
    for name in ("alignment_layer", "alignment_heads"):
        if name in variables:
            variables[f"decoder/{name}"] = variables.pop(name)
    for side in ("encoder", "decoder"):
        scale = variables.pop(f"{side}/{_OLD_SCALE}", None)
        stored = joint | {"scale_embeddings": scale}
        for name, default in _DEFAULTS.items():
            value = stored.get(name)
            variables.setdefault(f"{side}/{name}", default if value is None else value)
    return KIND, variables


def _renamed(name):
    for old, new in _FIRST_NAMES.items():
        name = name.replace(old, new, 1)
    if "encoder" in name:
        return name.replace("multi_head", "self_attention", 1)
    name = name.replace("masked_multi_head", "self_attention", 1)
    return name.replace("multi_head", "attention", 1)


def take_config(variables: dict) -> dict:
    """Removes the settings of an older model from its variables, and returns them.

    They have the names of config.json.
    """

    def flag(name, default=False):
        value = variables.pop(name, None)
        return default if value is None else bool(value)

    def text(name, default):
        value = variables.pop(name, None)
        return default if value is None else np.asarray(value, "i1").tobytes().decode("utf-8")

    config = {name: text(name, default) for name, default in _TOKENS.items()}
    config["add_source_bos"] = flag("with_source_bos")
    config["add_source_eos"] = flag("with_source_eos")
    starts_with_bos = flag("with_target_bos", True)
    start = config["bos_token"] if starts_with_bos else config["eos_token"]
    config["decoder_start_token"] = None if flag("user_decoder_start_tokens") else start
    return config


def is_setting(name: str) -> bool:
    """Returns whether a variable is one that `take_config` takes."""
    return bool(re.fullmatch(r"with_(source|target)_\w+|user_decoder_start_tokens|\w+_token", name))


VERSION = 6  # Versions 1 to 6 are read.
_FIRST_WITH_KIND, _FIRST_WITH_NAMES, _FIRST_WITH_DTYPE = 2, 3, 4
_DTYPES = ("<f4", "<i1", "<i2", "<i4", "<f2", BFLOAT16)
_BFLOAT16 = 5
_BY_WIDTH = {4: 0, 2: 2, 1: 1}  # dtypes by the bytes of a number, before version 4.
_SCALE_OF_INT16 = np.float32(1000)  # Where a model has none.
_SCALE = "weight_scale"


class ModelFile(NamedTuple):
    """The content of a model.bin.

    Attributes:
        version: Of the file.
        kind, revision: Of the model.
        variables: dict by name: weights as floats, and numbers.
    """

    version: int
    kind: str
    revision: int
    variables: dict


def read_variables(path: Path) -> ModelFile:
    """Reads a model.bin of version 1 to 6.

    Weights of 8 and 16 bits become float32. CTranslate2 computes with the same numbers, and also
    rounds the vectors that it multiplies with them.
    """
    check_file(path)
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
        second_names = []
        if version >= _FIRST_WITH_NAMES:
            second_names = [
                (content.string(), content.string()) for _ in range(*content.numbers("I"))
            ]
        content.check_end()
        variables |= {
            name: variables[variable] for name, variable in second_names if name.endswith(_SCALE)
        }
        variables = _without_scales(variables)
        second_names = {
            name: variables[variable]
            for name, variable in second_names
            if not name.endswith(_SCALE)
        }
        return ModelFile(version, kind, revision, variables | second_names)
    except (ValueError, KeyError, IndexError, struct.error) as error:
        raise ValueError(
            f"A model.bin of CTranslate2 of version 1 to {VERSION} must be whole: convert the "
            f"model again. Received: {str(path)!r} ({error})."
        ) from error


class _Content:
    """The bytes of the file, read from the beginning to the end."""

    def __init__(self, content: bytes):
        self._content, self._place = memoryview(content), 0

    def _take(self, size):
        taken = self._content[self._place : self._place + size]
        if len(taken) < size:
            raise ValueError("it ends too early")
        self._place += size
        return taken

    def numbers(self, form: str):
        form = f"<{form}"
        return struct.unpack(form, self._take(struct.calcsize(form)))

    def string(self):
        (size,) = self.numbers("H")
        return bytes(self._take(size))[:-1].decode("utf-8")

    def variable(self, has_dtype: bool):
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
    weights = {}
    for name, array in variables.items():
        if name.endswith(_SCALE):
            continue
        if is_setting(name):
            weights[name] = array
            continue
        if array.ndim and array.dtype.kind != "f":
            scale = variables.get(f"{name}_scale", array.dtype == "i2" and _SCALE_OF_INT16)
            if scale is False:
                raise ValueError(f"no {name}_scale")
            scale = np.asarray(scale, "f4")
            array = array.astype("f4") / (scale[:, None] if scale.ndim else scale)
        weights[name] = array.astype("f4", copy=False) if array.ndim else array
    return weights
