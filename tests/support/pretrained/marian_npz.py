"""Folders as Marian itself writes them: weights in an .npz file, the vocabulary in YAML."""

import json

import numpy as np
import sentencepiece

from support.pretrained import marian

CONFIG = """bert-train-type-embeddings: true
dec-cell: ssru
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
transformer-decoder-autoreg: {reads_back}
transformer-decoder-dim-ffn: {decoder_width}
transformer-dim-ffn: {d_ff}
transformer-ffn-activation: {activation}
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {num_heads}
transformer-no-projection: false
transformer-postprocess: {after}
transformer-postprocess-emb: d
transformer-postprocess-top: {last}
transformer-preprocess: {before}
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
ulr: false
version: {version}
"""
# By `norm_first`. Marian 1.11 is the first that can train these networks as the paper has them.
_STEPS = {
    False: {"before": '""', "after": "dan", "last": '""', "version": "v1.7.6 2018-11-09"},
    True: {"before": "n", "after": "da", "last": "n", "version": "v1.11.0 2022-02-08"},
}
_MODULES = {"self_attn": "self", "encoder_attn": "context", "final": "ffn", "ssru": "rnn"}
_CELL = {"input": "", "forget_gate": "f"}


def spm_vocabulary(texts, **settings) -> marian.Vocabulary:
    """Returns a SentencePiece model with the ids that Marian trains, and these with padding."""
    model = marian.trained(texts, bos_id=-1, eos_id=0, unk_id=1, **settings)
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [library.IdToPiece(i) for i in range(library.GetPieceSize())]
    return marian.Vocabulary((model, model), [*pieces, marian.PADDING])


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
    arrays = arrays_of(words, network, changes)
    np.savez(folder / "opus.spm32k-spm32k.transformer-align.model1.npz.best.npz", **arrays)
    return folder


def arrays_of(words: marian.Vocabulary, network, changes=None):
    """Returns the weights of `network` and its config as Marian names and has them.

    Args:
        words, network, changes: As for `write_npz_folder`.
    """
    return arrays_of_ids(len(words.pieces) - 1, network, changes)


def arrays_of_ids(ids, network, changes=None):
    """As `arrays_of`, of the first ids alone.

    Args:
        ids: Their number.
        network: `Transformer`; one without an output bias gets a bias of zeros.
        changes: As for `write_npz_folder`.
    """
    settings = network.get_config() | {"num_decoder_layers": network.decoder.num_layers}
    shared = str(network.target_vocab_size is None).lower()
    reads_back = "rnn" if settings["decoder_cell"] == "ssru" else "self-attention"
    sizes = {"ids": ids, "shared": shared, "reads_back": reads_back}
    sizes |= {"decoder_width": settings.get("decoder_d_ff", 0)}
    config = CONFIG.format(**sizes, **settings, **_STEPS[network.norm_first])
    for name, value in (changes or {}).items():
        config = config.replace(f"\n{name}: ", f"\n{name}: {value} #")
    arrays = {"decoder_ff_logit_out_b": np.zeros((1, ids), np.float32)}
    for name, array in marian.state_dict_of(network).items():
        arrays |= [_of_marian(name, array, "_pre" if network.norm_first else "")]
    for name, array in arrays.items():
        array = array[:ids] if name.endswith("Wemb") else array
        array = array[:, :ids] if name == "decoder_ff_logit_out_b" else array
        arrays[name] = np.ascontiguousarray(array)  # Marian reads no other order.
    arrays["special:model.yml"] = np.frombuffer(config.encode() + b"\0", np.int8)
    return arrays


def _of_marian(name, array, pre):
    """Returns Marian's name for a weight of MarianMTModel, and the weight as Marian has it.

    Args:
        name, array: The weight.
        pre: End of the names of norms in the layers.
    """
    tables = {"shared": "Wemb", "encoder": "encoder_Wemb", "decoder": "decoder_Wemb"}
    if name == "final_logits_bias":
        return "decoder_ff_logit_out_b", array
    if name.endswith(("shared.weight", "embed_tokens.weight")):
        return tables[name.split(".")[1]], array
    _, stack, module, *rest = name.split(".")
    if module == "layer_norm":
        return f"{stack}_top_ln_{'scale' if rest[0] == 'weight' else 'bias'}", array[None]
    number, *module, kind = rest
    layer = f"{stack}_l{int(number) + 1}"
    kind = {"weight": "W", "bias": "b"}[kind]
    array = array.T if array.ndim == 2 else array[None]
    if module[-1].endswith("_layer_norm"):
        of = _MODULES[module[-1].removesuffix("_layer_norm")]
        place = "Wo_ln" if of in ("self", "context") else "ln" if pre and of == "rnn" else "ffn_ln"
        return f"{layer}_{of}_{place}_{'scale' if kind == 'W' else 'bias'}{pre}", array
    if module[-1].startswith("fc"):
        return f"{layer}_ffn_{kind}{module[-1][-1]}", array
    attention, projection = module
    if attention == "ssru":
        return f"{layer}_rnn_{kind}{_CELL[projection]}", array
    return f"{layer}_{_MODULES[attention]}_{kind}{projection[0]}", array
