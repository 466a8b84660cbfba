"""The settings of a network of Marian: which a `Transformer` computes, and its sizes."""

import re
from collections.abc import Mapping

_ACTIVATIONS = {"swish": "swish", "relu": "relu"}
_CELLS = {"self-attention": "attention", "rnn": "ssru"}  # Decoder cells, by Marian's setting.
_NEEDED = {  # Values that a `Transformer` computes, by setting: the first is the default.
    "type": ("transformer",),
    "transformer-decoder-autoreg": tuple(_CELLS),
    "transformer-preprocess": ("", "d"),
    "transformer-postprocess": ("dan", "an"),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-postprocess-top": ("", "d"),
    "transformer-ffn-activation": tuple(_ACTIVATIONS),
    "transformer-train-position-embeddings": ("false",),
    "transformer-disable-position-embeddings": ("false",),
    "transformer-attention-mask": ("default",),
    "transformer-pool": ("false",),
    "transformer-tied-layers": ("[]",),
    "transformer-decoder-dim-ffn": ("0",),
    "transformer-decoder-ffn-depth": ("0", "2"),
    "transformer-ffn-depth": ("2",),
    "transformer-no-projection": ("false",),
    "transformer-no-affine": ("false",),
    "transformer-no-bias": ("false",),
    "right-left": ("false",),
    "ulr": ("false",),
}
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
_ALIGNMENT = "transformer-guided-alignment-layer"  # Marian aligns by its first head.
_NUMBER = re.compile("[0-9]{1,9}")


def network_config(settings: Mapping, where: str) -> dict:
    """Returns the sizes by their names in Hugging Face's config.json, "activation" and "cell".

    And "alignment_layer", the index of the decoder's layer that aligns words, if it is named.

    Args:
        settings: Settings of Marian, as YAML has them.
        where: Path of the model, for messages.

    Raises:
        ValueError: A `Transformer` cannot compute the network, or a number is missing.
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
    config = {**sizes, "activation": _ACTIVATIONS[activation], "cell": cell}
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
