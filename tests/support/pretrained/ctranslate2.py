"""Folders of CTranslate2, written without it; a test compares them with those of the library."""

import json
import struct

import numpy as np

TABLES = ("encoder/embeddings_0/weight", "decoder/embeddings/weight", "decoder/projection/weight")
TABLES = (*TABLES, "decoder/projection/bias")
_DTYPES = ("float32", "int8", "int16", "int32", "float16")
_ACTIVATIONS = {"relu": 0, "swish": 2, "gelu": 3}
_QUANTIZED = "weight"


def write_folder(translator, folder, dtype="float32", halves=False):
    """Writes a folder of a translator.

    Args:
        dtype: Of the weights: "float32", "float16", "int16" or "int8".
        halves: Whether the vectors have all sines before all cosines.
    """
    folder.mkdir()
    tokenizers = translator.tokenizer, translator.target_tokenizer
    for side, tokenizer in zip(("source", "target"), tokenizers, strict=True):
        (folder / f"{side}.spm").write_bytes(tokenizer.model)
    pieces = tokenizers[0].pieces(range(tokenizers[0].vocab_size))
    (folder / "shared_vocabulary.json").write_text(json.dumps(pieces), "utf-8")
    special = {"unk_token": "unknown_id", "eos_token": "end_id", "decoder_start_token": "start_id"}
    config = {name: pieces[getattr(tokenizers[0], of)] for name, of in special.items()}
    config |= {"add_source_eos": True, "add_source_bos": False, "layer_norm_epsilon": 1e-5}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    write(folder, _rounded(_variables(translator.transformer, halves), dtype))
    return folder


def change(folder, name, **changes):
    """Changes a JSON file of the folder."""
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def write_old(folder, network, vocabularies, version, dtype="float32"):
    """Writes a folder as CTranslate2 did before it had config.json, without SentencePiece models.

    Args:
        network: `Transformer` with 8 heads and the positions of OpenNMT-tf.
        vocabularies: Lines of the files of source and target.
        version: Of model.bin, 1 to 5.
        dtype: Of the weights: "float32", "int16" or "int8".
    """
    folder.mkdir()
    for side, lines in zip(("source", "target"), vocabularies, strict=True):
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"{side}_vocabulary.txt").write_bytes(text.encode())
    variables = {
        name.replace("embeddings_0", "embeddings"): array
        for name, array in _variables(network, halves=True).items()
        if array.ndim and "position_encodings" not in name
    }
    variables = _rounded(variables, dtype, scale=1000 if version == 1 else None)
    if version == 1:
        variables = {
            _first_name(name): array
            for name, array in variables.items()
            if not name.endswith("_scale")
        }
    write(folder, variables, version, kind="TransformerBase", revision=min(version, 2))
    return folder


def _first_name(name):
    """Returns the name of a variable in the first revision."""
    for new, old in (
        ("layer_norm", "LayerNorm"),
        ("projection", "dense"),
        ("embeddings/weight", "w_embs"),
        ("linear_0", "conv1d"),
        ("linear_", "conv1d_"),
        ("weight", "kernel"),
    ):
        name = name.replace(new, old)
    masked = "masked_multi_head" if name.startswith("decoder") else "multi_head"
    name = name.replace("self_attention", masked).replace("/attention", "/multi_head")
    return f"transformer/{name}:0"


def write(folder, variables, version=6, kind="TransformerSpec", revision=7):
    """Writes model.bin of arrays by name; since version 3, equal arrays are written once."""
    once, others = {}, {}
    for name, array in sorted(variables.items()):
        array = np.asarray(array)
        key = (array.dtype.name, array.shape, array.tobytes())
        if array.ndim and key in once and version >= 3:
            others[name] = once[key][0]
        else:
            once[key if array.ndim and version >= 3 else name] = name, array
    with (folder / "model.bin").open("wb") as file:

        def string(text):
            content = text.encode() + b"\0"
            file.write(struct.pack("<H", len(content)) + content)

        file.write(struct.pack("<I", version))
        if version >= 2:
            string(kind)
            file.write(struct.pack("<I", revision))
        file.write(struct.pack("<I", len(once)))
        for name, array in once.values():
            string(name)
            file.write(struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape))
            if version >= 4:
                file.write(struct.pack("<BI", _DTYPES.index(array.dtype.name), array.nbytes))
            else:
                file.write(struct.pack("<BI", array.itemsize, array.size))
            file.write(array.tobytes())
        if version >= 3:
            file.write(struct.pack("<I", len(others)))
        for name, of in others.items():
            string(name)
            string(of)


def read(folder):
    """Returns the variables of a model.bin of float32 or rounded weights by name."""
    from kformer.imports.ctranslate2_file import read_variables

    return read_variables(folder / "model.bin").variables


def _variables(network, halves):
    d_model = network.d_model
    order = [*range(0, d_model, 2), *range(1, d_model, 2)] if halves else [*range(d_model)]
    one = lambda value, dtype: np.array(value, dtype)  # noqa: E731
    found = {
        TABLES[0]: network.source_embedding.table.numpy()[:, order],
        TABLES[1]: network.target_embedding.table.numpy()[:, order],
        TABLES[2]: network.target_embedding.output_table.numpy()[:, order],
        TABLES[3]: network.target_embedding.bias.numpy(),
        "encoder/embeddings_merge": one(0, "i1"),
        "encoder/multi_query_attention": one(0, "i1"),
        "decoder/alignment_layer": one(-1, "i2"),
        "decoder/alignment_heads": one(1, "i2"),
        "decoder/start_from_zero_embedding": one(0, "i1"),
        **{
            f"decoder/{name}": one(0, "i1")
            for name in ("alibi", "alibi_use_positive_positions", "scale_alibi")
        },
    }
    for side, stack in (("encoder", network.encoder), ("decoder", network.decoder)):
        positions = np.array(network.positions.encodings(1024, d_model))
        found[f"{side}/position_encodings/encodings"] = positions[:, order]
        found[f"{side}/num_heads"] = one(network.num_heads, "i2")
        found[f"{side}/pre_norm"] = one(network.norm_first, "i1")
        found[f"{side}/activation"] = one(_ACTIVATIONS[network.activation], "i1")
        found[f"{side}/scale_embeddings"] = one(1, "i1")
        if stack.norm:
            found |= _norm(f"{side}/layer_norm", stack.norm, order)
        for i, layer in enumerate(stack.layers):
            found |= {
                f"{side}/layer_{i}/{name}": array for name, array in _layer(layer, order).items()
            }
    return found


def _layer(layer, order):
    ffn = layer.feed_forward
    found = _linear("ffn/linear_0", [ffn.inner], order, reads=True)
    found |= _linear("ffn/linear_1", [ffn.outer], order, reads=False)
    found |= _norm("ffn/layer_norm", layer.feed_forward_residual.norm, order)
    if hasattr(layer, "cross_attention"):
        one, residual = layer.self_attention, layer.self_residual
        other = layer.cross_attention
        found |= _linear("attention/linear_0", [other.query_projection], order, True)
        joined = [other.key_projection, other.value_projection]
        found |= _linear("attention/linear_1", joined, order, True)
        found |= _linear("attention/linear_2", [other.output_projection], order, False)
        found |= _norm("attention/layer_norm", layer.cross_residual.norm, order)
    else:
        one, residual = layer.attention, layer.attention_residual
    joined = [one.query_projection, one.key_projection, one.value_projection]
    found |= _linear("self_attention/linear_0", joined, order, True)
    found |= _linear("self_attention/linear_1", [one.output_projection], order, False)
    return found | _norm("self_attention/layer_norm", residual.norm, order)


def _linear(name, denses, order, reads):
    """Joined layers; either their inputs are reordered, or their outputs."""
    weight = np.concatenate([dense.kernel.numpy().T for dense in denses])
    bias = np.concatenate([dense.bias.numpy() for dense in denses])
    weight = weight[:, order] if reads else weight[order]
    return {f"{name}/weight": weight, f"{name}/bias": bias if reads else bias[order]}


def _norm(name, norm, order):
    return {f"{name}/gamma": norm.gamma.numpy()[order], f"{name}/beta": norm.beta.numpy()[order]}


def _rounded(variables, dtype, scale=None):
    found = {}
    for name, array in variables.items():
        if array.ndim == 0 or dtype == "float32":
            found[name] = array
        elif dtype == "float16":
            found[name] = array.astype(dtype)
        elif not name.endswith(_QUANTIZED):
            found[name] = array
        else:
            most = np.abs(array).max(1) if dtype == "int8" else np.abs(array).max()
            most = np.where(most == 0, 127, most)  # Of padding.
            by = (127 if dtype == "int8" else 1024) / most if scale is None else scale
            by = np.asarray(by, "float32")
            rounded = np.rint(array * (by[:, None] if by.ndim else by))
            found[name], found[f"{name}_scale"] = rounded.astype(dtype), by
    return found


def write_argos_folder(translator, folder, source, target):
    """Writes the unpacked package of Argos Translate; returns the facts in its metadata.json."""
    folder.mkdir()
    model = write_folder(translator, folder / "model")
    (model / "source.spm").rename(folder / "sentencepiece.model")
    (model / "target.spm").unlink()
    facts = {"from_code": source, "to_code": target, "package_version": "1.9"}
    (folder / "metadata.json").write_text(json.dumps(facts))
    return facts
