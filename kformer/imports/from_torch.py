"""Layers and stacks with the weights of PyTorch's `nn.Transformer` and of its parts.

Axes: D d_model, F d_ff.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kformer.imports.state_dict import StateDict, read_state_dict
from kformer.model.decoder import Decoder, DecoderLayer
from kformer.model.encoder import Encoder, EncoderLayer
from kformer.model.residual import EPSILON
from kformer.model.stack import DROPOUT

_WRAPPERS = {"_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
_MODULE_NAME = re.compile(  # Where the names of `nn.Transformer` or of a part of it begin.
    r"(?:^|\.)((?:(?:en|de)coder\.)?(?:layers\.\d+|norm)|self_attn|multihead_attn|linear[12]|norm[123])"
    r"\."
)


def from_torch(
    state_dict: Mapping[str, Any] | str | Path,
    num_heads: int,
    *,
    norm_first: bool = False,
    activation: str = "relu",
    dropout: float = DROPOUT,
    norm_epsilon: float = EPSILON,
    dtype: str | keras.DTypePolicy | None = None,
):
    """Returns the layer or stack of kformer that computes the same as a module of PyTorch.

    The names of the weights decide which one it is:

    - `TransformerEncoderLayer`, `TransformerDecoderLayer` of `torch.nn`: an `EncoderLayer` or a
      `DecoderLayer`.
    - `TransformerEncoder`, `TransformerDecoder`: an `Encoder` or a `Decoder`.
    - `Transformer`: a pair of `Encoder` and `Decoder`; it has no embeddings.

    Inputs are batch first, and masks are True where a position may be attended to: the opposite of
    PyTorch's. A module with `bias=False`, or a last norm without bias, gets biases of zero. In
    training, PyTorch also applies dropout to the attention weights and inside the feed-forward
    network. The modules are described in [PyTorch's
    documentation](https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html).

    Args:
        state_dict: Result of `module.state_dict()`, of tensors or of NumPy arrays; or a dict
            that holds it as "state_dict", "model_state_dict" or "model"; or the path of a
            `.safetensors` file, or of a `.pt`, `.pth` or `.bin` file of PyTorch, which hold one of
            these. Files are read without PyTorch, and nothing from them is run. Parts of names that
            `torch.compile` and parallel training add are left out, and so is a common beginning
            of all names.
        num_heads: The module's `nhead`, which its weights do not show.
        norm_first, activation, dropout: As the module's own; `activation` is "relu" or "gelu", for
            PyTorch's `relu` and `gelu`, or "swish", for `silu`.
        norm_epsilon: The module's `layer_norm_eps`.
        dtype: dtype or dtype policy of the result; Keras's own if None. The weights are converted.

    Raises:
        ValueError: A weight is missing, has another shape or has no place; the message names it.
            Or the width is no multiple of `num_heads`, or the file has another format.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> shapes = {"self_attn.in_proj_weight": (96, 32), "self_attn.out_proj.weight": (32, 32)}
        >>> shapes |= {"linear1.weight": (64, 32), "linear2.weight": (32, 64)}
        >>> shapes |= {"norm1.weight": (32,), "norm2.weight": (32,)}  # Made with `bias=False`.
        >>> weights = {name: np.ones(shape) for name, shape in shapes.items()}
        >>> print(kformer.from_torch(weights, num_heads=4)(np.ones((2, 7, 32))).shape)
        (2, 7, 32)
    """
    weights = StateDict(_own_names(read_state_dict(state_dict)))
    d_model, d_ff = _widths(weights)
    settings = {
        "d_model": d_model,
        "num_heads": num_heads,
        "d_ff": d_ff,
        "dropout": dropout,
        "norm_first": norm_first,
        "activation": activation,
        "norm_epsilon": norm_epsilon,
        "dtype": dtype,
    }
    is_decoder = weights.have("multihead_attn.")
    if weights.have("encoder.layers.") or weights.have("decoder.layers."):
        result = (
            _stack(Encoder, weights, "encoder.", settings),
            _stack(Decoder, weights, "decoder.", settings),
        )
    elif weights.have("layers."):
        result = _stack(Decoder if is_decoder else Encoder, weights, "", settings)
    else:
        result = (DecoderLayer if is_decoder else EncoderLayer)(**settings)
        result.build()
        _fill_layer(result, weights, "")
    weights.check_all_taken()
    return result


def _own_names(arrays):
    """Returns the arrays by the names that they have in `nn.Transformer` or in its part."""
    renamed = {}
    for name, array in arrays.items():
        own = ".".join(part for part in name.split(".") if part not in _WRAPPERS)
        if own in renamed:
            raise ValueError(
                "The names of weights must differ when those of wrappers are left out: "
                f"{', '.join(sorted(_WRAPPERS))}. Received: {own!r} twice."
            )
        renamed[own] = array
    matches = {name: _MODULE_NAME.search(name) for name in renamed}
    if not renamed or not all(matches.values()):
        return renamed  # Refused by the name that has no place.
    prefixes = {name[: match.start(1)] for name, match in matches.items()}
    if len(prefixes) == 1:
        [prefix] = prefixes
        renamed = {name.removeprefix(prefix): array for name, array in renamed.items()}
    return renamed


def _widths(weights):
    """Returns D and F."""
    for name in weights:
        if name.endswith("linear1.weight") and len(weights.shape(name)) == 2:
            d_ff, d_model = weights.shape(name)
            return d_model, d_ff
    raise ValueError(
        "The weights must be those of PyTorch's `nn.Transformer` or of a part of it, with a "
        f"matrix `linear1.weight`. Received: {', '.join(weights) or 'no weights':.200}."
    )


def _stack(stack_class, weights, prefix, settings):
    final_norm = weights.have(f"{prefix}norm.")
    num_layers = weights.num_layers(prefix)
    stack = stack_class(num_layers, final_norm=final_norm, **settings)
    stack.build()
    for i, layer in enumerate(stack.layers):
        _fill_layer(layer, weights, f"{prefix}layers.{i}.")
    if final_norm:
        weights.fill_norm(stack.norm, f"{prefix}norm.", stack.d_model)
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
    weights.fill_dense(layer.feed_forward.inner, f"{prefix}linear1.", d_ff, d_model)
    weights.fill_dense(layer.feed_forward.outer, f"{prefix}linear2.", d_model, d_ff)
    for i, residual in enumerate(residuals, 1):
        weights.fill_norm(residual.norm, f"{prefix}norm{i}.", d_model)


def _fill_attention(attention, weights, prefix):
    d_model = attention.d_model
    # (3 D, D): queries, keys and values, one below the other.
    kernels = np.split(weights.take(f"{prefix}in_proj_weight", 3 * d_model, d_model), 3)
    biases = np.split(weights.take_bias(f"{prefix}in_proj_bias", 3 * d_model), 3)
    projections = attention.query_projection, attention.key_projection, attention.value_projection
    for projection, kernel, bias in zip(projections, kernels, biases, strict=True):
        projection.set_weights([kernel.T, bias])
    weights.fill_dense(attention.output_projection, f"{prefix}out_proj.", d_model, d_model)
