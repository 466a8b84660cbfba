"""The Transformer: ids in, logits out; `encode`, `decode` and `attend` run parts of it.

Axes: B batch, S source length, T target length, H heads, D d_model, V vocabulary, L layers.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras

from kformer.arguments import check_integer
from kformer.backend import in_parts
from kformer.model.decoder import Decoder
from kformer.model.embedding import MAX_WAVELENGTH, PositionalEncoding, TokenEmbedding
from kformer.model.encoder import Encoder
from kformer.model.masks import padding_mask
from kformer.model.network import Network, PredictsTokens
from kformer.model.residual import EPSILON, Dropout
from kformer.model.stack import DROPOUT


class Attention(NamedTuple):
    """The attention weights of every layer: tuples of L float tensors."""

    encoder_self: tuple  # (B, H, S, S)
    decoder_self: tuple  # (B, H, T, T); an empty tuple with another `decoder_cell` than attention
    decoder_cross: tuple  # (B, H, T, S)


@keras.saving.register_keras_serializable(package="kformer")
class Transformer(PredictsTokens, Network):
    """The encoder-decoder Transformer of "Attention Is All You Need".

    [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762); the defaults are its base model.
    Source, target and output share one table of vectors. With `target_vocab_size`, the target has
    its own vocabulary, and target and output share a second table. The output can also have a table
    of its own.

    Args:
        vocab_size: Number of ids V of the source, and of the target without `target_vocab_size`.
        num_layers: Number of layers of the encoder, and of the decoder without
            `num_decoder_layers`.
        d_model: Width D of the vectors; even, and a multiple of `num_heads`.
        num_heads: Attention heads in each layer.
        d_ff: Inner width of the feed-forward networks.
        dropout: Dropout rate of each sub-layer's output and of the embedded ids.
        norm_first: Whether to normalise before each sub-layer (pre-norm) instead of after.
        target_vocab_size: Number of target ids, if the target has its own vocabulary.
        padding_id: The id that fills short rows, on both sides.
        activation: Of the feed-forward networks: "relu" as in the paper, "gelu" or "swish"; see
            `kformer.FeedForward`.
        num_decoder_layers: Number of layers of the decoder, if it is another. Few make decoding
            fast: a deep encoder runs once, the decoder for every id.
        output_bias: Whether a bias for each target id is added to the logits.
        tied_output: Whether the output shares the table of the target, as in the paper.
        norm_epsilon: As for `kformer.EncoderLayer`.
        first_position, max_wavelength: As for `kformer.PositionalEncoding`.
        ignored_source_id: A source id that nothing attends to, as if it was not there: the end id
            if the model was trained on sources without one. None for none.
        decoder_cell: Sub-layer by which the decoder reads earlier positions: "attention" as in the
            paper, or "ssru" for `kformer.SSRU`, which decodes faster.
        forbidden_ids: Target ids that no search chooses, such as the unknown id in Marian. Their
            logits are computed like all others, so the log-probabilities of the other ids do not
            change.
        decoder_d_ff: Inner width of the decoder's feed-forward networks, if it is another.

    Call arguments:
        inputs: a pair (source, target), integer tensors (B, S) and (B, T), or a dict of these two;
            the target is the decoder's input, so it begins with the start id.

    Returns:
        logits: float tensor (B, T, V); row t scores the id that follows `target[:, :t + 1]`.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> model = kformer.Transformer(100, num_layers=2, d_model=16, num_heads=2, d_ff=32)
        >>> source = np.array([[7, 8, 9, 3]])  # Pieces and the end id; 0 is padding.
        >>> target = np.array([[2, 11, 12]])  # The start id and pieces.
        >>> print(model((source, target)).shape)
        (1, 3, 100)
        >>> print(model.attend((source, target)).decoder_cross[-1].shape)
        (1, 2, 3, 4)
    """

    def __init__(
        self,
        vocab_size: int,
        num_layers: int = 6,
        d_model: int = 512,
        num_heads: int = 8,
        d_ff: int = 2048,
        dropout: float = DROPOUT,
        norm_first: bool = False,
        target_vocab_size: int | None = None,
        padding_id: int = 0,
        activation: str = "relu",
        num_decoder_layers: int | None = None,
        output_bias: bool = False,
        first_position: int = 0,
        max_wavelength: float = MAX_WAVELENGTH,
        ignored_source_id: int | None = None,
        tied_output: bool = True,
        norm_epsilon: float = EPSILON,
        decoder_cell: str = "attention",
        forbidden_ids: Sequence[int] = (),
        decoder_d_ff: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.num_layers = num_layers
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.norm_first = norm_first
        self.padding_id = padding_id
        self.target_vocab_size = target_vocab_size
        self.activation = activation
        self.num_decoder_layers = num_decoder_layers
        self.output_bias = output_bias
        self.first_position = first_position
        self.max_wavelength = max_wavelength
        self.ignored_source_id = ignored_source_id
        self.tied_output = tied_output
        self.norm_epsilon = norm_epsilon
        self.decoder_cell = decoder_cell
        self.decoder_d_ff = decoder_d_ff
        number = vocab_size if target_vocab_size is None else target_vocab_size
        self.forbidden_ids = tuple(
            check_integer("forbidden_ids", i, least=0, most=number - 1) for i in forbidden_ids
        )
        dtype = self.dtype_policy
        sides = [
            (d_model, num_heads, width, dropout, norm_first, activation)
            for width in (d_ff, d_ff if decoder_d_ff is None else decoder_d_ff)
        ]
        last = {"norm_epsilon": norm_epsilon, "dtype": dtype}
        shared = target_vocab_size is None
        output = (output_bias, tied_output)
        self.source_embedding = TokenEmbedding(
            vocab_size, d_model, *(output if shared else ()), name="source_embedding", dtype=dtype
        )
        self.target_embedding = self.source_embedding
        if target_vocab_size is not None:
            self.target_embedding = TokenEmbedding(
                target_vocab_size, d_model, *output, name="target_embedding", dtype=dtype
            )
        self.positions = PositionalEncoding(
            first_position=first_position,
            max_wavelength=max_wavelength,
            name="positions",
            dtype=dtype,
        )
        self.dropout = Dropout(dropout, name="dropout", dtype=dtype)
        self.encoder = Encoder(num_layers, *sides[0], name="encoder", **last)
        layers = num_layers if num_decoder_layers is None else num_decoder_layers
        self.decoder = Decoder(layers, *sides[1], decoder_cell=decoder_cell, name="decoder", **last)
        # Every shape is known here, so that `encode` and the others work before any call.
        ids_shape, vectors_shape = (None, None), (None, None, d_model)
        self.source_embedding.build(ids_shape)
        if not shared:
            self.target_embedding.build(ids_shape)
        for layer in (self.positions, self.dropout, self.encoder, self.decoder):
            layer.build(vectors_shape)
        self.built = True

    @property
    def parts(self):
        return self.encoder, self.decoder

    def __call__(self, *args: Any, **kwargs: Any):
        # Keras would use a second tensor as `training`, without an error that names it.
        training = [*args[1:], *(kwargs.get(name) for name in ("source", "target"))]
        if not all(value is None or isinstance(value, (bool, int)) for value in training):
            raise TypeError(
                "A Transformer takes source and target as one argument: model((source, target)), "
                'or model({"source": source, "target": target}). '
                f"Received: {len(args)} positional arguments, and {sorted(kwargs)} by name."
            )
        return super().__call__(*args, **kwargs)

    def call(self, inputs: Any, training: bool | None = None):
        def vectors(source, target):
            memory = self.encode(source, training=training)
            return self._vectors(target, memory, self.source_mask(source), training)

        pair = _pair(inputs)
        return self.target_embedding.logits(
            in_parts(vectors, *pair) if training else vectors(*pair)
        )

    def encode(self, source: Any, training: bool | None = None):
        """Returns the memory, float (B, S, D), of `source`, integer (B, S)."""
        x = self._embed(self.source_embedding, source, training=training)
        return self.encoder(x, self.source_mask(source), training=training)

    def source_mask(self, source: Any):
        """Returns which ids of `source`, integer (B, S), are attended to: boolean (B, 1, 1, S)."""
        return padding_mask(source, self.padding_id, self.ignored_source_id)

    def decode(
        self, target: Any, memory: Any, memory_mask: Any = None, training: bool | None = None
    ):
        """Returns logits, float (B, T, V).

        Args:
            target: integer tensor (B, T), beginning with the start id.
            memory: float tensor (B, S, D), from `encode`.
            memory_mask: boolean tensor (B, 1, 1, S), from `source_mask`; None lets every position
                be seen.
        """
        return self.target_embedding.logits(self._vectors(target, memory, memory_mask, training))

    def _vectors(self, target, memory, memory_mask, training):
        """As `decode`, but returns the vectors, float (B, T, D), that give the logits."""
        # Padding ends a row, so no real position attends to it. Elsewhere it is an id like any
        # other: a target may begin with it, as in T5 and Marian, whose start id is the padding id.
        x = self._embed(self.target_embedding, target, training=training)
        return self.decoder(x, memory, cross_mask=memory_mask, training=training)

    def attend(self, inputs: Any):
        """Returns the `Attention` of every layer for `inputs` as in `call`."""
        source, target = _pair(inputs)
        mask = self.source_mask(source)
        x = self._embed(self.source_embedding, source)
        memory, encoder_self = self.encoder.attend(x, mask)
        x = self._embed(self.target_embedding, target)
        _, weights = self.decoder.attend(x, memory, cross_mask=mask)
        return Attention(encoder_self, *weights)

    def export(
        self,
        filepath: str | Path,
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Sequence[Any] | None = None,
        **kwargs: Any,
    ):
        """As `keras.Model.export`, for batches and lengths of any size: ids in, logits out.

        To export a translator, use `kformer.export`.
        """
        if input_signature is None:
            source, target = (
                keras.InputSpec("int32", (None, None), name=name) for name in ("source", "target")
            )
            input_signature = [(source, target)]
        return super().export(filepath, format, verbose, input_signature, **kwargs)

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_layers": self.num_layers,
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "dropout": self.dropout.rate,
            "norm_first": self.norm_first,
            "target_vocab_size": self.target_vocab_size,
            "padding_id": self.padding_id,
            "activation": self.activation,
            "num_decoder_layers": self.num_decoder_layers,
            "output_bias": self.output_bias,
            "first_position": self.first_position,
            "max_wavelength": self.max_wavelength,
            "ignored_source_id": self.ignored_source_id,
            "tied_output": self.tied_output,
            "norm_epsilon": self.norm_epsilon,
            "decoder_cell": self.decoder_cell,
            **({"forbidden_ids": [*self.forbidden_ids]} if self.forbidden_ids else {}),
            **({"decoder_d_ff": self.decoder_d_ff} if self.decoder_d_ff is not None else {}),
        }


def _pair(inputs):
    """Returns (source, target) of a pair or a dict."""
    if isinstance(inputs, dict) and set(inputs) == {"source", "target"}:
        return inputs["source"], inputs["target"]
    if isinstance(inputs, (tuple, list)) and len(inputs) == 2:
        return inputs
    received = sorted(inputs) if isinstance(inputs, dict) else type(inputs).__name__
    if isinstance(inputs, (tuple, list)):
        received = f"{received} of {len(inputs)}"
    raise ValueError(
        "The inputs of a Transformer are a pair (source, target), or a dict with these two names. "
        f"Received: inputs={received}."
    )
