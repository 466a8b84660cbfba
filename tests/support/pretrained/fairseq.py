"""Checkpoints as fairseq writes them, of a `Transformer` and without PyTorch."""

import argparse

from support.pretrained import marian
from support.pretrained.torch_file import write_torch_file

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
LANGUAGES = ("de", "en")


def pieces(words=None):
    """Returns the pieces of a joint dictionary in the order of their ids."""
    words = words or marian.vocabulary()
    own = [piece for piece in words.pieces if piece not in SPECIAL]
    return [*SPECIAL, *own]


def transformer(pieces, **settings):
    """Returns a random `Transformer` with the positions of fairseq."""
    settings = {"d_model": 32, **settings}
    wave = 10000 ** (settings["d_model"] / (settings["d_model"] - 2))
    settings = {"first_position": 2, "max_wavelength": wave, **settings}
    settings = {"norm_epsilon": 1e-5, "output_bias": False, **settings}
    return marian.transformer(pieces, **settings)


def arguments_of(network, **changes):
    """Returns the settings that fairseq would have trained `network` with."""
    both = {
        "embed_dim": network.d_model,
        "attention_heads": network.num_heads,
        "normalize_before": network.norm_first,
        "learned_pos": False,
    }
    shared = network.target_vocab_size is None
    return {
        "arch": "transformer",
        "task": "translation",
        "source_lang": LANGUAGES[0],
        "target_lang": LANGUAGES[1],
        "max_source_positions": 64,
        "activation_fn": network.activation,
        "encoder_layers": network.num_layers,
        "decoder_layers": network.decoder.num_layers,
        **{
            f"{side}_{name}": value
            for side in ("encoder", "decoder")
            for name, value in both.items()
        },
        "encoder_ffn_embed_dim": network.d_ff,
        "decoder_ffn_embed_dim": network.decoder.d_ff,
        "share_all_embeddings": shared and network.tied_output,
        "share_decoder_input_output_embed": network.tied_output,
        "adaptive_softmax_cutoff": None,
        "no_token_positional_embeddings": False,
        "quant_noise_pq": 0,
        **changes,
    }


def state_dict_of(network):
    """Returns arrays by the names of fairseq."""
    state = {
        name.removeprefix("model."): array for name, array in marian.state_dict_of(network).items()
    }
    shared = state.pop("shared.weight", None)
    if shared is not None:
        state |= {f"{side}.embed_tokens.weight": shared for side in ("encoder", "decoder")}
    tied = state["decoder.embed_tokens.weight"]
    state["decoder.output_projection.weight"] = state.pop("lm_head.weight", tied)
    return state


def write_folder(folder, network, dictionary, words=None, config=None, **changes):
    """Writes a checkpoint, its dictionaries and the SentencePiece models of `words`.

    Args:
        dictionary: Pieces of both sides.
        config: Function from arguments to `cfg`, as newer checkpoints have it; else `args`.
        **changes: Of the arguments.
    """
    folder.mkdir(parents=True)
    write_text_files(folder, words or marian.vocabulary(), (dictionary, dictionary))
    arguments = argparse.Namespace(**arguments_of(network, **changes))
    settings = {"args": arguments} if config is None else {"args": None, "cfg": config(arguments)}
    write_checkpoint(folder, state_dict_of(network), **settings)
    return folder


def write_text_files(folder, words, dictionaries):
    """Writes the dictionaries of both sides, lists of pieces, and the SentencePiece models."""
    for language, pieces in zip(LANGUAGES, dictionaries, strict=True):
        lines = "".join(f"{piece} {9999 - i}\n" for i, piece in enumerate(pieces[len(SPECIAL) :]))
        (folder / f"dict.{language}.txt").write_text(lines, "utf-8")
    for side, model in zip(("source", "target"), words.models, strict=True):
        (folder / f"{side}.spm").write_bytes(model)


def write_checkpoint(folder, state, **others):
    content = {"model": state, "extra_state": {"epoch": 3, "best": 1.5}, **others}
    return write_torch_file(folder / "checkpoint_best.pt", content)
