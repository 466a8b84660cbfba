"""A translator from a checkpoint of OpenNMT-tf, which TensorFlow reads.

Its sources have no end id, as in OpenNMT-py. Here they have one, to which the network pays no
attention: the `ignored_source_id` of `kformer.Transformer`.

Axes: D d_model, V vocabulary.
"""

import math
import re
from pathlib import Path

import numpy as np
import tensorflow as tf

from kformer.imports.assembly import assemble, network_with, tensor2tensor_positions
from kformer.imports.opennmt import LONGEST, UNKNOWN, tables_of
from kformer.imports.plain_vocabularies import (
    check_pieces,
    existing,
    pieces_in_lines,
    read_models,
)
from kformer.imports.readme_card import read_card
from kformer.tasks.translator import Translator

_TOOLKIT = "OpenNMT-tf"
_WHOSE = f"The folder of a checkpoint of {_TOOLKIT}"
_HEADS = {64: 2, 512: 8, 1024: 16}  # Of its own Transformers, by d_model.
_EPSILON = 1e-3  # Of Keras's norms.
_END_OF_NAME = "/.ATTRIBUTES/VARIABLE_VALUE"
_SOURCE = "examples_inputter/features_inputter/embedding"
_TARGET = "examples_inputter/labels_inputter/embedding"
_OUTPUT = "decoder/output_layer"
_FEATURES = {  # Unsupported features, by a part of a variable's name.
    "relative_position_": "relative positions",
    "position_encoder/": "learned positions",
    "encoder/encoders/": "several sources",
    "attention/1/": "several sources",
    "/cell/": "recurrent layers",
}
_LAYER = re.compile(r"(encoder|decoder)/layers/(\d+)/(\w+(?:/0)?)/(.+)/(\w+)")
_SUBLAYERS = {"self_attention": "self_attn", "attention/0": "encoder_attn", "ffn": "final"}
_MODULES = {
    "linear_queries": "q_proj",
    "linear_keys": "k_proj",
    "linear_values": "v_proj",
    "linear_output": "out_proj",
}
_DENSE = {"inner": "fc1", "outer": "fc2"}
_KINDS = {"gamma": "weight", "beta": "bias", "kernel": "weight", "bias": "bias"}


def from_opennmt_tf(
    checkpoint: str | Path,
    source_model: str | Path | None = None,
    target_model: str | Path | None = None,
    source_vocabulary: str | Path | None = None,
    target_vocabulary: str | Path | None = None,
    num_heads: int | None = None,
) -> Translator:
    """Returns the translator of a checkpoint of OpenNMT-tf 2.

    The model is a Transformer with sinusoidal positions and ReLU, whose text was split by
    SentencePiece, and whose sources were trained on without start and end. OpenNMT-tf is not
    needed. Licence, languages and citation of a README.md in the folder go into
    `Translator.about`.

    Args:
        checkpoint: The folder of the run, or of averaged checkpoints, for its latest; or one
            checkpoint in it, such as run/ckpt-5000.
        source_model: Path of the SentencePiece model of the sources; None for source.spm in the
            folder of the checkpoint.
        target_model: Path of the SentencePiece model of the translations; None for target.spm in
            the folder if it exists, else for the model of the sources.
        source_vocabulary: Path of the vocabulary of the sources, one piece a line; None for
            source.vocab in the folder.
        target_vocabulary: Path of the vocabulary of the translations; None for target.vocab in the
            folder if it exists, else for the vocabulary of the sources.
        num_heads: Number of attention heads, which a checkpoint does not contain; None for the
            number in OpenNMT-tf's own Transformers: 2, 8 or 16 for a d_model of 64, 512 or 1,024.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks.

    Examples:
        >>> import kformer
        >>> translator = kformer.from_opennmt_tf("opennmt-tf-de-en", num_heads=4)
        >>> translator.transformer.d_model
        32
        >>> translator.save("de-en.keras")
    """
    path = _latest(Path(checkpoint))
    folder = path.parent
    vocabularies = _vocabularies(folder, source_vocabulary, target_vocabulary)
    tables = tables_of(vocabularies, path, _TOOLKIT)
    network = _network_of(_read_weights(path), num_heads, [*map(len, vocabularies)], tables, path)
    models = read_models(folder, source_model, target_model, _WHOSE)
    return assemble(models, tables, network, LONGEST, about=read_card(folder))


def _latest(path):
    """Returns the path of a checkpoint: as given, or the latest of a folder."""
    if path.suffix == ".index":
        path = path.with_suffix("")
    if path.with_name(f"{path.name}.index").is_file():
        return path
    latest = tf.train.latest_checkpoint(str(path)) if path.is_dir() else None
    if latest is None:
        raise FileNotFoundError(
            f"A checkpoint of {_TOOLKIT} is a folder with the file `checkpoint`, or the common "
            f"beginning of the names of its files. Received: {str(path)!r}."
        )
    return Path(latest)


def _vocabularies(folder, source, target):
    """Returns the pieces of both sides in the order of their ids, the unknown one last."""
    source = Path(source or existing(folder, "source.vocab", _WHOSE))
    if target is None:
        target = folder / "target.vocab" if (folder / "target.vocab").exists() else source
    sides = []
    for path in (source, Path(target)):
        sides.append([*pieces_in_lines(path), UNKNOWN])
        check_pieces(sides[-1], str(path))
    return sides


def _read_weights(path):
    """Returns the weights of the model by name, without the optimizer's."""
    try:
        reader = tf.train.load_checkpoint(str(path))
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        promised = sum(math.prod(shapes[name]) * dtypes[name].size for name in shapes)
        stored = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}.data-*"))
        if promised > stored:  # TensorFlow takes the memory before it reads.
            raise ValueError(f"arrays of {promised:,} bytes in files of {stored:,}")
        names = [name for name in shapes if name.endswith(_END_OF_NAME)]
        weights = {
            name.removeprefix("model/").removesuffix(_END_OF_NAME): reader.get_tensor(name)
            for name in names
            if name.startswith("model/") and ".OPTIMIZER_SLOT" not in name
        }
    except (tf.errors.OpError, ValueError, IndexError, RuntimeError) as error:
        raise ValueError(
            f"The files of a checkpoint must be whole. Received: {str(path)!r}: "
            f"{str(error).splitlines()[0]}"
        ) from error
    if not weights:
        raise ValueError(
            f"A checkpoint of {_TOOLKIT} 2 must hold `model`; `onmt-main` converts those of "
            f"version 1. Received: {str(path)!r}, which does not."
        )
    return weights


def _network_of(weights, num_heads, sizes, tables, path):
    for part, words in _FEATURES.items():
        if name := next((name for name in weights if part in name), None):
            raise ValueError(
                f"Models of {_TOOLKIT} with {words} cannot be imported. "
                f"Received: {name!r} in {str(path)!r}."
            )
    source = _take_table(weights, _SOURCE, sizes[0], path)
    target = _take_table(weights, _TARGET, sizes[1], path) if _TARGET in weights else source
    output = weights.pop(f"{_OUTPUT}/kernel", None)  # (D, V); missing if the target's is shared.
    bias = weights.pop(f"{_OUTPUT}/bias", None)
    d_model = source.shape[1]
    if num_heads is None and d_model not in _HEADS:
        raise ValueError(
            "A checkpoint does not contain the number of attention heads: give `num_heads`. "
            f"Received: num_heads=None, a d_model of {d_model} in {str(path)!r}."
        )
    layers = dict(map(_renamed, weights.items()))
    for name in [name for name in layers if name.endswith(".weight")]:  # `mha_bias=False`.
        layers.setdefault(name.replace(".weight", ".bias"), np.zeros(len(layers[name]), "f4"))
    settings = {
        "num_layers": _count(layers, "encoder"),
        "num_decoder_layers": _count(layers, "decoder"),
        "d_model": d_model,
        "num_heads": _HEADS[d_model] if num_heads is None else num_heads,
        "d_ff": len(layers.get("encoder.layers.0.fc1.weight", source)),
        "norm_first": "decoder.layer_norm.weight" in layers,
        "padding_id": tables[0].pieces.index(tables[0].padding),
        "ignored_source_id": tables[0].pieces.index(tables[0].end),
        "norm_epsilon": _EPSILON,
        **tensor2tensor_positions(d_model, first=1),
    }
    matrices = source, target, target if output is None else output.T
    return network_with(settings, matrices, bias, layers, tables)


def _take_table(weights, name, size, path):
    table = weights.pop(name, None)
    if table is None or len(table) != size:
        raise ValueError(
            f"The vocabularies must fit the weights: {name!r} must have {size} rows, one for each "
            f"line and one for {UNKNOWN}. Received: shape {getattr(table, 'shape', None)} in "
            f"{str(path)!r}."
        )
    return table


def _renamed(item):
    """Returns the name in MarianMTModel, and the array as there: (outputs, inputs).

    A variable without a name there keeps its own, by which it is refused.
    """
    name, array = item
    if match := re.fullmatch(r"(encoder|decoder)/layer_norm/(gamma|beta)", name):
        return f"{match[1]}.layer_norm.{_KINDS[match[2]]}", array
    match = _LAYER.fullmatch(name)
    if not match or match[3] not in _SUBLAYERS or match[5] not in _KINDS:
        return name, array
    side, number, sublayer, place, kind = match.groups()
    sublayer, module = _SUBLAYERS[sublayer], place.removeprefix("layer/")
    if place in ("input_layer_norm", "output_layer_norm"):
        module = f"{sublayer}_layer_norm"
    elif sublayer == "final" and module in _DENSE:
        module = _DENSE[module]
    elif module in _MODULES:
        module = f"{sublayer}.{_MODULES[module]}"
    else:
        return name, array
    return f"{side}.layers.{number}.{module}.{_KINDS[kind]}", array.T


def _count(layers, side):
    return len({name.split(".")[2] for name in layers if name.startswith(f"{side}.layers.")})
