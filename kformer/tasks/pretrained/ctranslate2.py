"""A translator from a folder of CTranslate2."""

import json
from pathlib import Path

from kformer.model.layer_norm import EPSILON
from kformer.tasks.pretrained.assembly import assemble
from kformer.tasks.pretrained.ctranslate2_file import read_variables
from kformer.tasks.pretrained.ctranslate2_weights import Weights
from kformer.tasks.pretrained.id_table import IdTable, with_common_padding
from kformer.tasks.pretrained.sentencepiece_files import check_pieces, existing, read_models
from kformer.tasks.translator import Translator

_SPECIAL = {"unk_token": "<unk>", "eos_token": "</s>", "decoder_start_token": "<s>"}
_PADDING = ("<pad>", "<blank>")
_LONGEST = 512  # Ids of a source; CTranslate2 does not say how long those of the training were.
_WHOSE = "A folder of CTranslate2"


def from_ctranslate2(
    folder: str | Path,
    source_model: str | Path | None = None,
    target_model: str | Path | None = None,
) -> Translator:
    """Returns the translator of a folder of CTranslate2.

    The folder holds model.bin, config.json and the vocabularies, as the converters of CTranslate2
    4 write them, or `kformer.export.export_ctranslate2`. CTranslate2 is not needed.

    The result says what CTranslate2 says, up to rounding: weights of 8 or 16 bits become float32.
    What CTranslate2 tells apart by a setting of the search, such as lengths and penalties, is to be
    said to `kformer.SearchOptions`.

    Args:
        folder: Path of the folder.
        source_model: Path of the SentencePiece model of the sources; None for source.spm in the
            folder.
        target_model: That of the translations; None for target.spm in the folder if it has one,
            else for that of the sources.

    Raises:
        FileNotFoundError, NotADirectoryError: The folder or a file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks.
    """
    folder = Path(folder)
    if folder.is_file():
        raise NotADirectoryError(f"A folder is needed, not a file. Received: {str(folder)!r}.")
    if not folder.exists():
        raise FileNotFoundError(f"There is no such folder. Received: {str(folder)!r}.")
    models = read_models(folder, source_model, target_model, _WHOSE)
    config = _json(existing(folder, "config.json", _WHOSE), dict)
    weights = Weights(*read_variables(existing(folder, "model.bin", _WHOSE)), folder)
    _check(config, weights.starts_from_zero, folder)
    # Converted from Hugging Face's Marian, the tokenizer is what adds the end.
    sources_end = bool(config.get("add_source_eos")) or weights.starts_from_zero
    tables = _tables(folder, config, weights.starts_from_zero, sources_end)
    padding_id = tables[0].pieces.index(tables[0].padding)
    network = weights.network(tables, padding_id)
    network.settings["norm_epsilon"] = config.get("layer_norm_epsilon") or EPSILON
    if not sources_end:
        network.settings["ignored_source_id"] = tables[0].pieces.index(tables[0].end)
    prefix = config.get("bos_token", "<s>") if config.get("add_source_bos") else None
    return assemble(models, tables, network, _LONGEST, prefix)


def _check(config, starts_from_zero, folder):
    start, end = (_token(config, name) for name in ("decoder_start_token", "eos_token"))
    if start == end and not config.get("add_source_eos") and not starts_from_zero:
        raise ValueError(
            "A model can be imported whose tokenizer adds nothing to the pieces of a source; those "
            "of M2M100 and NLLB add languages. "
            f"Received: decoder_start_token={start!r} without add_source_eos in {str(folder)!r}."
        )


def _token(config, name):
    return config.get(name, _SPECIAL[name])


def _tables(folder, config, starts_from_zero, sources_end):
    """Returns the `IdTable`s of both sides; both have padding at the same id, added if need be."""
    if (folder / "shared_vocabulary.json").exists() or (folder / "shared_vocabulary.txt").exists():
        vocabularies = [_vocabulary(folder, "shared")] * 2
    else:
        vocabularies = [_vocabulary(folder, side) for side in ("source", "target")]
    special = {name: _token(config, name) for name in _SPECIAL}
    if starts_from_zero:
        special.pop("decoder_start_token")
    if not sources_end:  # Then the source's may lack what only translations have.
        added = [piece for piece in special.values() if piece not in vocabularies[0]]
        vocabularies[0] = [*vocabularies[0], *added]
    for pieces in vocabularies:
        absent = [f"{name}={piece!r}" for name, piece in special.items() if piece not in pieces]
        if absent:
            raise ValueError(
                "A vocabulary must hold the special tokens of config.json. "
                f"Received: no {', '.join(absent)} in {str(folder)!r}."
            )
    known = () if starts_from_zero else _PADDING
    padding, vocabularies = with_common_padding(vocabularies, known)
    start = padding if starts_from_zero else special["decoder_start_token"]
    names = {"end": special["eos_token"], "unknown": special["unk_token"]}
    tables = [IdTable(pieces, padding=padding, start=start, **names) for pieces in vocabularies]
    return tables if tables[0] != tables[1] else tables[:1] * 2


def _vocabulary(folder, side):
    lines = folder / f"{side}_vocabulary.txt"
    if lines.exists():
        pieces = lines.read_text("utf-8").split("\n")
        pieces = pieces[:-1] if pieces[-1] == "" else pieces
    else:
        pieces = _json(existing(folder, f"{side}_vocabulary.json", _WHOSE), list)
    check_pieces(pieces, str(folder))
    return pieces


def _json(path, kind):
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, kind):
        name = {dict: "object", list: "array"}[kind]
        raise ValueError(f"The file must hold a JSON {name}. Received: {str(path)!r}.")
    return content
