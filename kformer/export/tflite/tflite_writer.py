"""The TFLite file: a whole model in built-in ops, for LiteRT on phones and anywhere.

It takes UTF-8 bytes, returns UTF-8 bytes or numbers, and needs no other file. A ZIP archive at its
end, which LiteRT ignores, holds its metadata, `kformer.json`, and `test_vectors.json`. The
`description` of the FlatBuffer contains the kind of model, its languages and its precision, and the
metadata of the FlatBuffer contains its name, version and licence, for other tools.
"""

import itertools
import json
import zipfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import kformer
from kformer.arguments import check_choice, check_integer
from kformer.export.byte_codec.codec_tables import tables_of
from kformer.export.tflite.rounded_weights import store_as_float16, store_as_int4
from kformer.export.tflite.table_places import table_places
from kformer.export.tflite.tflite_signatures import Limits, limits_of
from kformer.export.tflite_graph.beginnings import share_beginnings
from kformer.export.tflite_graph.conversion import convert
from kformer.export.tflite_graph.flatbuffer import merge_buffers, shrink, write_model
from kformer.export.tflite_graph.int8_weights import store_as_int8
from kformer.export.tflite_graph.model_metadata import ENTRY, add_entry, model_metadata
from kformer.export.tflite_graph.stand_ins import StandIns
from kformer.files import check_writable, json_text, replacing
from kformer.kinds import known_kind
from kformer.model.network import is_float32
from kformer.near_names import with_near_names
from kformer.pocket.metadata import FORMAT, METADATA, VECTORS, checksum_of
from kformer.tasks.language_model import LanguageModel
from kformer.tasks.search_defaults import export_options
from kformer.tasks.text_classifier import TextClassifier
from kformer.tasks.translator import Translator

PRECISIONS = ("float32", "float16", "int8", "int4", "int4-all")
_TABLE_BITS = {"int8": 8, "int4": 8, "int4-all": 4}
# litert-quantizer 0.11 also converts to float16, int8 and int4, but keeps a float32 copy of the
# vocabulary's table: a tiny model has 9.0, 6.8 and 5.6 MB with it, 4.8, 2.7 and 2.0 MB with these.
# A sentence takes 8.5, 2.4 and 1.7 ms with it, 4.6, 2.3 and 2.1 ms with these.
_CHANGES = {
    "float32": (),
    "float16": (store_as_float16,),
    "int8": (store_as_int8,),
    "int4": (store_as_int8, store_as_int4),
    "int4-all": (store_as_int8, store_as_int4),
}
EXAMPLES = 8  # Maximum number of test vectors.


@with_near_names
def export_tflite(
    model: Translator | TextClassifier | LanguageModel,
    path: str | Path,
    beam_size: int | None = None,
    length_penalty: float | None = None,
    max_source_length: int | None = None,
    precision: str = "float32",
    batch_size: int = 1,
    check: Callable[[Path], object] | None = None,
    examples: Iterable[str] = (),
    about: dict[str, str] | None = None,
    signatures: Collection[str] | None = None,
) -> Path:
    """Writes a `.tflite` file for `kformer.pocket` or any app with LiteRT.

    A translator's first signature, `translate`, takes `source`, uint8 (6 S,): UTF-8, padded with
    zeros. It returns `translation`, uint8 (6 T,), in the same form; `score`, float32 (1,), defined
    by `kformer.Greedy` and `kformer.Beam`; and `truncated`, int32 (1,): 0, or 1 if only the
    beginning of the source was read, 2 if the end of the translation did not fit, 3 for both. T is
    S + 50. Each byte of broken UTF-8 is read as U+FFFD. Zeros within a text are U+0000, zeros at
    its end are padding, and a translation contains none. No character is cut in two. It also
    returns the ids of both texts: `source_ids`, int32 (S,), and `ids`, int32 (T,); and `quality`,
    float32 (1,), the expected chrF from 0 to 1, if the translator has a quality estimate, whose
    threshold is in the metadata.

    The signatures of a translator with several target languages that take `source` take
    `target_language`, int32 (1,), too: the id of a language in `target_languages` of the metadata.

    The other signatures share its weights: `encode_text`, which takes `source`, too, and returns
    `vector`, float32 (D,), as `kformer.Translator.encode` does, and `truncated`; `translate_ids`,
    `tokenize`, `detokenize`, `encode`, `decode_step` and, with batches, `translate_ids_BxS`; see
    `kformer.export.tflite.tflite_translator`.

    A classifier's first signature, `classify`, takes the same `source`. It returns `label`, uint8:
    UTF-8, ended by a zero; `probabilities`, float32 (C,); and `truncated`, 0 or 1. The others are
    `encode_text`, `tokenize`, `classify_ids` and, with batches, `classify_ids_BxS`; see
    `kformer.export.tflite.tflite_classifier`.

    A language model's first signature, `generate`, takes the bytes of a prompt, and returns
    `generation`, uint8 (6 T,), the prompt with its continuation; `score`, of the continuation; and
    `truncated`: 1 if the prompt was too long, so that its beginning was continued, and 2 if the end
    of the text did not fit. T is the model's `max_length`. It also returns `source_ids` and `ids`,
    the ids of the continuation. The others are `encode_text`, `tokenize`, `detokenize`,
    `generate_ids` and, with batches, `generate_ids_BxS`; see
    `kformer.export.tflite.tflite_language_model`.

    Every shape is static, every op built in. The inputs and outputs of each signature are in the
    order of their names, for runtimes that know only their indices.

    Args:
        model: `kformer.Translator`, `kformer.TextClassifier`, `kformer.TextTagger` or
            `kformer.LanguageModel`.
        path: Path of the file to write, which ends in `.tflite`.
        beam_size, length_penalty: As for `kformer.Translator.translate`. All other options of the
            search are the model's own, `kformer.Translator.search_defaults`. A classifier has no
            search.
        max_source_length: S; by default 128, or less where the model's own limit is less, which it
            must not exceed.
        precision: Type of the stored weights: "float32"; "float16", about half the size; "int8",
            smaller and faster, but answers may differ; "int4", whose answers differ more and
            whose embedding has 8 bits; or "int4-all", whose embedding has 4, too. All compute in
            float32, except the matrix products of the last three.
        batch_size: B; if over 1, the file also has signatures for B sources at once.
        check: Called with the path of the complete file before it is renamed to `path`; if it
            raises, `path` is not written.
        examples: Texts for test vectors, by which an app can check itself: the first eight that
            fit are stored with their answers.
        about: Further metadata of the model, such as `{"licence": "CC BY 4.0"}`, which extends and
            overrides `Translator.about`.
        signatures: Names of the signatures to keep, beside the first, `tokenize` and the
            signatures for batches; by default all. Each one less makes the file smaller.

    Returns:
        `Path` of the `.tflite` file.

    Raises:
        TypeError, ValueError: An argument is wrong; or the file cannot hold the tokenizer, see
            `kformer.export.byte_codec.piece_model`.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_tflite
        >>> file = export_tflite(kformer.load("runs/de-en"), "phone.tflite", precision="int8")
        >>> kformer.load(file).translate("Ein Hund läuft.")
        'A dog runs.'
    """
    path = Path(path)
    export, limits = check_tflite(
        model, path, beam_size, length_penalty, max_source_length, precision, batch_size, signatures
    )
    network = model.network
    if not is_float32(network):
        network = network.copy()
    stand_ins = StandIns(network)
    if precision in _TABLE_BITS:
        network = export.quantized(network, stand_ins.constant, _TABLE_BITS[precision])
    graph = export.signatures(network, limits, batch_size, stand_ins.constant)
    if signatures is not None:
        graph.keep_only(signatures)
    metadata = _metadata(export, limits, precision, about or {}, graph)
    converted = convert_to(precision, graph.functions, stand_ins)
    converted.description = _description(metadata)
    add_entry(converted, ENTRY, model_metadata(_texts_of_tools(metadata)))
    add_entry(converted, METADATA, json_text(metadata).encode())
    with replacing(path) as temporary:
        write_model(converted, temporary)
        _append_archive(temporary, metadata, export, examples)
        if check:
            check(temporary)
    return path


def _metadata(export, limits, precision, about, graph):
    """Returns the metadata that is known before the file is written."""
    return {
        "format": FORMAT,
        "kformer": kformer.__version__,
        "kind": export.pocket.kind.words,
        **export.about,
        **about,
        "precision": precision,
        **export.metadata(limits),
        "max_source_length": limits.source_length,
        "max_source_bytes": limits.source_bytes,
        "lengths": limits.lengths,
        "signatures": [*graph.functions],
        "batches": graph.batches,
    }


def _append_archive(path, metadata, export, examples):
    """Appends an archive of the metadata, with the model's size and checksum, and test vectors."""
    metadata |= {"model_bytes": path.stat().st_size, "sha256": checksum_of(path)}
    if export.pocket.bulk_signature:
        metadata |= table_places(path, export.tokenizers)
    _append(path, METADATA, metadata)
    vectors = _test_vectors(export, path, examples, [*metadata.get("target_languages", ())])
    _append(path, VECTORS, list(itertools.islice(vectors, EXAMPLES)))


def convert_to(precision: str, functions: dict, stand_ins: StandIns):
    """Returns functions as a `schema.ModelT`, the first one first."""
    first = next(iter(functions))
    converted = convert(functions, stand_ins)
    merge_buffers(converted)
    share_beginnings(converted)
    for change in _CHANGES[precision]:
        merge_buffers(converted)
        change(converted)
    shrink(converted, first)
    return converted


def check_tflite(
    model: Translator | TextClassifier | LanguageModel,
    path: str | Path,
    beam_size: int | None,
    length_penalty: float | None,
    max_source_length: int | None,
    precision: str,
    batch_size: int,
    signatures: Collection[str] | None = None,
) -> tuple[Any, Limits]:
    """Checks arguments of `export_tflite` without exporting."""
    path = Path(path)
    if path.suffix != ".tflite":
        raise ValueError(f"The file's name must end in .tflite. Received: path={str(path)!r}.")
    check_writable(path)
    options = export_options(model, beam_size, length_penalty)
    export = known_kind(model).part("tflite")(model, options)
    limits = limits_of(model, max_source_length, options)
    check_choice("precision", precision, PRECISIONS)
    check_integer("batch_size", batch_size, least=1)
    for name in signatures or ():
        check_choice("signatures", name, export.names)
    for tokenizer in export.tokenizers:
        tables_of(tokenizer.model)  # Raises if the file cannot hold the tokenizer.
    return export, limits


def _description(metadata):
    """Returns a line about the model, for tools that show the FlatBuffer's own description."""
    parts = [metadata["kind"], _languages(metadata), metadata["precision"]]
    return (
        f"kformer {metadata['kformer']}: {', '.join(part for part in parts if part)}; "
        f"its metadata is {METADATA} in the ZIP archive at the end of the file"
    )


def _languages(metadata):
    source, target = metadata.get("source_language"), metadata.get("target_language")
    target = target or ", ".join(metadata.get("target_languages", ()))
    languages = [f"from {source}"] if source else []
    languages += [f"to {target}"] if target else []
    return " ".join(languages)


_OF_TOOLS = {  # What a user may say of a model, by the fields of TensorFlow Lite's metadata.
    "name": ("name", "title"),
    "version": ("version",),
    "author": ("author", "authors"),
    "license": ("licence", "license"),
}


def _texts_of_tools(metadata):
    """Returns the fields of TensorFlow Lite's own metadata."""
    texts = {
        field: str(metadata[name])
        for field, names in _OF_TOOLS.items()
        for name in names
        if name in metadata
    }
    kind = f"{metadata['kind']} {_languages(metadata)}".strip()
    return {"name": kind, "description": f"{kind}, {metadata['precision']}", **texts}


def _append(path, name, value):
    """Adds a JSON file to the archive at the end of `path`."""
    if isinstance(value, list):  # One line per entry, not per id.
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in value)
        text = f"[\n{lines}\n]\n"
    else:
        text = json_text(value)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(name), text)  # Without the time: reproducible.


def _test_vectors(export, path, texts, languages):
    """Yields the answers of the file to the first `texts` that fit, in turn for each language."""
    pocket = export.pocket(path, workers=1)
    for text, language in zip(texts, itertools.cycle(languages or [None]), strict=False):
        runner = pocket if language is None else pocket.into(language)
        ids, whole = runner.tokenize(text)
        if whole:
            language_input = {} if language is None else {"target_language": language}
            yield {"text": text, **language_input, "ids": ids, **export.answer(runner, text)}
