"""Folders as Hugging Face's MarianMTModel has them, small and random, with SentencePiece models.

`write_folder` needs neither PyTorch nor transformers: it writes a `Transformer` the other way round
than `kformer.from_marian` reads one.
"""

import functools
import io
import json
import random
from itertools import islice
from typing import NamedTuple

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer.text.near_characters import spell_near
from support import phrasebook

END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"


class Vocabulary(NamedTuple):
    """A SentencePiece model for each side, and the pieces of both in the order of their ids."""

    models: tuple[bytes, bytes]
    pieces: list[str]

    @property
    def padding_id(self):
        return self.pieces.index(PADDING)


@functools.cache
def vocabulary(more=()) -> Vocabulary:
    """Returns models of the phrasebook's two languages, and a table as Marian has it.

    Args:
        more: Pieces of the table that neither model has.
    """
    pairs = [pair for pair, _ in islice(phrasebook.sample(random.Random(0)), 300)]
    models = tuple(trained(lines, hard_vocab_limit=False) for lines in zip(*pairs, strict=True))
    own = [piece for model in models for piece in pieces_of(model)]
    pieces = dict.fromkeys([END, UNKNOWN, *own, *more, PADDING])
    return Vocabulary(models, list(pieces))


def trained(lines, **settings) -> bytes:
    """Returns a SentencePiece model with the special ids of OPUS-MT's models."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        **{"vocab_size": 180, "character_coverage": 1.0, "minloglevel": 2, **settings},
    )
    return written.getvalue()


def pieces_of(model) -> list[str]:
    """Returns the pieces that split text."""
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids = range(library.GetPieceSize())
    return [library.IdToPiece(i) for i in ids if not (library.IsControl(i) or library.IsUnknown(i))]


def transformer(pieces, padding=PADDING, **settings):
    """Returns a random `Transformer` whose answers depend on the source; it starts from zeros.

    Its positions and norms are Marian's.

    Args:
        padding: The piece for padding.
    """
    from kformer import Transformer  # TensorFlow, which a process with PyTorch does without.
    from support.reference import perturbed

    sizes = {"num_layers": 2, "d_model": 32, "num_heads": 4, "d_ff": 48, "num_decoder_layers": 1}
    padding_id = pieces.index(padding)
    sizes |= {"activation": "swish", "output_bias": True, "padding_id": padding_id, **settings}
    d_model = sizes["d_model"]
    computed = {"max_wavelength": 10_000 ** (d_model / (d_model - 2)), "norm_epsilon": 1e-6}
    made = perturbed(Transformer(len(pieces), **computed | sizes))
    for weight in made.weights:
        if "attention" in weight.path and "kernel" in weight.path:
            weight.assign(3 * weight)
    for embedding in {id(e): e for e in (made.source_embedding, made.target_embedding)}.values():
        table = embedding.table.numpy()
        table[padding_id] = 0
        embedding.table.assign(table)
    if made.output_bias:
        bias = made.target_embedding.bias.numpy()
        bias[pieces.index(END)] += 5  # So that answers end.
        made.target_embedding.bias.assign(bias)
    return made


def write_folder(folder, words: Vocabulary, network, dtype="float32", **config):
    """Writes `network` as a folder of MarianMTModel.

    Args:
        folder: A new folder.
        words: `Vocabulary` of its ids.
        network: `Transformer`, with an output bias or without.
        dtype: Of the weights.
        **config: Changes of config.json.
    """
    folder.mkdir(parents=True)
    for name, model in zip(("source.spm", "target.spm"), words.models, strict=True):
        (folder / name).write_bytes(model)
    ids = {piece: i for i, piece in enumerate(words.pieces)}
    (folder / "vocab.json").write_text(json.dumps(ids), "utf-8")
    (folder / "config.json").write_text(json.dumps(config_of(network, words) | config), "utf-8")
    tensors = {name: array.astype(dtype) for name, array in state_dict_of(network).items()}
    write_safetensors(folder / "model.safetensors", tensors)
    return folder


def config_of(network, words):
    """Returns what config.json of the model holds."""
    config = network.get_config()
    sides = ("encoder", "decoder")
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "vocab_size": len(words.pieces),
        "d_model": config["d_model"],
        "activation_function": config["activation"],
        **{f"{side}_attention_heads": config["num_heads"] for side in sides},
        "encoder_ffn_dim": config["d_ff"],
        "decoder_ffn_dim": config.get("decoder_d_ff", config["d_ff"]),
        "encoder_layers": config["num_layers"],
        "decoder_layers": network.decoder.num_layers,
        "max_position_embeddings": 64,
        "pad_token_id": words.padding_id,
        "decoder_start_token_id": words.padding_id,
        "eos_token_id": words.pieces.index(END),
        "bad_words_ids": [[words.padding_id]],
        "scale_embedding": True,
        "static_position_embeddings": True,
    }


def state_dict_of(network, order=None):
    """Returns arrays by the names of MarianMTModel.

    Args:
        order: Of the elements of vectors, a list (D,); None for Marian's, all sines first.
    """
    halves = order or [*range(0, network.d_model, 2), *range(1, network.d_model, 2)]
    shared = network.target_vocab_size is None
    source = {"model.encoder.embed_tokens.weight": network.source_embedding}
    target = {"model.decoder.embed_tokens.weight": network.target_embedding}
    tables = {"model.shared.weight": network.source_embedding} if shared else source | target
    state = {name: one.table.numpy()[:, halves] for name, one in tables.items()}
    if not network.tied_output:
        state["lm_head.weight"] = network.target_embedding.output_table.numpy()[:, halves]
    if network.output_bias:
        state["final_logits_bias"] = network.target_embedding.bias.numpy()[None]
    for name, stack in (("encoder", network.encoder), ("decoder", network.decoder)):
        for i, layer in enumerate(stack.layers):
            for weight in layer.weights:
                of_layer = weight.path.split(f"layer_{i}/", 1)[1].split("/")
                if of_layer[-1] != "seed_generator_state":
                    rename = _renamed_cell if hasattr(layer, "ssru") else _renamed
                    place, array = rename(of_layer, weight.numpy(), halves)
                    state[f"model.{name}.layers.{i}.{place}"] = array
        if stack.norm:
            for kind, weight in (("weight", stack.norm.gamma), ("bias", stack.norm.beta)):
                state[f"model.{name}.layer_norm.{kind}"] = weight.numpy()[halves]
    return state


def _renamed_cell(path, array, halves):
    """As `_renamed`, in a layer of a decoder with an SSRU, which MarianMTModel lacks."""
    if path[0] == "self_residual":
        return f"ssru_layer_norm.{'weight' if path[-1] == 'gamma' else 'bias'}", array[halves]
    if path[0] != "ssru":
        return _renamed(path, array, halves)
    _, dense, kind = path
    if kind == "bias":
        return f"ssru.{dense}.bias", array[halves]
    return f"ssru.{dense}.weight", array[halves][:, halves].T


def _renamed(path, array, halves):
    """Returns Marian's name for a weight of a layer, and the weight as Marian has it."""
    sublayer, *inside, kind = path
    names = {"attention": "self_attn", "self_attention": "self_attn"}
    names |= {"cross_attention": "encoder_attn", "feed_forward": "final"}
    if inside == ["norm"]:
        sublayer = sublayer.removesuffix("_residual")
        sublayer = {"self": "self_attention", "cross": "cross_attention"}.get(sublayer, sublayer)
        module = f"{names[sublayer]}_layer_norm"
        return f"{module}.{'weight' if kind == 'gamma' else 'bias'}", array[halves]
    (dense,) = inside
    added = dense in ("output", "outer")  # To the vectors; the others read them.
    if kind == "kernel":
        array = array[:, halves].T if added else array[halves].T
    elif added:
        array = array[halves]
    projections = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
    if dense in projections:
        module = f"{names[sublayer]}.{projections[dense]}"
    else:
        module = {"inner": "fc1", "outer": "fc2"}[dense]
    return f"{module}.{'weight' if kind == 'kernel' else 'bias'}", array


def write_safetensors(path, arrays):
    """Writes a `.safetensors` file of arrays by name."""
    names = {"float64": "F64", "float32": "F32", "float16": "F16"}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        begin = len(data)
        data += array.tobytes()
        header[name] = {
            "dtype": names[array.dtype.name],
            "shape": array.shape,
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def with_near(model: bytes) -> bytes:
    """Returns a SentencePiece model with the nearest of the characters that it lacks."""
    near = sentencepiece_model_pb2.ModelProto.FromString(model)
    spell_near(near)
    return near.SerializeToString()
