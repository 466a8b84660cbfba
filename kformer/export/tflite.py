"""The TFLite file: the whole loop in built-in ops, for LiteRT on phones and anywhere.

Beside `NAME.tflite` stand `NAME.tflite.json`, a manifest, and the SentencePiece models that it
names; `kformer.pocket` reads them, without TensorFlow.
"""

import json
import tempfile
from pathlib import Path

import tensorflow as tf

import kformer
from kformer.pocket import FORMAT, SIGNATURE
from kformer.runtime import LITERT
from kformer.translator import EXTRA_LENGTH, make_search, search_ids

LONGEST = 128  # Ids of a source, unless told otherwise.
SHORTER = (32, 64, 128, 256)  # Lengths that have signatures of their own: time is for all of them.
PRECISIONS = ("float32", "float16", "int8")


def export_tflite(
    translator,
    path,
    beam_size: int = 1,
    length_penalty: float = 0.6,
    max_source_length: int | None = None,
    precision: str = "float32",
    batch_size: int = 1,
    check=None,
):
    """Writes a `.tflite` file, with its tokenizer models and a manifest beside it.

    Its signature `translate_ids` takes `source`, int32 (1, S): pieces, the end id, zeros. It gives
    `ids`, int32 (1, S + 50), the translation, up to its end id and zeros; and `score`, float32
    (1,), see `kformer.Greedy` and `kformer.Beam`. Every shape is static, every op built in. Other
    signatures do the same for shorter sources and for batches, at less cost; the manifest names
    them with their shapes. All share one copy of the weights.

    Args:
        translator: `kformer.Translator`.
        path: Where to write; its name ends in `.tflite`.
        beam_size, length_penalty: See `kformer.Translator.translate`.
        max_source_length: S; by default 128, or less where the translator's own limit is less,
            which it must not exceed.
        precision: Of the weights: "float32"; "float16", about half the size; or "int8", smaller
            and faster still, whose translations may differ. All compute in float32 but for
            int8's products.
        batch_size: B; over 1 there are signatures for B sources at once, too.
        check: Called with the path of the `.tflite` file before it gets its name; what it raises
            keeps it from appearing.

    Returns:
        `Path` of the `.tflite` file.
    """
    path = Path(path)
    if path.suffix != ".tflite":
        raise ValueError(f"The file's name must end in .tflite. Received: path={str(path)!r}.")
    if max_source_length is None:
        max_source_length = min(LONGEST, translator.max_source_length)
    if not 2 <= max_source_length <= translator.max_source_length:
        raise ValueError(
            "`max_source_length` must leave room for a piece and the end id, and not be over the "
            f"translator's {translator.max_source_length}. "
            f"Received: max_source_length={max_source_length}."
        )
    if precision not in PRECISIONS:
        raise ValueError(
            f"`precision` must be one of {', '.join(PRECISIONS)}. "
            f"Received: precision={precision!r}."
        )
    if batch_size < 1:
        raise ValueError(f"`batch_size` must be positive. Received: batch_size={batch_size}.")
    search = make_search(translator.target_tokenizer, beam_size, length_penalty)
    shapes = _shapes(batch_size, max_source_length)
    content = _convert(translator.transformer.copy(), search, shapes, precision)

    tokenizers = {"source_model": translator.tokenizer}
    if translator.target_tokenizer is not translator.tokenizer:
        tokenizers["target_model"] = translator.target_tokenizer
    names = {key: f"{path.stem}.{key.removesuffix('_model')}.model" for key in tokenizers}
    manifest = {
        "format": FORMAT,
        "kformer": kformer.__version__,
        "signature": SIGNATURE,
        "signatures": {name: list(shape) for name, shape in shapes.items()},
        "precision": precision,
        **names,
        "padding_id": translator.tokenizer.padding_id,
        "end_id": translator.tokenizer.end_id,
        "max_source_length": max_source_length,
        "max_target_length": max_source_length + EXTRA_LENGTH,
        "beam_size": beam_size,
        "length_penalty": length_penalty,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.stem}-", dir=path.parent) as folder:
        folder = Path(folder)
        (folder / path.name).write_bytes(content)
        for key, tokenizer in tokenizers.items():
            tokenizer.save(folder / names[key])
        text = json.dumps(manifest, indent=2) + "\n"
        (folder / f"{path.name}.json").write_text(text, "utf-8")
        if check:
            check(folder / path.name)
        for file in folder.iterdir():
            file.replace(path.parent / file.name)
    return path


def _shapes(batch_size, max_source_length):
    """Returns name -> (B, S) of every signature."""
    lengths = [*(length for length in SHORTER if length < max_source_length), max_source_length]
    batches = [1] if batch_size == 1 else [1, batch_size]
    shapes = {
        f"{SIGNATURE}_{batch}x{length}": (batch, length) for batch in batches for length in lengths
    }
    del shapes[f"{SIGNATURE}_1x{max_source_length}"]
    return {SIGNATURE: (1, max_source_length), **shapes}


def _convert(transformer, search, shapes, precision):
    module = tf.Module()
    module.weights = [variable.value for variable in transformer.variables]
    module.functions = {}
    for name, (batch, length) in shapes.items():
        module.functions[name] = _signature(transformer, search, batch, length)
    with tempfile.TemporaryDirectory() as folder:  # By way of a file, signatures keep names.
        tf.saved_model.save(module, folder, dict(module.functions))
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[*shapes])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        if precision != "float32":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if precision == "float16":
            converter.target_spec.supported_types = [tf.float16]
        return converter.convert()


def _signature(transformer, search, batch, length):
    @tf.function(input_signature=[tf.TensorSpec([batch, length], tf.int32, name="source")])
    def translate_ids(source):
        found = search_ids(
            transformer, source, search, runtime_for(batch, search), length + EXTRA_LENGTH
        )
        return {"ids": found.ids[:, 0], "score": found.scores[:, 0]}

    return translate_ids


def runtime_for(batch_size, search):
    """Returns the `kformer.runtime.Runtime` of a signature.

    A block costs some operations a step, and saves copies of what a batch has kept: with 80
    positions of the tiny model, that is 1.25 times as fast for 32 rows, and no faster for one;
    with 4 beams, 1.45 times. Blocks of 4 or 16 take 5 % longer than those of 8.
    """
    return LITERT if batch_size * search.beam_size >= 16 else LITERT._replace(block=None)
