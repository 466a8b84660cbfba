"""A translator from a folder of CTranslate2."""

import json
from pathlib import Path

from kformer.tasks.pretrained.assembly import assemble
from kformer.tasks.pretrained.ctranslate2_file import read_variables
from kformer.tasks.pretrained.ctranslate2_weights import Weights
from kformer.tasks.pretrained.id_table import IdTable, read_model
from kformer.tasks.translator import Translator

_SPECIAL = {"unk_token": "<unk>", "eos_token": "</s>", "decoder_start_token": "<s>"}
_PADDING = ("<pad>", "<blank>")
_EPSILON = 1e-5  # Of `kformer.model.layer_norm`; a smaller one makes no difference.
_LONGEST = 512  # Ids of a source; CTranslate2 does not say how long those of the training were.
_WORD = "▁"


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
    source_model = Path(source_model or _file(folder, "source.spm"))
    if target_model is None:
        own = folder / "target.spm"
        target_model = own if own.exists() else source_model
    config = _json(_file(folder, "config.json"), dict)
    weights = Weights(*read_variables(_file(folder, "model.bin")), folder)
    _check(config, weights, folder)
    tables = _tables(folder, config, weights.starts_from_zero)
    padding_id = tables[0].pieces.index(tables[0].padding)
    network = weights.network([len(table.pieces) for table in tables], padding_id)
    if network.target is None and tables[0] != tables[1]:  # One table, but other names for its ids.
        network = network._replace(target=network.source)
    models = [
        read_model(Path(path).read_bytes(), str(path)) for path in (source_model, target_model)
    ]
    prefix = config.get("bos_token", "<s>") if config.get("add_source_bos") else None
    return assemble(models, tables, network, _LONGEST, prefix)


def _check(config, weights, folder):
    epsilon = config.get("layer_norm_epsilon") or _EPSILON
    if epsilon > _EPSILON:
        raise ValueError(
            f"`layer_norm_epsilon` in config.json must be at most {_EPSILON}. "
            f"Received: {epsilon} in {str(folder)!r}."
        )
    # Converted from Hugging Face's Marian, the tokenizer is what adds the end.
    if not config.get("add_source_eos") and not weights.starts_from_zero:
        raise ValueError(
            "A model can be imported whose sources have an end, `add_source_eos` in config.json; "
            f"those of OpenNMT-py have none. Received: {str(folder)!r}."
        )


def _tables(folder, config, starts_from_zero):
    """Returns the `IdTable`s of both sides; both have padding at the same id, added if need be."""
    if (folder / "shared_vocabulary.json").exists() or (folder / "shared_vocabulary.txt").exists():
        vocabularies = [_vocabulary(folder, "shared")] * 2
    else:
        vocabularies = [_vocabulary(folder, side) for side in ("source", "target")]
    special = {name: config.get(name, default) for name, default in _SPECIAL.items()}
    if starts_from_zero:
        special.pop("decoder_start_token")
    for pieces in vocabularies:
        absent = [f"{name}={piece!r}" for name, piece in special.items() if piece not in pieces]
        if absent:
            raise ValueError(
                "A vocabulary must hold the special tokens of config.json. "
                f"Received: no {', '.join(absent)} in {str(folder)!r}."
            )
        if not any(piece.startswith(_WORD) for piece in pieces):
            raise ValueError(
                f"The pieces must be those of SentencePiece, where words begin with {_WORD}. "
                f"Received: {', '.join(map(repr, pieces[-3:]))} in {str(folder)!r}."
            )
    padding = _common_padding(vocabularies)
    if padding is None or starts_from_zero:
        padding, vocabularies = _with_padding(vocabularies)
    start = padding if starts_from_zero else special["decoder_start_token"]
    names = {"end": special["eos_token"], "unknown": special["unk_token"]}
    tables = [IdTable(pieces, padding=padding, start=start, **names) for pieces in vocabularies]
    return tables if tables[0] != tables[1] else tables[:1] * 2


def _common_padding(vocabularies):
    source, target = vocabularies
    for piece in _PADDING:
        if piece in source and piece in target and source.index(piece) == target.index(piece):
            return piece
    return None


def _with_padding(vocabularies):
    """Adds a piece for padding behind both vocabularies, at the same id."""
    most = max(map(len, vocabularies))
    used = {piece for pieces in vocabularies for piece in pieces}
    padding = next(one for one in (*_PADDING, "<padding>") if one not in used)
    return padding, [
        [*pieces, *(f"<unused {i}>" for i in range(len(pieces), most)), padding]
        for pieces in vocabularies
    ]


def _vocabulary(folder, side):
    path = folder / f"{side}_vocabulary.json"
    if path.exists():
        pieces = _json(path, list)
    else:
        path = _file(folder, f"{side}_vocabulary.txt", f"{side}_vocabulary.json")
        pieces = path.read_text("utf-8").split("\n")
        pieces = pieces[:-1] if pieces[-1] == "" else pieces
    if len({*pieces}) < len(pieces):
        raise ValueError(f"The pieces of a vocabulary must differ. Received: {str(path)!r}.")
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


def _file(folder, name, shown=None):
    if not (folder / name).is_file():
        raise FileNotFoundError(
            f"A folder of CTranslate2 must hold {shown or name}. "
            f"Received: {str(folder)!r}, which does not."
        )
    return folder / name
