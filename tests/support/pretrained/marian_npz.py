"""Folders as Marian itself writes them: weights in an .npz file, the vocabulary in YAML."""

import json

import numpy as np

from support.pretrained import marian

CONFIG = """bert-train-type-embeddings: true
dec-depth: {num_decoder_layers}
dim-emb: {d_model}
dim-vocabs:
  - {ids}
  - {ids}
enc-depth: {num_layers}
skip: false
tied-embeddings: false
tied-embeddings-all: {shared}
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-decoder-autoreg: self-attention
transformer-dim-ffn: {d_ff}
transformer-ffn-activation: {activation}
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {num_heads}
transformer-no-projection: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-preprocess: ""
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
ulr: false
version: v1.7.6 2018-11-09
"""
_MODULES = {"self_attn": "self", "encoder_attn": "context", "final": "ffn"}


def write_npz_folder(folder, words: marian.Vocabulary, network, changes=None):
    """Writes `network` as a folder of Marian, which knows no padding id.

    Args:
        folder: A new folder.
        words: `Vocabulary` of its ids, the padding id last.
        network: `Transformer` with an output bias.
        changes: Lines of the config, by their names.
    """
    folder.mkdir(parents=True)
    for name, model in zip(("source.spm", "target.spm"), words.models, strict=True):
        (folder / name).write_bytes(model)
    lines = (
        f"{json.dumps(piece, ensure_ascii=False)}: {i}" for i, piece in enumerate(words.pieces[:-1])
    )
    (folder / "opus.spm32k-spm32k.vocab.yml").write_text("\n".join([*lines, ""]), "utf-8")
    settings = network.get_config() | {"num_decoder_layers": network.decoder.num_layers}
    shared = str(network.target_vocab_size is None).lower()
    config = CONFIG.format(ids=len(words.pieces) - 1, shared=shared, **settings)
    for name, value in (changes or {}).items():
        config = config.replace(f"\n{name}: ", f"\n{name}: {value} #")
    arrays = dict(map(_of_marian, *zip(*marian.state_dict_of(network).items(), strict=True)))
    arrays["special:model.yml"] = np.frombuffer(config.encode() + b"\0", np.int8)
    np.savez(folder / "opus.spm32k-spm32k.transformer-align.model1.npz.best.npz", **arrays)
    return folder


def _of_marian(name, array):
    """Returns Marian's name for a weight of MarianMTModel, and the weight as Marian has it."""
    tables = {"shared": "Wemb", "encoder": "encoder_Wemb", "decoder": "decoder_Wemb"}
    if name == "final_logits_bias":
        return "decoder_ff_logit_out_b", array[:, :-1]
    if name.endswith(("shared.weight", "embed_tokens.weight")):
        return tables[name.split(".")[1]], array[:-1]
    _, stack, _, number, *module, kind = name.split(".")
    layer = f"{stack}_l{int(number) + 1}"
    kind = {"weight": "W", "bias": "b"}[kind]
    array = array.T if array.ndim == 2 else array[None]
    if module[-1].endswith("_layer_norm"):
        of = _MODULES[module[-1].removesuffix("_layer_norm")]
        place = "ffn_ln" if of == "ffn" else "Wo_ln"
        return f"{layer}_{of}_{place}_{'scale' if kind == 'W' else 'bias'}", array
    if module[-1].startswith("fc"):
        return f"{layer}_ffn_{kind}{module[-1][-1]}", array
    attention, projection = module
    return f"{layer}_{_MODULES[attention]}_{kind}{projection[0]}", array
