"""The Transformer once more: the equations of the paper in plain NumPy, float64.

"Attention Is All You Need", https://arxiv.org/abs/1706.03762. Written from the paper, it shares no
code with kformer but the paths under which Keras keeps the weights.

Axes: B batch, S source length, T target length, Q queries, K keys, D d_model.
Masks are boolean (B, Q, K); True means "may attend".
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np

ACTIVATIONS = {
    "relu": lambda x: np.maximum(0, x),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "swish": lambda x: x / (1 + np.exp(-x)),
}


def perturbed(layer):
    """Moves every weight of `layer`: zero biases would hide that one was forgotten."""
    for weight in layer.weights:
        weight.assign_add(0.3 * keras.random.normal(weight.shape, dtype=weight.dtype))
    return layer


def weights_of(layer):
    return {w.path: keras.ops.convert_to_numpy(w.value).astype("float64") for w in layer.weights}


def positional_encoding(length, d_model, first=0):
    """Section 3.5, of positions from `first` on."""
    encoding = np.empty((length, d_model))
    for position in range(length):
        for i in range(d_model // 2):
            angle = (first + position) / 10000 ** (2 * i / d_model)
            encoding[position, 2 * i] = np.sin(angle)
            encoding[position, 2 * i + 1] = np.cos(angle)
    return encoding


class Model(NamedTuple):
    weights: dict  # path -> array
    num_heads: int
    num_layers: int = 1
    norm_first: bool = False
    activation: str = "relu"
    num_decoder_layers: int | None = None
    positions: Callable = positional_encoding
    padding_id: int = 0
    epsilon: float = 1e-5


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(query, key, value, mask):
    """Equation 1: softmax(Q K^T / sqrt(d_k)) V, over the keys that the mask allows."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-1])
    return softmax(np.where(mask, scores, -np.inf)) @ value


def linear(x, model, path):
    return x @ model.weights[f"{path}/kernel"] + model.weights[f"{path}/bias"]


def multi_head_attention(query, value, mask, model, path):
    """Section 3.2.2: Concat(head_1, ..., head_h) W^O, each head with its own columns."""
    projected = (
        linear(query, model, f"{path}/query"),
        linear(value, model, f"{path}/key"),
        linear(value, model, f"{path}/value"),
    )
    columns = (np.split(x, model.num_heads, axis=-1) for x in projected)
    heads = [attention(q, k, v, mask) for q, k, v in zip(*columns, strict=True)]
    return linear(np.concatenate(heads, axis=-1), model, f"{path}/output")


def feed_forward(x, model, path):
    """Equation 2: max(0, x W1 + b1) W2 + b2; or with another activation."""
    inner = ACTIVATIONS[model.activation](linear(x, model, f"{path}/inner"))
    return linear(inner, model, f"{path}/outer")


def layer_norm(x, model, path):
    """Ba et al., 2016."""
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    normal = (x - mean) / np.sqrt(variance + model.epsilon)
    return normal * model.weights[f"{path}/norm/gamma"] + model.weights[f"{path}/norm/beta"]


def residual(x, sublayer, model, path):
    """Section 3.1: LayerNorm(x + Sublayer(x)); pre-norm: x + Sublayer(LayerNorm(x))."""
    if model.norm_first:
        return x + sublayer(layer_norm(x, model, path))
    return layer_norm(x + sublayer(x), model, path)


def encoder_layer(x, mask, model, path):
    def attend(x):
        return multi_head_attention(x, x, mask, model, f"{path}/attention")

    def feed(x):
        return feed_forward(x, model, f"{path}/feed_forward")

    x = residual(x, attend, model, f"{path}/attention_residual")
    return residual(x, feed, model, f"{path}/feed_forward_residual")


def decoder_layer(x, memory, self_mask, memory_mask, model, path):
    def attend(x):
        return multi_head_attention(x, x, self_mask, model, f"{path}/self_attention")

    def attend_across(x):
        return multi_head_attention(x, memory, memory_mask, model, f"{path}/cross_attention")

    def feed(x):
        return feed_forward(x, model, f"{path}/feed_forward")

    x = residual(x, attend, model, f"{path}/self_residual")
    x = residual(x, attend_across, model, f"{path}/cross_residual")
    return residual(x, feed, model, f"{path}/feed_forward_residual")


def encoder(x, mask, model):
    for i in range(model.num_layers):
        x = encoder_layer(x, mask, model, f"encoder/layer_{i}")
    return layer_norm(x, model, "encoder") if model.norm_first else x


def decoder(x, memory, self_mask, memory_mask, model):
    for i in range(model.num_decoder_layers or model.num_layers):
        x = decoder_layer(x, memory, self_mask, memory_mask, model, f"decoder/layer_{i}")
    return layer_norm(x, model, "decoder") if model.norm_first else x


def embed(ids, table, model):
    """Section 3.4: the weights multiplied by sqrt(d_model); then section 3.5."""
    length, d_model = ids.shape[1], table.shape[1]
    return table[ids] * np.sqrt(d_model) + model.positions(length, d_model)


def transformer(source, target, model):
    """Figure 1, up to the logits; the last table gives the logits, or one of their own."""
    source_table = model.weights["source_embedding/table"]
    target_table = model.weights.get("target_embedding/table", source_table)
    source_mask = (source != model.padding_id)[:, None, :]  # (B, 1, S)
    length = target.shape[1]
    target_mask = np.tril(np.ones((length, length), bool))[None]  # (1, T, T)
    memory = encoder(embed(source, source_table, model), source_mask, model)
    x = decoder(embed(target, target_table, model), memory, target_mask, source_mask, model)
    own = [table for path, table in model.weights.items() if path.endswith("/output_table")]
    return x @ (own[0] if own else target_table).T
