"""The settings of a network of Marian: which a `Transformer` computes, and its sizes."""

import re
from collections.abc import Mapping

_ACTIVATIONS = {"swish": "swish", "relu": "relu", "gelu": "gelu"}
_CELLS = {"self-attention": "attention", "rnn": "ssru"}  # Decoder cells, by Marian's setting.
_NEEDED = {  # Values that a `Transformer` computes, by setting: the first is the default.
    "type": ("transformer",),
    "transformer-decoder-autoreg": tuple(_CELLS),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-ffn-activation": tuple(_ACTIVATIONS),
    "transformer-train-position-embeddings": ("false",),
    "transformer-disable-position-embeddings": ("false",),
    "transformer-attention-mask": ("default",),
    "transformer-pool": ("false",),
    "transformer-tied-layers": ("[]",),
    "transformer-decoder-ffn-depth": ("0", "2"),
    "transformer-ffn-depth": ("2",),
    "transformer-no-projection": ("false",),
    "transformer-no-affine": ("false",),
    "transformer-no-bias": ("false",),
    "right-left": ("false",),
    "ulr": ("false",),
}
# What is done before and after each sub-layer, and after the last: n normalizes, a adds the
# sub-layer's input. d is dropout, which is for training only.
_STEPS = {
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-top": "",
}
_ORDERS = {("", "an", ""): False, ("n", "a", "n"): True}  # To `norm_first`.
_FIRST_PRE_NORM = (1, 11)  # Version; those before normalized the queries of self-attention only.
_VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})\b")
_NEEDED_OF_CELL = {  # Where the decoder is recurrent.
    "dec-cell": ("ssru",),
    "layer-normalization": ("false",),
    "transformer-rnn-projection": ("false",),
}
_SIZES = {
    "d_model": "dim-emb",
    "encoder_layers": "enc-depth",
    "decoder_layers": "dec-depth",
    "encoder_attention_heads": "transformer-heads",
    "encoder_ffn_dim": "transformer-dim-ffn",
}
_DECODER_WIDTH = "transformer-decoder-dim-ffn"  # 0 for that of the encoder.
_ALIGNMENT = "transformer-guided-alignment-layer"  # Marian aligns by its first head.
_NUMBER = re.compile("[0-9]{1,9}")


def network_config(settings: Mapping, where: str) -> dict:
    """Returns the sizes by their names in Hugging Face's config.json.

    And "activation", "cell" and "norm_first" of `Transformer`; and "alignment_layer", the index of
    the decoder's layer that aligns words, if it is named.
    """
    _check(settings, _NEEDED, where)
    cell = _CELLS[_value(settings, "transformer-decoder-autoreg", _NEEDED)]
    if cell == "ssru":
        _check(settings, _NEEDED_OF_CELL, where)
    lacking = [name for name in _SIZES.values() if not _NUMBER.fullmatch(str(settings.get(name)))]
    if lacking:
        raise ValueError(
            "The config of a model of Marian must hold numbers. Received: "
            f"{', '.join(f'{name}={settings.get(name)!r}' for name in lacking)} in {where!r}."
        )
    activation = _value(settings, "transformer-ffn-activation", _NEEDED)
    sizes = {name: int(settings[setting]) for name, setting in _SIZES.items()}
    sizes["decoder_ffn_dim"] = _decoder_width(settings, where) or sizes["encoder_ffn_dim"]
    config = {**sizes, "activation": _ACTIVATIONS[activation], "cell": cell}
    config["norm_first"] = _norm_first(settings, where)
    layer = str(settings.get(_ALIGNMENT, ""))
    if layer == "last" or _NUMBER.fullmatch(layer):
        config["alignment_layer"] = -1 if layer == "last" else int(layer) - 1
    return config


def _value(settings, name, needed):
    return str(settings.get(name, needed[name][0])).lower()


def _check(settings, needed, where):
    for name, among in needed.items():
        received = _value(settings, name, needed)
        if received not in among:
            raise ValueError(
                f"Models of Marian whose {name} is not {' or '.join(map(repr, among))} cannot be "
                f"imported. Received: {name}={received!r} in {where!r}."
            )


def _decoder_width(settings, where):
    """Returns the inner width of the decoder's feed-forward networks; 0 for the encoder's."""
    width = str(settings.get(_DECODER_WIDTH, 0))
    if not _NUMBER.fullmatch(width):
        raise ValueError(
            "The config of a model of Marian must hold numbers. "
            f"Received: {_DECODER_WIDTH}={width!r} in {where!r}."
        )
    return int(width)


def _norm_first(settings, where):
    """Returns whether sub-layers normalize their inputs, instead of their outputs."""
    received = {name: str(settings.get(name, default)) for name, default in _STEPS.items()}
    steps = tuple(value.replace("d", "") for value in received.values())
    if steps not in _ORDERS:
        raise ValueError(
            "Models of Marian must normalize after each sub-layer ('', 'dan', ''), or before each "
            "and after the last ('n', 'da', 'n'). Received: "
            f"{', '.join(f'{name}={value!r}' for name, value in received.items())} in {where!r}."
        )
    version = str(settings.get("version", ""))
    number = _VERSION.match(version)
    if _ORDERS[steps] and (not number or (int(number[1]), int(number[2])) < _FIRST_PRE_NORM):
        raise ValueError(
            "Models that normalize before each sub-layer must be of Marian 1.11 or newer: before, "
            "Marian normalized the queries of self-attention, but not its keys and values. "
            f"Received: version={version!r} in {where!r}."
        )
    return _ORDERS[steps]
