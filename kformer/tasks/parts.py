"""The parts of a network, with the number and the shapes of their weights."""

import re
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np

_NAMES = {  # Of the parts of a layer, by the name of the sub-layer.
    "attention": "self-attention",
    "self_attention": "self-attention",
    "ssru": "SSRU",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward",
    "head": "output",
}


class NetworkPart(NamedTuple):
    """Weights of the same purpose.

    Attributes:
        name: Such as "encoder, self-attention"; all layers of a stack together.
        parameters: Number of weights.
        bytes: Their size in memory.
        shapes: Of the matrices, in words, such as "8 of 128 x 128".
    """

    name: str
    parameters: int
    bytes: int
    shapes: str


def stacks_of(network: Any) -> dict[str, Any]:
    """Returns the stacks of layers of a network, by name: "encoder", "decoder"."""
    if hasattr(network, "start_id"):  # A language model's decoder: an encoder under a causal mask.
        return {"decoder": network.encoder}
    stacks = {name: getattr(network, name, None) for name in ("encoder", "decoder")}
    # A classifier's encoder is a network, with a stack of that name.
    return {
        name: getattr(part, "encoder", part) for name, part in stacks.items() if part is not None
    }


def parts_of(network: Any) -> list[NetworkPart]:
    """Returns the parts of a network of this package, in the order of the computation."""
    parts = defaultdict(list)
    for variable in network.variables:
        if "seed_generator" not in variable.path:
            parts[_part(variable.path)].append(variable)
    if "target embedding" not in parts:  # One table serves source, target and output.
        parts = {name.replace("source embedding", "embedding"): parts[name] for name in parts}
    return [
        NetworkPart(
            name if "encoder" in stacks_of(network) else name.replace("encoder", "decoder"),
            sum(int(np.prod(variable.shape)) for variable in variables),
            sum(int(np.prod(v.shape)) * np.dtype(v.dtype).itemsize for v in variables),
            _shapes(variables),
        )
        for name, variables in parts.items()
    ]


def _part(path):
    """Returns the name of the part that the variable at `path` belongs to."""
    stack, _, inside = path.partition("/")
    if stack not in ("encoder", "decoder"):
        return _NAMES.get(stack, stack.replace("_", " "))
    sublayer = re.sub(r"layer_\d+/", "", inside).split("/")[0]
    return f"{stack}, {_NAMES.get(sublayer, 'normalization')}"


def _shapes(variables):
    """Returns the shapes of the matrices, or of the vectors if there are no matrices."""
    shapes = [tuple(variable.shape) for variable in variables]
    shapes = [shape for shape in shapes if len(shape) > 1] or shapes
    return ", ".join(
        f"{number} of {_in_words(shape)}" if number > 1 else _in_words(shape)
        for shape, number in Counter(shapes).items()
    )


def _in_words(shape):
    return " x ".join(f"{size:,}" for size in shape)
