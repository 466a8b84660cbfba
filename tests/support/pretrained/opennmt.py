"""Checkpoints as OpenNMT-py writes them, of a `Transformer` and without PyTorch.

Run as `python -m support.pretrained.opennmt FILE FOLDER SOURCES ANSWERS`, in a process of its own,
CTranslate2's own converter, which needs PyTorch, makes FOLDER of the checkpoint FILE. SOURCES is a
JSON file of sentences as lists of pieces; lists of those of their translations, and their scores,
are written to ANSWERS.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np

from support.pretrained import marian
from support.pretrained.torch_file import write_torch_file

SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]
BEAMS = (1, 4)
LONGEST = 40  # Ids of a translation.
_MODULES = {
    "fc1": "feed_forward.w_1",
    "fc2": "feed_forward.w_2",
    "final_layer_norm": "feed_forward.layer_norm",
}
_PROJECTIONS = {
    **{"q_proj": "linear_query", "k_proj": "linear_keys", "v_proj": "linear_values"},
    "out_proj": "final_linear",
}


def pieces(own):
    """Returns a vocabulary of the `own` pieces of SentencePiece models."""
    return [*SPECIAL, *(piece for piece in own if piece not in SPECIAL)]


def transformer(pieces, **settings):
    """Returns a random `Transformer` whose sources have no end."""
    settings = {"norm_first": True, "activation": "relu", "num_decoder_layers": 2, **settings}
    ignored = {"ignored_source_id": pieces.index("</s>")}
    return marian.transformer(pieces, padding="<blank>", **ignored, **settings)


def options_of(network, **changes):
    """Returns the options that OpenNMT-py would have trained `network` with."""
    return {
        "model_task": "seq2seq",
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "self_attn_type": "scaled-dot",
        "position_encoding": True,
        "max_relative_positions": 0,
        "pos_ffn_activation_fn": {"swish": "silu"}.get(network.activation, network.activation),
        "enc_layers": network.num_layers,
        "dec_layers": network.decoder.num_layers,
        "heads": network.num_heads,
        "transformer_ff": network.d_ff,
        "layer_norm": "standard",
        "norm_eps": network.norm_epsilon,
        "generator_function": "softmax",
        "copy_attn": False,
        "multiquery": False,
        "num_kv": 0,
        "lambda_align": 0.0,
        **changes,
    }


def state_of(network, sizes):
    """Returns `model` and `generator`, arrays by the names of OpenNMT-py.

    Args:
        sizes: Numbers of ids of both sides; rows of further ids are left out.
    """
    d_model = network.d_model
    order = [*range(d_model)]  # SinusoidalInterleaved
    if network.max_wavelength > 10000:  # SinusoidalConcat
        order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    state = marian.state_dict_of(network, order)
    embeddings = network.source_embedding, network.target_embedding
    tables = [embedding.table.numpy()[:, order] for embedding in embeddings]
    positions = np.array(network.positions.encodings(200, d_model))[:, None, order]
    model = {}
    for side, table, size in zip(("encoder", "decoder"), tables, sizes, strict=True):
        embedding = f"{side}.embeddings.make_embedding"
        model[f"{embedding}.emb_luts.0.weight"] = table[:size]
        model[f"{embedding}.pe.pe"] = positions
    for name, array in state.items():
        if match := re.fullmatch(r"model\.(encoder|decoder)\.layers\.(\d+)\.(.+)\.(\w+)", name):
            side, number, module, kind = match.groups()
            stack = "transformer" if side == "encoder" else "transformer_layers"
            model[f"{side}.{stack}.{number}.{_module(side, module)}.{kind}"] = array
        elif re.fullmatch(r"model\.(encoder|decoder)\.layer_norm\.\w+", name):
            model[name.removeprefix("model.")] = array
    generator = {"weight": embeddings[1].output_table.numpy()[: sizes[1], order]}
    generator["bias"] = network.target_embedding.bias.numpy()[: sizes[1]]
    return {"model": model, "generator": generator}


def _module(side, name):
    if name in _MODULES:
        return _MODULES[name]
    if name == "self_attn_layer_norm":
        return "layer_norm" if side == "encoder" else "layer_norm_1"
    if name == "encoder_attn_layer_norm":
        return "layer_norm_2"
    attention, projection = name.split(".")
    attention = {"encoder_attn": "context_attn"}.get(attention, attention)
    return f"{attention}.{_PROJECTIONS[projection]}"


def write_checkpoint(path, network, vocabularies, state=None, words=None, **options):
    """Writes a checkpoint, and the SentencePiece models of `words` beside it.

    Args:
        vocabularies: Pieces of both sides.
        state: What to write instead of `state_of` the network.
        **options: Changes of the options.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for side, model in zip(
        ("source", "target"), (words or marian.vocabulary()).models, strict=True
    ):
        (path.parent / f"{side}.spm").write_bytes(model)
    source, target = vocabularies
    return write_torch_file(
        path,
        {
            **(state or state_of(network, [*map(len, vocabularies)])),
            "vocab": {"src": source, "tgt": target, "data_task": "seq2seq"},
            "opt": argparse.Namespace(**options_of(network, **options)),
            "optim": {"training_step": 3},
        },
    )


def main(file, folder, sources, answers):
    import ctranslate2

    converter = ctranslate2.converters.OpenNMTPyConverter(file, unsafe_deserialization=True)
    converter.convert(folder)
    translator = ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)
    rows = json.loads(Path(sources).read_text("utf-8"))

    def translated(beams):
        results = translator.translate_batch(
            rows,
            **{"max_batch_size": 1, "beam_size": beams, "num_hypotheses": beams},
            **{"length_penalty": 0, "min_decoding_length": 0, "return_scores": True},
            **{"max_decoding_length": LONGEST, "return_end_token": True},
        )
        return [(one.hypotheses[0], one.scores[0]) for one in results]

    said = {str(beams): translated(beams) for beams in BEAMS}
    Path(answers).write_text(json.dumps(said), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
