"""The parts of a network, and how many parameters each has."""

import re
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np

_NAMES = {  # Of the parts of a layer, by the name of the sub-layer.
    "attention": "self-attention",
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward",
    "head": "output",
}


class Part(NamedTuple):
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


def stacks_of(network) -> dict[str, Any]:
    """Returns the stacks of layers of a network, by name: "encoder", "decoder"."""
    if hasattr(network, "start_id"):  # A language model's decoder: an encoder under a causal mask.
        return {"decoder": network.encoder}
    stacks = {name: getattr(network, name, None) for name in ("encoder", "decoder")}
    # A classifier's encoder is a network, with a stack of that name.
    return {name: getattr(one, "encoder", one) for name, one in stacks.items() if one is not None}


def parts_of(network) -> list[Part]:
    """Returns the parts of a network of this package, in the order of the computation."""
    found = defaultdict(list)
    for variable in network.variables:
        if "seed_generator" not in variable.path:
            found[_part(variable.path)].append(variable)
    if "target embedding" not in found:  # One table serves source, target and output.
        found = {name.replace("source embedding", "embedding"): one for name, one in found.items()}
    return [
        Part(
            name if "encoder" in stacks_of(network) else name.replace("encoder", "decoder"),
            sum(int(np.prod(one.shape)) for one in variables),
            sum(int(np.prod(one.shape)) * np.dtype(one.dtype).itemsize for one in variables),
            _shapes(variables),
        )
        for name, variables in found.items()
    ]


def _part(path):
    """Returns the name of the part that the variable at `path` belongs to."""
    stack, _, inside = path.partition("/")
    if stack not in ("encoder", "decoder"):
        return _NAMES.get(stack, stack.replace("_", " "))
    sublayer = re.sub(r"layer_\d+/", "", inside).split("/")[0]
    return f"{stack}, {_NAMES.get(sublayer, 'normalization')}"


def _shapes(variables):
    """Returns the shapes of the matrices, or of the vectors if there are only those."""
    shapes = [tuple(one.shape) for one in variables]
    shapes = [shape for shape in shapes if len(shape) > 1] or shapes
    return ", ".join(
        f"{number} of {_in_words(shape)}" if number > 1 else _in_words(shape)
        for shape, number in Counter(shapes).items()
    )


def _in_words(shape):
    return " x ".join(f"{size:,}" for size in shape)
