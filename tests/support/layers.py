"""Every layer with settings to build it from and shapes to call it on."""

import keras
import numpy as np

from kformer import (
    SSRU,
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    PositionalEncoding,
    TokenEmbedding,
    Transformer,
)

B, S, T, H, D, F, V, L = 2, 7, 5, 3, 18, 11, 13, 2
STACK = {"num_layers": L, "d_model": D, "num_heads": H, "d_ff": F}
LAYER = {"d_model": D, "num_heads": H, "d_ff": F}
CHANGED = {"dropout": 0.3, "norm_first": True, "activation": "swish"}
RECURRENT = {"decoder_cell": "ssru"}
OTHERWISE = {"first_position": 2, "max_wavelength": 20_000.0, "ignored_source_id": 3}

# A layer, its settings, and the shapes that it is called on.
CASES = [
    (TokenEmbedding, {"vocab_size": V, "d_model": D}, [(T,)]),
    (TokenEmbedding, {"vocab_size": V, "d_model": D, "output_bias": True}, [(T,)]),
    (TokenEmbedding, {"vocab_size": V, "d_model": D, "tied_output": False}, [(T,)]),
    (PositionalEncoding, {}, [(T, D)]),
    (PositionalEncoding, {"first_position": 2, "max_wavelength": 20_000.0}, [(T, D)]),
    (MultiHeadAttention, {"d_model": D, "num_heads": H}, [(T, D), (S, D)]),
    (SSRU, {"d_model": D}, [(T, D)]),
    (FeedForward, {"d_model": D, "d_ff": F}, [(T, D)]),
    (FeedForward, {"d_model": D, "d_ff": F, "activation": "gelu"}, [(T, D)]),
    (EncoderLayer, LAYER, [(S, D)]),
    (EncoderLayer, LAYER | CHANGED, [(S, D)]),
    (Encoder, STACK, [(S, D)]),
    (Encoder, STACK | CHANGED, [(S, D)]),
    (Encoder, STACK | {"final_norm": True}, [(S, D)]),
    (DecoderLayer, LAYER, [(T, D), (S, D)]),
    (DecoderLayer, LAYER | CHANGED, [(T, D), (S, D)]),
    (DecoderLayer, LAYER | RECURRENT, [(T, D), (S, D)]),
    (Decoder, STACK, [(T, D), (S, D)]),
    (Decoder, STACK | CHANGED, [(T, D), (S, D)]),
    (Decoder, STACK | RECURRENT, [(T, D), (S, D)]),
    (Decoder, STACK | CHANGED | {"final_norm": False}, [(T, D), (S, D)]),
    (Transformer, STACK | {"vocab_size": V}, [(S,), (T,)]),
    (Transformer, STACK | CHANGED | {"vocab_size": V, "target_vocab_size": 17}, [(S,), (T,)]),
    (Transformer, STACK | {"vocab_size": V, "num_decoder_layers": 1}, [(S,), (T,)]),
    (Transformer, STACK | {"vocab_size": V, "padding_id": 12}, [(S,), (T,)]),
    (Transformer, STACK | {"vocab_size": V, "output_bias": True}, [(S,), (T,)]),
    (Transformer, STACK | OTHERWISE | {"vocab_size": V}, [(S,), (T,)]),
    (Transformer, STACK | {"vocab_size": V, "tied_output": False}, [(S,), (T,)]),
    (Transformer, STACK | RECURRENT | {"vocab_size": V}, [(S,), (T,)]),
]


def inputs_of(shapes):
    """Ids for shapes (T,), vectors for shapes (T, D)."""
    return [
        np.random.randint(1, V, (B, *shape)).astype("int32")
        if len(shape) == 1
        else np.random.normal(size=(B, *shape)).astype("float32")
        for shape in shapes
    ]


def call(layer, inputs):
    return layer(tuple(inputs)) if isinstance(layer, Transformer) else layer(*inputs)


def model_with(layer, inputs):
    """A functional model, of any batch and length, that is nothing but `layer`."""
    symbols = [keras.Input((None, *x.shape[2:]), dtype=x.dtype) for x in inputs]
    return keras.Model(symbols, call(layer, symbols))


def flat(structure):
    return keras.tree.flatten(structure)
