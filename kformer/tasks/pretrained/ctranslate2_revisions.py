"""Variables of older models of CTranslate2, under the names and with the settings of today's.

Before version 6 of model.bin, what config.json holds today were variables, too.
"""

import re

import numpy as np

KIND = "TransformerSpec"
_HEADS = {"": 8, "TransformerBase": 8, "TransformerBig": 16}  # Of kinds that did not store them.
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
    """Returns the kind and the variables that a model would have today.

    Args:
        kind, revision: Of the model. Other kinds than those of a Transformer stay as they are.
        variables: dict by name.
    """
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
    for name in ("embeddings_merge", "alignment_layer", "alignment_heads"):
        variables.pop(name, None)  # Of the weights of words alone, and of alignments.
    for side in ("encoder", "decoder"):
        scale = variables.pop(f"{side}/{_OLD_SCALE}", None)
        given = joint | {"scale_embeddings": scale}
        for name, default in _DEFAULTS.items():
            value = given.get(name)
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
