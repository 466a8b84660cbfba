"""Checkpoints as OpenNMT-tf writes them, of a `Transformer` and without OpenNMT-tf."""

import re

import keras
import numpy as np
import tensorflow as tf

from support.pretrained import marian

SPECIAL = ["<blank>", "<s>", "</s>"]
SENTENCES = [  # The model of `write_run` translates each differently.
    "der hund schläft .",
    "ein haus 🐕 ruft",
    "",
    "meine mutter trinkt tee",
    "wir",
    "wo ist der hund ?",
    "die katze sucht den hund",
    "heute regnet es",
    "das kind malt",
    "gut !",
]
_SUBLAYERS = {"self_attn": "self_attention", "encoder_attn": "attention/0", "final": "ffn"}
_MODULES = {
    "q_proj": "linear_queries",
    "k_proj": "linear_keys",
    "v_proj": "linear_values",
    "out_proj": "linear_output",
}


def pieces(own):
    """Returns a vocabulary of the `own` pieces of a SentencePiece model, as its file has it."""
    others = (*SPECIAL, "<unk>", marian.PADDING)
    return [*SPECIAL, *(piece for piece in own if piece not in others)]


def transformer(pieces, **settings):
    """Returns a random `Transformer` of OpenNMT-tf's kind: its sources have no end.

    Args:
        pieces: Those of the source's vocabulary; the unknown one is behind them.
    """
    settings = {"d_model": 32, "norm_first": True, "activation": "relu", **settings}
    wave = 10000 ** (settings["d_model"] / (settings["d_model"] - 2))
    positions = {"first_position": 1, "max_wavelength": wave, "norm_epsilon": 1e-3}
    settings |= {"ignored_source_id": pieces.index("</s>"), **positions}
    return marian.transformer([*pieces, "<unk>"], padding="<blank>", **settings)


def weights_of(network):
    """Returns the weights of `network`, arrays by their names in OpenNMT-tf."""
    state = marian.state_dict_of(network)
    shared = state.pop("model.shared.weight", None)
    output = state.pop("lm_head.weight", None)
    source = state.pop("model.encoder.embed_tokens.weight", shared)
    target = state.pop("model.decoder.embed_tokens.weight", None)
    found = {"examples_inputter/features_inputter/embedding": source}
    if target is not None:
        found["examples_inputter/labels_inputter/embedding"] = target
    if output is not None:
        found["decoder/output_layer/kernel"] = output.T
    found["decoder/output_layer/bias"] = state.pop("final_logits_bias")[0]
    place = "input_layer_norm" if network.norm_first else "output_layer_norm"
    found |= {_name(name, place): array.T for name, array in state.items()}
    return found


def _name(name, norm_place):
    if match := re.fullmatch(r"model\.(\w+)\.layer_norm\.(\w+)", name):
        return f"{match[1]}/layer_norm/{_kind('norm', match[2])}"
    side, number, module, kind = re.fullmatch(
        r"model\.(\w+)\.layers\.(\d+)\.(.+)\.(\w+)", name
    ).groups()
    kind = _kind(module, kind)
    if module in ("fc1", "fc2"):
        place = f"ffn/layer/{'inner' if module == 'fc1' else 'outer'}"
    elif module.endswith("_layer_norm"):
        place = f"{_SUBLAYERS[module.removesuffix('_layer_norm')]}/{norm_place}"
    else:
        attention, projection = module.split(".")
        place = f"{_SUBLAYERS[attention]}/layer/{_MODULES[projection]}"
    return f"{side}/layers/{number}/{place}/{kind}"


def _kind(module, kind):
    names = ("gamma", "beta") if module.endswith("norm") else ("kernel", "bias")
    return names[kind == "bias"]


def write_checkpoint(folder, weights, step=3):
    """Writes a checkpoint with weights by name, and with the state of an optimizer."""
    root = tf.train.Checkpoint()
    for name, array in weights.items():
        *places, last = ["model", *name.split("/")]
        at = root
        for place in places:
            if not hasattr(at, place):
                setattr(at, place, tf.train.Checkpoint())
            at = getattr(at, place)
        setattr(at, last, tf.Variable(array))
    root.optimizer = tf.train.Checkpoint(iterations=tf.Variable(step))
    manager = tf.train.CheckpointManager(root, str(folder), max_to_keep=8)
    manager.save(checkpoint_number=step)
    return folder


def with_ends(network, pieces):
    """Has the answers of a network with a target vocabulary of `pieces` end."""
    bias = np.zeros(network.target_vocab_size, "f4")
    bias[pieces.index("</s>")] = 3
    network.target_embedding.bias.assign(bias)
    return network


def write_run(folder):
    """Writes a run in which everything differs from the paper; returns the folder."""
    words = marian.vocabulary()
    source, target = (pieces(marian.pieces_of(model)) for model in words.models)
    keras.utils.set_random_seed(1)
    network = transformer(source, target_vocab_size=len(target) + 1, tied_output=False)
    return write_folder(folder, with_ends(network, target), (source, target))


def write_folder(folder, network, vocabularies, words=None, weights=None):
    """Writes a checkpoint, its vocabularies and the SentencePiece models of `words`.

    Args:
        vocabularies: Pieces of both sides.
        weights: What to write instead of `weights_of` the network.
    """
    folder.mkdir(parents=True, exist_ok=True)
    models = (words or marian.vocabulary()).models
    for side, model, pieces in zip(("source", "target"), models, vocabularies, strict=True):
        (folder / f"{side}.spm").write_bytes(model)
        (folder / f"{side}.vocab").write_text("".join(f"{piece}\n" for piece in pieces), "utf-8")
    return write_checkpoint(folder, weights or weights_of(network))
