"""The TFLite file: a whole translator in built-in ops, for LiteRT on phones and anywhere.

UTF-8 bytes go in, UTF-8 bytes come out; nothing stands beside the file. What there is to know of it
is in an archive at its end: any program that reads ZIP finds `kformer.json` and
`test_vectors.json` there, `kformer.pocket.translator` too, and LiteRT does not look so far.
"""

import json
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

import kformer
from kformer.arguments import check_integer
from kformer.decoding.options import EXTRA_LENGTH
from kformer.decoding.search_ids import make_search
from kformer.export.tflite.byte_codec.tables import tables_of
from kformer.export.tflite.flatbuffer import shrunk
from kformer.export.tflite.float16_weights import halve_weights
from kformer.export.tflite.int4_weights import shrink_to_four_bits
from kformer.export.tflite.quantized_embedding import round_embeddings
from kformer.export.tflite.signatures import SHORTER, Signatures
from kformer.files import check_writable, replacing
from kformer.pocket.metadata import FORMAT, MANIFEST, VECTORS
from kformer.pocket.translator import SIGNATURE, PocketTranslator

LONGEST = 128  # Ids of a source, unless told otherwise.
BYTES_PER_ID = 6  # Room for text; pieces have about 4.5.
PRECISIONS = ("float32", "float16", "int8", "int4")
_OF_INTEGERS = ("int8", "int4")  # In the converter's words, of a dynamic range.
_CHANGES = {"float16": halve_weights, "int4": shrink_to_four_bits}
EXAMPLES = 8  # Test vectors at most.


class Limits(NamedTuple):
    """The static sizes of a file."""

    source_length: int  # S, ids
    target_length: int  # T, ids
    source_bytes: int
    target_bytes: int

    @property
    def lengths(self):
        """Source lengths with a branch, or a signature for batches, of their own; ascending."""
        return [*(short for short in SHORTER if short < self.source_length), self.source_length]


def export_tflite(
    translator,
    path,
    beam_size: int = 1,
    length_penalty: float = 0.6,
    max_source_length: int | None = None,
    precision: str = "float32",
    batch_size: int = 1,
    check=None,
    examples=(),
    about=None,
) -> Path:
    """Writes a `.tflite` file; `kformer.pocket.PocketTranslator` reads it, and any app.

    Its first signature, `translate`, takes `source`, uint8 (6 S,): UTF-8 and zeros. It gives
    `translation`, uint8 (6 T,), the same; `score`, float32 (1,), see `kformer.Greedy` and
    `kformer.Beam`; and `truncated`, int32 (1,): 0, or 1 if only the beginning of the source was
    read, 2 if there was no room for the end of the translation, 3 for both. T is S + 50. Broken
    UTF-8 is read as U+FFFD, one for each byte; zeros within a text are U+0000, zeros at its end do
    not count, and a translation contains none; no character is cut in two. Of both texts it gives
    the ids: `source_ids`, int32 (S,), and `ids`, int32 (T,).

    The others are parts of it, and share its weights; `kformer.export.tflite.signatures` has them:
    `translate_ids`, `tokenize`, `detokenize`, `encode`, `decode_step`; and with batches
    `translate_ids_BxS`. Every shape is static, every op built in.

    Args:
        translator: `kformer.Translator`.
        path: Where to write; its name ends in `.tflite`.
        beam_size, length_penalty: See `kformer.Translator.translate`.
        max_source_length: S; by default 128, or less where the translator's own limit is less,
            which it must not exceed.
        precision: Of the weights: "float32"; "float16", about half the size; "int8", smaller
            and faster still, whose translations may differ; or "int4", where they differ more, and
            whose vocabulary has 8 bits. All compute in float32 but for the products of the last
            two.
        batch_size: B; over 1 there are signatures for B sources at once, too.
        check: Called with the path of the `.tflite` file before it gets its name; what it raises
            keeps it from appearing.
        examples: Texts that an app can check itself with; the file says what it makes of the first
            eight that are short enough for it.
        about: dict, what is to be known of the translator, as `{"licence": "CC BY 4.0"}`.

    Returns:
        `Path` of the `.tflite` file.

    Raises:
        ValueError: An argument is wrong; or the tokenizer is none that the file could hold, see
            `kformer.export.tflite.byte_codec.piece_model`.
    """
    path = Path(path)
    limits = check_tflite(translator, path, max_source_length, precision, batch_size)
    transformer = translator.transformer.copy()
    if precision in _OF_INTEGERS:
        round_embeddings(transformer)
    search = make_search(translator.target_tokenizer, beam_size, length_penalty)
    signatures = Signatures(translator, transformer, search, limits, batch_size)
    manifest = {
        "format": FORMAT,
        "kformer": kformer.__version__,
        **(about or {}),
        "precision": precision,
        "beam_size": beam_size,
        "length_penalty": length_penalty,
        **_sizes(translator),
        "max_source_length": limits.source_length,
        "max_target_length": limits.target_length,
        "max_source_bytes": limits.source_bytes,
        "max_target_bytes": limits.target_bytes,
        "batches": signatures.batches,
    }
    content = _converted(signatures, precision)
    with replacing(path) as temporary:
        temporary.write_bytes(content)
        _append(temporary, MANIFEST, manifest)
        _append(temporary, VECTORS, list(_test_vectors(temporary, examples)))
        if check:
            check(temporary)
    return path


def check_tflite(translator, path, max_source_length, precision, batch_size) -> Limits:
    """Raises at once what `export_tflite` would raise of these arguments; returns the sizes."""
    path = Path(path)
    if path.suffix != ".tflite":
        raise ValueError(f"The file's name must end in .tflite. Received: path={str(path)!r}.")
    check_writable(path)
    limits = limits_of(translator, max_source_length)
    if precision not in PRECISIONS:
        raise ValueError(
            f"`precision` must be one of {', '.join(PRECISIONS)}. "
            f"Received: precision={precision!r}."
        )
    check_integer("batch_size", batch_size, least=1)
    for tokenizer in (translator.tokenizer, translator.target_tokenizer):
        tables_of(tokenizer.model)  # Refuses what the file cannot hold.
    return limits


def limits_of(translator, max_source_length=None) -> Limits:
    """Returns the sizes of a file; see `export_tflite`."""
    if max_source_length is None:
        max_source_length = min(LONGEST, translator.max_source_length)
    check_integer("max_source_length", max_source_length)
    if not 2 <= max_source_length <= translator.max_source_length:
        raise ValueError(
            "`max_source_length` must leave room for a piece and the end id, and not be over the "
            f"translator's {translator.max_source_length}. "
            f"Received: max_source_length={max_source_length}."
        )
    most = max_source_length + EXTRA_LENGTH
    return Limits(max_source_length, most, BYTES_PER_ID * max_source_length, BYTES_PER_ID * most)


def _sizes(translator):
    """What the manifest says of the model and its ids."""
    transformer, source, target = (
        translator.transformer,
        translator.tokenizer,
        translator.target_tokenizer,
    )
    config = transformer.get_config()
    sizes = ("num_layers", "d_model", "num_heads", "d_ff")
    return {
        **{name: config[name] for name in sizes},
        "parameters": transformer.count_params(),
        "source_vocab_size": source.vocab_size,
        "target_vocab_size": target.vocab_size,
        "padding_id": source.padding_id,
        "unknown_id": source.unknown_id,
        "end_id": source.end_id,
        "target_padding_id": target.padding_id,
        "target_start_id": target.start_id,
        "target_end_id": target.end_id,
    }


def _converted(signatures, precision):
    with tempfile.TemporaryDirectory() as folder:  # By way of a file, signatures keep names.
        tf.saved_model.save(signatures, folder, dict(signatures.functions))
        names = [*signatures.functions]
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=names)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        # Two signatures call a search that has branches: else the first try fails, and says so.
        converter._experimental_guarantee_all_funcs_one_use = True
        if precision in _OF_INTEGERS:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        return shrunk(converter.convert(), SIGNATURE, _CHANGES.get(precision))


def _append(path, name, value):
    """Adds a JSON file to the archive at the end of `path`."""
    if isinstance(value, list):  # A line for each, or ids would take one each.
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in value)
        text = f"[\n{lines}\n]\n"
    else:
        text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(name), text)  # Without the time: the same file again.


def _test_vectors(path, texts):
    """Yields what the file says of the first `texts` that it can take whole."""
    pocket = PocketTranslator(path, workers=1)
    left = EXAMPLES
    for text in texts:
        if not left:
            break
        ids, whole = pocket.tokenize(text)
        if whole:
            left -= 1
            [translation] = pocket.translate([text])
            yield {"text": text, "ids": ids, "translation": translation}
