"""The weights of a `kformer.Transformer` as a model folder of CTranslate2.

Its linear layers keep (outputs, inputs), kformer's (inputs, outputs). What reads one input is one
layer there: query, key and value of self-attention, key and value of the attention to the memory.
"""

import numpy as np
from ctranslate2.specs import TransformerSpec, common_spec

from benchmarks.decoding.workloads import END, START
from kformer.model.layer_norm import EPSILON

UNKNOWN = 1


def write_ctranslate2(transformer, folder, precision: str, longest: int):
    """Writes a model whose tokens are the ids, as strings.

    Args:
        transformer: `kformer.Transformer`.
        folder: Where to write.
        precision: "float32", or "int8" for weights of 8 bits.
        longest: Positions that a source or a translation may need.
    """
    spec = TransformerSpec.from_config(
        transformer.num_layers,
        transformer.num_heads,
        pre_norm=transformer.norm_first,
        activation=common_spec.Activation.RELU,
    )
    source, target = transformer.source_embedding.table, transformer.target_embedding.table
    spec.encoder.embeddings[0].weight = source.numpy()
    spec.decoder.embeddings.weight = target.numpy()
    spec.decoder.projection.weight = target.numpy()
    positions = transformer.positions.encodings(longest, transformer.d_model)
    for stack, layers in ((spec.encoder, transformer.encoder), (spec.decoder, transformer.decoder)):
        stack.position_encodings.encodings = np.array(positions)
        if layers.norm:
            _norm(stack.layer_norm, layers.norm)
    for to, layer in zip(spec.encoder.layer, transformer.encoder.layers, strict=True):
        _self_attention(to.self_attention, layer.attention, layer.attention_residual)
        _feed_forward(to.ffn, layer)
    for to, layer in zip(spec.decoder.layer, transformer.decoder.layers, strict=True):
        _self_attention(to.self_attention, layer.self_attention, layer.self_residual)
        _cross_attention(to.attention, layer.cross_attention, layer.cross_residual)
        _feed_forward(to.ffn, layer)

    spec.register_source_vocabulary([str(i) for i in range(len(source.numpy()))])
    spec.register_target_vocabulary([str(i) for i in range(len(target.numpy()))])
    spec.config.unk_token = str(UNKNOWN)
    spec.config.bos_token = spec.config.decoder_start_token = str(START)
    spec.config.eos_token = str(END)
    spec.config.layer_norm_epsilon = EPSILON
    spec.validate()
    spec.optimize(quantization=None if precision == "float32" else precision)
    folder.mkdir()
    spec.save(str(folder))


def _linear(to, *denses):
    to.weight = np.concatenate([dense.kernel.numpy().T for dense in denses])
    to.bias = np.concatenate([dense.bias.numpy() for dense in denses])


def _norm(to, norm):
    to.gamma, to.beta = norm.gamma.numpy(), norm.beta.numpy()


def _self_attention(to, attention, residual):
    _linear(
        to.linear[0],
        attention.query_projection,
        attention.key_projection,
        attention.value_projection,
    )
    _linear(to.linear[1], attention.output_projection)
    _norm(to.layer_norm, residual.norm)


def _cross_attention(to, attention, residual):
    _linear(to.linear[0], attention.query_projection)
    _linear(to.linear[1], attention.key_projection, attention.value_projection)
    _linear(to.linear[2], attention.output_projection)
    _norm(to.layer_norm, residual.norm)


def _feed_forward(to, layer):
    _linear(to.linear_0, layer.feed_forward.inner)
    _linear(to.linear_1, layer.feed_forward.outer)
    _norm(to.layer_norm, layer.feed_forward_residual.norm)
