"""The weights of a `Transformer` as CTranslate2 keeps them.

Its linear layers are (outputs, inputs), kformer's (inputs, outputs). What reads one input is one
layer there: query, key and value of self-attention, key and value of the attention to the memory.
Positions are a table there.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.arguments import check_choice

PRECISIONS = ("float32", "float16", "int8")
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH"}


class Vocabulary(NamedTuple):
    """The tokens of a model on one side, and those with a meaning of their own."""

    tokens: list[str]  # in the order of their ids
    unknown: str
    start: str
    end: str


def library():
    """Returns the module `ctranslate2`; raises a ValueError if it is not installed."""
    try:
        import ctranslate2
    except ImportError as error:
        raise ValueError(
            "A folder for CTranslate2 needs a package: pip install 'kformer[ctranslate2]'. "
            "Received: no module named 'ctranslate2'."
        ) from error
    return ctranslate2


def check_precision(precision: str):
    """Raises a ValueError unless CTranslate2 has weights of this precision."""
    check_choice("precision", precision, PRECISIONS)


def write_model(
    transformer,
    folder: Path,
    source: Vocabulary,
    target: Vocabulary,
    longest: int,
    precision: str = "float32",
    prefix: str | None = None,
):
    """Writes `model.bin`, `config.json` and the vocabularies.

    Args:
        transformer: `kformer.Transformer` that computes in float32.
        folder: An empty folder.
        source, target: `Vocabulary` of each side.
        longest: Positions that a source or a translation may need, their ends included.
        precision: Of the weights: "float32", "float16" or "int8".
        prefix: A token that CTranslate2 puts before every source; None for none.
    """
    specs = library().specs
    activation = getattr(specs.common_spec.Activation, _ACTIVATIONS[transformer.activation])
    spec = specs.TransformerSpec.from_config(
        (transformer.encoder.num_layers, transformer.decoder.num_layers),
        transformer.num_heads,
        pre_norm=transformer.norm_first,
        activation=activation,
    )
    _fill_tables(spec, transformer, longest)
    for to, layer in zip(spec.encoder.layer, transformer.encoder.layers, strict=True):
        _fill_self_attention(to.self_attention, layer.attention, layer.attention_residual)
        _fill_feed_forward(to.ffn, layer)
    for to, layer in zip(spec.decoder.layer, transformer.decoder.layers, strict=True):
        _fill_self_attention(to.self_attention, layer.self_attention, layer.self_residual)
        _fill_cross_attention(to.attention, layer.cross_attention, layer.cross_residual)
        _fill_feed_forward(to.ffn, layer)
    spec.register_source_vocabulary(source.tokens)
    spec.register_target_vocabulary(target.tokens)
    spec.config.unk_token, spec.config.eos_token = source.unknown, source.end
    spec.config.decoder_start_token = target.start
    spec.config.bos_token = source.start if prefix is None else prefix
    spec.config.add_source_bos = prefix is not None
    spec.config.add_source_eos = transformer.ignored_source_id is None
    spec.config.layer_norm_epsilon = transformer.norm_epsilon
    spec.validate()
    spec.optimize(quantization=None if precision == "float32" else precision)
    spec.save(str(folder))


def _fill_tables(spec, transformer, longest):
    source, target = transformer.source_embedding, transformer.target_embedding
    spec.encoder.embeddings[0].weight = source.table.numpy()
    spec.decoder.embeddings.weight = spec.decoder.projection.weight = target.table.numpy()
    if not target.tied_output:
        spec.decoder.projection.weight = target.output_table.numpy()
    if target.bias is not None:
        spec.decoder.projection.bias = target.bias.numpy()
    positions = np.array(transformer.positions.encodings(longest, transformer.d_model))
    for stack, layers in ((spec.encoder, transformer.encoder), (spec.decoder, transformer.decoder)):
        stack.position_encodings.encodings = positions
        if layers.norm:
            _fill_norm(stack.layer_norm, layers.norm)


def _fill_linear(to, *denses):
    to.weight = np.concatenate([dense.kernel.numpy().T for dense in denses])
    to.bias = np.concatenate([dense.bias.numpy() for dense in denses])


def _fill_norm(to, norm):
    to.gamma, to.beta = norm.gamma.numpy(), norm.beta.numpy()


def _fill_self_attention(to, attention, residual):
    _fill_linear(
        to.linear[0],
        attention.query_projection,
        attention.key_projection,
        attention.value_projection,
    )
    _fill_linear(to.linear[1], attention.output_projection)
    _fill_norm(to.layer_norm, residual.norm)


def _fill_cross_attention(to, attention, residual):
    _fill_linear(to.linear[0], attention.query_projection)
    _fill_linear(to.linear[1], attention.key_projection, attention.value_projection)
    _fill_linear(to.linear[2], attention.output_projection)
    _fill_norm(to.layer_norm, residual.norm)


def _fill_feed_forward(to, layer):
    _fill_linear(to.linear_0, layer.feed_forward.inner)
    _fill_linear(to.linear_1, layer.feed_forward.outer)
    _fill_norm(to.layer_norm, layer.feed_forward_residual.norm)
