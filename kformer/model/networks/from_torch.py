"""Layers and stacks with the weights of PyTorch's `nn.Transformer` and of its parts.

Axes: D d_model, F d_ff.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kformer.model.decoder import Decoder, DecoderLayer
from kformer.model.encoder import Encoder, EncoderLayer
from kformer.model.stack import DROPOUT

_SAFETENSORS_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def from_torch(
    state_dict,
    num_heads: int,
    *,
    norm_first: bool = False,
    activation: str = "relu",
    dropout: float = DROPOUT,
    dtype=None,
):
    """Returns the layer or stack of kformer that computes what a module of PyTorch computes.

    The names of the weights decide which one it is:

    | module of `torch.nn` | result |
    |---|---|
    | `TransformerEncoderLayer`, `TransformerDecoderLayer` | `EncoderLayer`, `DecoderLayer` |
    | `TransformerEncoder`, `TransformerDecoder` | `Encoder`, `Decoder` |
    | `Transformer` | a pair of `Encoder` and `Decoder`: it has no embeddings |

    Inputs are batch first, and masks are True where a position may be attended to: the opposite of
    PyTorch's. A module with `bias=False` gets biases of zero. The module's `layer_norm_eps` must be
    1e-5, PyTorch's default. In training, PyTorch also applies dropout to the attention weights and
    inside the feed-forward network. The modules are described in
    [PyTorch's documentation](https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html).

    Args:
        state_dict: What `module.state_dict()` returned, of tensors or of NumPy arrays; or the path
            of a `.safetensors` file, or of a `.pt` or `.pth` file, which is read with PyTorch.
        num_heads: The module's `nhead`, which its weights do not show.
        norm_first, activation, dropout: As the module's own; `activation` is "relu" or "gelu", for
            PyTorch's `relu` and `gelu`, or "swish", for `silu`.
        dtype: dtype or dtype policy of the result; Keras's own if None. The weights are converted.

    Raises:
        ValueError: A weight is missing, has another shape or has no place; the message names it.
            Or the width is no multiple of `num_heads`, or the file has another format.
        ImportError: A `.pt` file needs PyTorch, which is not installed.
    """
    weights = _Weights(_read(state_dict))
    d_model, d_ff = weights.widths()
    settings = {
        "d_model": d_model,
        "num_heads": num_heads,
        "d_ff": d_ff,
        "dropout": dropout,
        "norm_first": norm_first,
        "activation": activation,
        "dtype": dtype,
    }
    is_decoder = weights.have("multihead_attn.")
    if weights.have("encoder.layers.") or weights.have("decoder.layers."):
        made = (
            _stack(Encoder, weights, "encoder.", settings),
            _stack(Decoder, weights, "decoder.", settings),
        )
    elif weights.have("layers."):
        made = _stack(Decoder if is_decoder else Encoder, weights, "", settings)
    else:
        made = (DecoderLayer if is_decoder else EncoderLayer)(**settings)
        made.build()
        _fill_layer(made, weights, "")
    weights.check_all_taken()
    return made


class _Weights:
    """The arrays of a state dict, each to be taken once.

    Args:
        arrays: dict from name to float array.
    """

    def __init__(self, arrays):
        self._arrays = arrays
        self._biased = any(
            name.endswith("bias") and not f".{name}".endswith(".norm.bias") for name in arrays
        )

    def have(self, part):
        """Returns whether a name has `part` at its beginning or after a dot."""
        return any(f".{part}" in f".{name}" for name in self._arrays)

    def widths(self):
        """Returns D and F."""
        for name, array in self._arrays.items():
            if name.endswith("linear1.weight") and array.ndim == 2:
                d_ff, d_model = array.shape
                return d_model, d_ff
        raise ValueError(
            "The weights must be those of PyTorch's `nn.Transformer` or of a part of it, with a "
            f"matrix `linear1.weight`. Received: {', '.join(self._arrays) or 'no weights':.200}."
        )

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

    def check_all_taken(self):
        """Raises a ValueError that names the weights which nothing took."""
        if self._arrays:
            raise ValueError(
                "The state dict must have no weights beside those of the layers. "
                f"Received: {', '.join(map(repr, self._arrays)):.200}."
            )


def _stack(stack_class, weights, prefix, settings):
    final_norm = weights.have(f"{prefix}norm.")
    num_layers = weights.num_layers(prefix)
    stack = stack_class(num_layers, final_norm=final_norm, **settings)
    stack.build()
    for i, layer in enumerate(stack.layers):
        _fill_layer(layer, weights, f"{prefix}layers.{i}.")
    if final_norm:
        _fill_norm(stack.norm, weights, f"{prefix}norm.", stack.d_model)
    return stack


def _fill_layer(layer, weights, prefix):
    if isinstance(layer, DecoderLayer):
        attentions = {"self_attn": layer.self_attention, "multihead_attn": layer.cross_attention}
        residuals = (layer.self_residual, layer.cross_residual, layer.feed_forward_residual)
    else:
        attentions = {"self_attn": layer.attention}
        residuals = (layer.attention_residual, layer.feed_forward_residual)
    for name, attention in attentions.items():
        _fill_attention(attention, weights, f"{prefix}{name}.")
    d_model, d_ff = layer.d_model, layer.d_ff
    _fill_dense(layer.feed_forward.inner, weights, f"{prefix}linear1.", d_ff, d_model)
    _fill_dense(layer.feed_forward.outer, weights, f"{prefix}linear2.", d_model, d_ff)
    for i, residual in enumerate(residuals, 1):
        _fill_norm(residual.norm, weights, f"{prefix}norm{i}.", d_model)


def _fill_attention(attention, weights, prefix):
    d_model = attention.d_model
    # (3 D, D): queries, keys and values, one below the other.
    kernels = np.split(weights.take(f"{prefix}in_proj_weight", 3 * d_model, d_model), 3)
    biases = np.split(weights.take_bias(f"{prefix}in_proj_bias", 3 * d_model), 3)
    projections = attention.query_projection, attention.key_projection, attention.value_projection
    for projection, kernel, bias in zip(projections, kernels, biases, strict=True):
        projection.set_weights([kernel.T, bias])
    _fill_dense(attention.output_projection, weights, f"{prefix}out_proj.", d_model, d_model)


def _fill_dense(dense, weights, prefix, outputs, inputs):
    kernel = weights.take(f"{prefix}weight", outputs, inputs)
    dense.set_weights([kernel.T, weights.take_bias(f"{prefix}bias", outputs)])


def _fill_norm(norm, weights, prefix, d_model):
    gamma = weights.take(f"{prefix}weight", d_model)
    norm.set_weights([gamma, weights.take_bias(f"{prefix}bias", d_model)])


def _read(state_dict):
    """Returns a dict from name to float array; see `from_torch`."""
    if isinstance(state_dict, Mapping):
        return {name: _as_array(name, value) for name, value in state_dict.items()}
    path = Path(state_dict)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    if path.suffix in (".pt", ".pth"):
        return _read(_load_with_torch(path))
    raise ValueError(
        "`state_dict` must be a dict or the path of a .safetensors, .pt or .pth file. "
        f"Received: {path}."
    )


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


def _load_with_torch(path):
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError(
            "A .pt file can be read only with PyTorch: install kformer[torch], or save the weights "
            f"as .safetensors. Received: {path}."
        ) from error
    content = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(content, Mapping):
        raise ValueError(
            f"A .pt file must hold a state dict. Received: {type(content).__name__} in {path}."
        )
    return content


def _read_safetensors(path):
    """Reads a file of https://huggingface.co/docs/safetensors: header size, JSON header, data."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    data = memoryview(content)[start:]
    try:
        header = json.loads(content[8:start])
        header.pop("__metadata__", None)
        return {name: _safetensor(name, entry, data) for name, entry in header.items()}
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"A .safetensors file must begin with a header of tensors. Received: {path}."
        ) from error


def _safetensor(name, entry, data):
    if entry["dtype"] not in _SAFETENSORS_DTYPES:
        raise ValueError(
            f"Weights must be one of {', '.join(_SAFETENSORS_DTYPES)}. "
            f"Received: {name!r} of dtype {entry['dtype']}."
        )
    dtype = np.dtype(_SAFETENSORS_DTYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    size = dtype.itemsize * np.prod(entry["shape"])
    if not 0 <= begin <= end <= len(data) or end - begin != size:
        raise ValueError(
            f"A .safetensors file must hold all bytes of its tensors. Received: {name!r} of shape "
            f"{entry['shape']} at bytes {begin} to {end} of {len(data)}."
        )
    array = np.frombuffer(data[begin:end], dtype)
    if entry["dtype"] == "BF16":  # The upper half of a float32.
        array = (array.astype("<u4") << 16).view("<f4")
    return array.reshape(entry["shape"])
