"""The weights of a model of CTranslate2, named as in Hugging Face's MarianMTModel.

CTranslate2 joins the projections of one input to one layer: query, key and value of self-attention,
key and value of the attention to the memory.

Axes: D d_model, V vocabulary.
"""

import re
from typing import Any

import numpy as np

from kformer.imports.assembly import (
    PretrainedNetwork,
    decoder_width,
    head_of,
    network_with,
    positions_in_table,
    tensor2tensor_positions,
)
from kformer.imports.ctranslate2_file import KIND
from kformer.text.alignment import AlignmentHead

_ACTIVATIONS = {0: "relu", 2: "swish", 3: "gelu"}
_OTHER_ACTIVATIONS = {
    1: "GELU by tanh",
    4: "GELU by the logistic function",
    5: "tanh",
    6: "sigmoid",
}
_FEATURES = {  # Unsupported features, by a part of a variable's name.
    "relative_": "relative positions",
    "rotary_": "rotary positions",
    "num_heads_kv": "fewer heads for keys than for queries",
    "linear_0_noact": "gated feed-forward networks",
    "layernorm_embedding": "a norm of the embedded ids",
    "q_norm": "a norm of the queries",
    "sliding_window": "a sliding window",
    "project_in": "a projection of the embedded ids",
    "embeddings_1": "several vectors for each id of the source",
    "_layer_norm/": "norms around each sub-layer",
    "weight_zero": "weights of 4 bits",
}
_FLAGS = {  # Unsupported features, by a variable that is not 0.
    "decoder/alibi": "ALiBi",
    "encoder/multi_query_attention": "one head for all keys",
}
_SETTINGS = {"num_heads", "pre_norm", "activation", "scale_embeddings"}
_ALIGNMENT = ("decoder/alignment_layer", "decoder/alignment_heads")
_UNREAD = {  # They have no effect on translations.
    "encoder/embeddings_merge",
    *_ALIGNMENT,
    "decoder/alibi_use_positive_positions",
    "decoder/scale_alibi",
}
_START = "decoder/start_from_zero_embedding"
_SOURCE, _TARGET = "encoder/embeddings_0/weight", "decoder/embeddings/weight"
_PROJECTION = "decoder/projection"
_POSITIONS = "position_encodings/encodings"


class CTranslate2Weights:
    """The variables of a model.bin.

    Args:
        kind, variables: From `as_current`.
        path: For messages.

    Raises:
        ValueError: The model has parts that a `kformer.Transformer` lacks.
    """

    def __init__(self, kind: Any, variables: Any, path: Any):
        self._variables = variables
        self._path = str(path)
        if kind != KIND:
            self._refuse(f"Only a {KIND} of CTranslate2 is a Transformer.", kind)
        for part, words in _FEATURES.items():
            if variable := next((name for name in variables if part in name), None):
                self._refuse_feature(words, variable)
        for name in [name for name in variables if name.endswith("layer_norm/gamma")]:
            if name.replace("gamma", "beta") not in variables:
                self._refuse_feature("RMSNorm", f"no beta beside {name}")
        for name, words in _FLAGS.items():
            if variables.get(name, 0):
                self._refuse_feature(words, name)

    @property
    def starts_from_zero(self) -> bool:
        """Whether the first input of the decoder is a vector of zeros, whatever its id."""
        return bool(self._variables.get(_START, 0))

    def alignment_head(self, settings: dict) -> AlignmentHead | None:
        """Returns the head that aligns words, given the settings of the `PretrainedNetwork`."""
        values = [self._variables.get(name) for name in _ALIGNMENT]
        if None in values:
            return None
        layer, heads = map(int, values)
        return head_of(layer, heads, settings)

    def network(self, tables: Any, sizes: Any, padding_id: int) -> PretrainedNetwork:
        """Returns the `PretrainedNetwork`."""
        left = dict(self._variables)
        settings = {name: self._take_both(left, name) for name in _SETTINGS}
        source, target = self._take(left, _SOURCE), self._take(left, _TARGET)
        d_model = source.shape[1]
        scale = settings.pop("scale_embeddings")
        # An integer is a flag, a float the scale itself.
        if not (scale if isinstance(scale, int) else scale == np.float32(d_model**0.5)):
            self._refuse("Embeddings must be scaled by the root of d_model.", f"scale {scale}")
        for name, table, size in zip(("source", "target"), (source, target), sizes, strict=True):
            if len(table) != size:
                rule = (
                    f"The {name} vocabulary must fit the weights: {size} pieces need as many rows."
                )
                self._refuse(rule, f"{len(table)} rows")
        output = self._take(left, f"{_PROJECTION}/weight")
        if output.shape != target.shape:
            rule = f"The output must have the shape of the target's table, {target.shape}."
            self._refuse(rule, output.shape)
        bias = left.pop(f"{_PROJECTION}/bias", None)
        positions, sines_first = self._positions(left, d_model)
        for name in (_START, *_FLAGS, *_UNREAD):
            left.pop(name, None)
        layers = self._layers(left)
        # Without these weights, a model is refused by the name of the first that is missing.
        widths = [
            layers.get(f"{side}.layers.0.fc1.weight", source[:1]).size // d_model
            for side in ("encoder", "decoder")
        ]
        settings = {
            "num_layers": _count(layers, "encoder"),
            "num_decoder_layers": _count(layers, "decoder"),
            "d_model": d_model,
            "num_heads": int(settings["num_heads"]),
            "d_ff": widths[0],
            **decoder_width(*widths),
            "norm_first": bool(settings["pre_norm"]),
            "activation": self._activation(settings["activation"]),
            "padding_id": padding_id,
            **positions,
        }
        if bias is None and len(target) < len(tables[1].pieces):
            bias = np.zeros(len(target), np.float32)
        matrices = source, target, output
        return network_with(settings, matrices, bias, layers, tables, sines_first)

    def _take(self, left, name):
        if name not in left:
            self._refuse("A model.bin must hold all variables of a Transformer.", f"no {name}")
        return left.pop(name)

    def _take_both(self, left, name):
        values = [self._take(left, f"{side}/{name}").item() for side in ("encoder", "decoder")]
        if values[0] != values[1]:
            self._refuse(f"Encoder and decoder must have the same {name}.", values)
        return values[0]

    def _activation(self, number):
        if number not in _ACTIVATIONS:
            names = ", ".join(_ACTIVATIONS.values())
            received = _OTHER_ACTIVATIONS.get(number, number)
            self._refuse(f"The activation must be one of {names}.", received)
        return _ACTIVATIONS[number]

    def _positions(self, left, d_model):
        """Removes the tables of positions; returns their settings, by `positions_in_table`."""
        tables = [left.pop(f"{side}/{_POSITIONS}", None) for side in ("encoder", "decoder")]
        if all(table is None for table in tables):  # Computed, in models of OpenNMT-tf.
            return tensor2tensor_positions(d_model, first=1), True
        positions = [table is not None and positions_in_table(table, d_model) for table in tables]
        for side, known in zip(("encoder", "decoder"), positions, strict=True):
            if not known:
                self._refuse(
                    "Positions must be sines and cosines as in the paper, OpenNMT-tf or fairseq.",
                    f"a table of others, learned or computed, of the {side}",
                )
        if positions[0] != positions[1]:
            self._refuse("Encoder and decoder must have the same positions.", "two kinds")
        return positions[0]

    def _layers(self, left):
        """Returns the weights of the layers by their names in MarianMTModel."""
        layers = dict(renamed for item in left.items() for renamed in self._renamed(*item))
        for name in [name for name in layers if name.endswith(".weight")]:
            # OpenNMT-py can do without some biases.
            layers.setdefault(name.replace(".weight", ".bias"), np.zeros(len(layers[name]), "f4"))
        return layers

    def _renamed(self, name, array):
        """Yields pairs of the name in MarianMTModel, and the array."""
        match = re.fullmatch(
            r"(encoder|decoder)/(?:layer_(\d+)/)?((?:\w+/)*)(weight|bias|gamma|beta)", name
        )
        place, pieces = _place(match) if match else (None, None)
        if place is None or not array.ndim or len(array) % len(pieces):
            self._refuse("All variables must be those of a Transformer.", name)
        kind = {"gamma": "weight", "beta": "bias"}.get(match[4], match[4])
        for piece, part in zip(pieces, np.split(array, len(pieces)), strict=True):
            yield f"{match[1]}.{place}{piece}.{kind}", part

    def _refuse_feature(self, words, received):
        self._refuse(f"Models of CTranslate2 with {words} cannot be imported.", received)

    def _refuse(self, rule, received):
        raise ValueError(f"{rule} Received: {received} in {self._path!r}.")


_ATTENTIONS = {"self_attention": "self_attn", "attention": "encoder_attn"}
_SPLIT = {  # The linear layers of the two kinds of attention.
    "self_attention": (("q_proj", "k_proj", "v_proj"), ("out_proj",)),
    "attention": (("q_proj",), ("k_proj", "v_proj"), ("out_proj",)),
}
_FEED_FORWARD = {"linear_0": "fc1", "linear_1": "fc2", "layer_norm": "final_layer_norm"}


def _place(match):
    """Returns the name of a layer in MarianMTModel, and the names of the modules joined in it."""
    _, layer, path, _ = match.groups()
    path = path.rstrip("/").split("/")
    if layer is None:
        return ("", ["layer_norm"]) if path == ["layer_norm"] else (None, None)
    place = f"layers.{layer}."
    sublayer, *modules = path
    module = modules[0] if len(modules) == 1 else None
    if sublayer in _ATTENTIONS and module == "layer_norm":
        return place, [f"{_ATTENTIONS[sublayer]}_layer_norm"]
    if sublayer in _ATTENTIONS and (number := re.fullmatch(r"linear_(\d)", module or "")):
        joined = _SPLIT[sublayer]
        if int(number[1]) < len(joined):
            return f"{place}{_ATTENTIONS[sublayer]}.", joined[int(number[1])]
    if sublayer == "ffn" and module in _FEED_FORWARD:
        return place, [_FEED_FORWARD[module]]
    return None, None


def _count(layers, side):
    numbers = {name.split(".")[2] for name in layers if name.startswith(f"{side}.layers.")}
    return len(numbers)
