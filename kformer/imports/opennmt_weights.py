"""The weights in a checkpoint of OpenNMT-py.

Axes: D d_model, V vocabulary.
"""

import re
from pathlib import Path

import numpy as np

from kformer.imports.assembly import PretrainedNetwork, network_with, positions_in_table
from kformer.imports.toolkit_settings import ToolkitSettings, settings_in

_EPSILON = 1e-6  # Of norms, if no setting gives it.
_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "swish"}
_LAYER = re.compile(r"(encoder|decoder)\.transformer(?:_layers)?\.(\d+)\.(.+)\.(\w+)")
_MODULES = {
    **{
        f"{attention}.{projection}": f"{module}.{name}"
        for attention, module in (("self_attn", "self_attn"), ("context_attn", "encoder_attn"))
        for projection, name in (
            ("linear_query", "q_proj"),
            ("linear_keys", "k_proj"),
            ("linear_values", "v_proj"),
            ("final_linear", "out_proj"),
        )
    },
    "layer_norm": "self_attn_layer_norm",
    "layer_norm_1": "self_attn_layer_norm",
    "layer_norm_2": "encoder_attn_layer_norm",
    "feed_forward.w_1": "fc1",
    "feed_forward.w_2": "fc2",
    "feed_forward.layer_norm": "final_layer_norm",
}
_OLD_KINDS = {"a_2": "weight", "b_2": "bias"}  # Of norms.
_EMBEDDING = "{}.embeddings.make_embedding"


def network_of(
    content: dict, settings: ToolkitSettings, sizes: list, tables: list, path: Path
) -> PretrainedNetwork:
    """Returns the `PretrainedNetwork` of a checkpoint."""
    generator = settings_in(content.get("generator"))
    weights = {**content["model"], **{f"generator.{n}": array for n, array in generator.items()}}
    source, target = (
        _take_table(weights, side, size, path)
        for side, size in zip(("encoder", "decoder"), sizes, strict=True)
    )
    output, bias = (
        _take_first(weights, path, *(f"generator.{prefix}{kind}" for prefix in ("", "0.")))
        for kind in ("weight", "bias")
    )
    if output.shape != target.shape:
        raise ValueError(
            f"The output must have the shape of the target's table, {target.shape}. "
            f"Received: {output.shape} in {str(path)!r}."
        )
    d_model = source.shape[1]
    positions, sines_first = _take_positions(weights, d_model, path)
    layers = dict(map(_renamed, weights.items()))
    for name in [name for name in layers if name.endswith(".weight")]:  # Not all have biases.
        layers.setdefault(name.replace(".weight", ".bias"), np.zeros(len(layers[name]), "f4"))
    inner = layers.get("encoder.layers.0.fc1.weight", source)
    network = {
        "num_layers": settings.number("enc_layers"),
        "num_decoder_layers": settings.number("dec_layers"),
        "d_model": d_model,
        "num_heads": settings.number("heads"),
        "d_ff": len(inner),
        "norm_first": True,
        "activation": settings.choice("pos_ffn_activation_fn", _ACTIVATIONS, "relu"),
        "padding_id": tables[0].pieces.index(tables[0].padding),
        "ignored_source_id": tables[0].pieces.index(tables[0].end),
        "norm_epsilon": settings.values.get("norm_eps") or _EPSILON,
        **positions,
    }
    matrices = source, target, output
    return network_with(network, matrices, bias, layers, tables, sines_first)


def _take_first(weights, path, *names):
    arrays = [weights.pop(name) for name in names if name in weights]
    if not arrays:
        raise ValueError(
            "A checkpoint of OpenNMT-py must hold all weights. "
            f"Received: no {names[0]!r} in {str(path)!r}."
        )
    return arrays[0]


def _take_table(weights, side, size, path):
    name = f"{_EMBEDDING.format(side)}.emb_luts.0.weight"
    table = _take_first(weights, path, name)
    if table.ndim != 2 or len(table) != size:
        raise ValueError(
            f"The vocabularies must fit the weights: {name!r} must have {size} rows. "
            f"Received: shape {table.shape} in {str(path)!r}."
        )
    return table


def _take_positions(weights, d_model, path):
    """Removes the tables of positions; returns their settings, by `positions_in_table`."""
    positions = []
    for side in ("encoder", "decoder"):
        table = weights.pop(f"{_EMBEDDING.format(side)}.pe.pe", None)
        table = None if table is None else table.reshape(len(table), -1)
        fits = table is not None and table.shape[1] == d_model
        positions.append(positions_in_table(table, d_model) if fits else None)
    if None in positions or positions[0] != positions[1]:
        raise ValueError(
            "Positions must be sines and cosines, the same on both sides. "
            f"Received: others, or none, in {str(path)!r}."
        )
    return positions[0]


def _renamed(item):
    """Returns the name in MarianMTModel, and the array."""
    name, array = item
    match = _LAYER.fullmatch(name)
    if match:
        side, number, module, kind = match.groups()
        kind = _OLD_KINDS.get(kind, kind)
        # A weight without a name there is refused by its own.
        if module in _MODULES:
            name = f"{side}.layers.{number}.{_MODULES[module]}.{kind}"
    for old, new in _OLD_KINDS.items():
        name = re.sub(rf"layer_norm\.{old}$", f"layer_norm.{new}", name)
    return name, array
