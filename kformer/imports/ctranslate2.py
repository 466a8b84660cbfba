"""A translator from a folder of CTranslate2."""

from pathlib import Path
from typing import Any, TypedDict

from kformer.imports.assembly import assemble
from kformer.imports.ctranslate2_file import as_current, read_variables, take_config
from kformer.imports.ctranslate2_weights import CTranslate2Weights
from kformer.imports.id_table import IdTable, language_pieces, with_common_padding
from kformer.imports.packed_folder import unpacked
from kformer.imports.plain_vocabularies import (
    SOURCE_MODEL,
    check_folder,
    existing,
    needs_sentencepiece,
    pieces_in_lines,
    plain_model,
    read_models,
)
from kformer.json_files import read_json
from kformer.model.residual import EPSILON
from kformer.tasks.translator import Translator
from kformer.text.alignment import AlignmentHead
from kformer.text.paragraphs.joining import SPACE

_SPECIAL = {"unk_token": "<unk>", "eos_token": "</s>", "decoder_start_token": "<s>"}
_PADDING = ("<pad>", "<blank>")
_LONGEST = 512  # Ids of a source; CTranslate2 does not record the longest source of the training.
_FIRST_WITH_CONFIG = 6  # Version of model.bin.
_WHOSE = "A folder of CTranslate2"
# The files of a package of Argos Translate.
_ARGOS_FACTS, _ARGOS_MODEL, _ARGOS_PIECES = "metadata.json", "model", "sentencepiece.model"
_ARGOS_BPE = "bpe.model"
DESCRIPTION = "kformer.json"  # Of `kformer.export.export_ctranslate2`.


class _CTranslate2Config(TypedDict, total=False):
    """The fields of a config.json that are used here."""

    unk_token: str
    eos_token: str
    bos_token: str
    decoder_start_token: str | None
    add_source_bos: bool
    add_source_eos: bool
    layer_norm_epsilon: float | None


class _ArgosFacts(TypedDict, total=False):
    from_code: str
    to_code: str
    target_prefix: str


class _Description(TypedDict, total=False):
    """The fields of the description of an export; all others are facts about the model."""

    kind: str
    kformer: str
    max_source_length: int
    max_target_length: int
    search: dict[str, Any]
    alignment_head: list[int | None]
    quality_estimate: dict


def from_ctranslate2(
    folder: str | Path,
    source_model: str | Path | None = None,
    target_model: str | Path | None = None,
    target_language: str | None = None,
) -> Translator:
    """Returns the translator of a folder of CTranslate2.

    The folder holds model.bin, config.json and the vocabularies, as the converters of CTranslate2
    write them, or `kformer.export.export_ctranslate2`. Models of all versions are read, from before
    CTranslate2 1 on; models of versions before 3 have no config.json. CTranslate2 is not needed. A
    package of Argos Translate (.argosmodel), or a ZIP archive of a folder (.zip), is unpacked into
    a temporary folder; it can be an unpacked package, too.

    A vocabulary of SentencePiece needs its model. Vocabularies of characters (of transliterators)
    or of whole words (of sounds) need none: text is split into characters, or at spaces, and
    translations are joined likewise.

    The result translates as CTranslate2 does, up to rounding: weights of 8 or 16 bits become
    float32. Set lengths, penalties and other options of the search in `kformer.SearchOptions`; a
    folder of `export_ctranslate2` keeps those of its export. Words are aligned by the head that
    CTranslate2 aligns them by.

    Args:
        folder: Path of the folder, package or archive.
        source_model: Path of the SentencePiece model of the sources; None for source.spm in the
            folder, where their vocabulary is one of SentencePiece.
        target_model: Path of the SentencePiece model of the translations; None for target.spm in
            the folder if it exists, else for the model of the sources, where the vocabulary of the
            translations is one of SentencePiece.
        target_language: As for `kformer.from_marian`.

    Raises:
        FileNotFoundError, NotADirectoryError: The folder or a file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_ctranslate2
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> folder = export_ctranslate2(translator, "ctranslate2-de-en")
        >>> kformer.from_ctranslate2("ctranslate2-de-en").translate("Ein Hund läuft.")
        'A dog runs.'
    """
    with unpacked(folder) as path:
        return _from_folder(path, source_model, target_model, target_language)


def _from_folder(folder, source_model, target_model, target_language):
    check_folder(folder)
    if not folder.exists():
        raise FileNotFoundError(f"There is no such folder. Received: {str(folder)!r}.")
    package = folder / _ARGOS_FACTS
    if package.is_file() and (folder / _ARGOS_MODEL).is_dir():
        _check_package(folder)
        source_model = source_model or folder / _ARGOS_PIECES
        folder = folder / _ARGOS_MODEL
    model = read_variables(existing(folder, "model.bin", _WHOSE))
    kind, variables = as_current(model.kind, model.revision, dict(model.variables))
    if model.version < _FIRST_WITH_CONFIG:
        config = take_config(variables)
    else:
        path = existing(folder, "config.json", _WHOSE)
        config = read_json(
            path, _CTranslate2Config, rule="The file must hold a JSON object of settings."
        )
    weights = CTranslate2Weights(kind, variables, folder)
    _check(config, weights.starts_from_zero, folder)
    vocabularies = _vocabularies(folder, config)
    models, vocabularies = _with_models(folder, config, vocabularies, source_model, target_model)
    sizes = [*map(len, vocabularies)]
    # In models converted from Hugging Face's Marian, the tokenizer adds the end.
    sources_end = bool(config.get("add_source_eos")) or weights.starts_from_zero
    tables = _tables(folder, config, vocabularies, weights.starts_from_zero, sources_end)
    padding_id = tables[0].pieces.index(tables[0].padding)
    network = weights.network(tables, sizes, padding_id)
    network.settings["norm_epsilon"] = config.get("layer_norm_epsilon") or EPSILON
    if not sources_end:
        network.settings["ignored_source_id"] = tables[0].pieces.index(tables[0].end)
    if config.get("add_source_bos"):
        prefix, languages = config.get("bos_token", "<s>"), {}
    else:
        prefix, languages = language_pieces(tables[0], target_language, folder)
    facts = _facts_of_export(folder)
    if package.is_file():
        facts.setdefault("about", {}).update(_languages_of_package(package))
    if target_language is not None:
        facts.setdefault("about", {})["target_language"] = target_language
    facts.setdefault("alignment_head", weights.alignment_head(network.settings))
    longest = facts.pop("longest", _LONGEST)
    return assemble(models, tables, network, longest, prefix, languages, **facts)


def _check_package(folder):
    """Raises a ValueError for a package of Argos Translate with parts that are not read."""
    if (folder / _ARGOS_BPE).exists() and not (folder / _ARGOS_PIECES).exists():
        raise ValueError(
            "Packages of Argos Translate whose text is split by Moses and BPE cannot be imported. "
            f"Received: {_ARGOS_BPE} in {str(folder)!r}."
        )
    if prefix := _package_facts(folder / _ARGOS_FACTS).get("target_prefix"):
        raise ValueError(
            "Packages of Argos Translate whose translations start with a given piece cannot be "
            f"imported. Received: target_prefix={prefix!r} in {str(folder)!r}."
        )


def _package_facts(path):
    return read_json(path, _ArgosFacts, rule="The file must hold facts about a package.")


def _languages_of_package(path):
    """Returns the languages of a package of Argos Translate, for `Translator.about`."""
    content = _package_facts(path)
    names = {"from_code": "source_language", "to_code": "target_language"}
    return {names[name]: content[name] for name in names if name in content}


def _facts_of_export(folder):
    """Returns what `export_ctranslate2` writes beside a model, as arguments of `assemble`."""
    path = folder / DESCRIPTION
    if not path.is_file():
        return {}
    content = read_json(path, _Description, rule="The description must be as it was written.")
    about = {k: v for k, v in content.items() if k not in _Description.__annotations__}
    facts = {"search_defaults": content.get("search"), "about": about}
    if "max_source_length" in content:
        facts["longest"] = content["max_source_length"]
    if head := content.get("alignment_head"):
        facts["alignment_head"] = AlignmentHead(*head)
    return facts


def _check(config, starts_from_zero, folder):
    start, end = (_token(config, name) for name in ("decoder_start_token", "eos_token"))
    forced = start is None  # The caller gives it, such as a language.
    if forced or (start == end and not config.get("add_source_eos") and not starts_from_zero):
        raise ValueError(
            "A model whose tokenizer adds languages to the pieces, as those of M2M100 and NLLB do, "
            f"cannot be imported. Received: decoder_start_token={start!r} without add_source_eos "
            f"in {str(folder)!r}."
        )


def _token(config, name):
    return config.get(name, _SPECIAL[name])


def _vocabularies(folder, config):
    """Returns the pieces of both sides, as CTranslate2 numbers them."""
    unknown = _token(config, "unk_token")
    if (folder / "shared_vocabulary.json").exists() or (folder / "shared_vocabulary.txt").exists():
        return [_vocabulary(folder, "shared", unknown)] * 2
    if (folder / "source_1_vocabulary.txt").exists() or (
        folder / "source_1_vocabulary.json"
    ).exists():
        raise ValueError(
            "A model of several sources, such as features of words, cannot be imported. "
            f"Received: source_1_vocabulary in {str(folder)!r}."
        )
    return [_vocabulary(folder, side, unknown) for side in ("source", "target")]


def _with_models(folder, config, vocabularies, *paths):
    """Returns the SentencePiece models of both sides, and the vocabularies as these name pieces."""
    has_model = any(paths) or (folder / SOURCE_MODEL).is_file()
    needed = [
        needs_sentencepiece(pieces) or (has_model and SPACE in pieces) for pieces in vocabularies
    ]
    models = [None, None]
    if any(needed) or any(paths):
        models = read_models(folder, *paths, _WHOSE)
    tokens = {*_PADDING, *_SPECIAL.values(), *(_token(config, name) for name in _SPECIAL)}
    named = []
    for side, pieces in enumerate(vocabularies):
        if not needed[side]:
            models[side], pieces = plain_model(pieces, tokens, str(folder))
        named.append(pieces)
    return models, named


def _tables(folder, config, vocabularies, starts_from_zero, sources_end):
    """Returns the `IdTable`s of both sides; both have padding at the same id, added if need be."""
    vocabularies = list(vocabularies)
    special = {name: _token(config, name) for name in _SPECIAL}
    if starts_from_zero:
        special.pop("decoder_start_token")
    if not sources_end:  # Then the source vocabulary may lack pieces of translations alone.
        added = [piece for piece in special.values() if piece not in vocabularies[0]]
        vocabularies[0] = [*vocabularies[0], *added]
    for pieces in vocabularies:
        absent = [f"{name}={piece!r}" for name, piece in special.items() if piece not in pieces]
        if absent:
            raise ValueError(
                "A vocabulary must hold the special tokens of config.json. "
                f"Received: no {', '.join(absent)} in {str(folder)!r}."
            )
    padding_names = () if starts_from_zero else _PADDING
    padding, vocabularies = with_common_padding(vocabularies, padding_names)
    start = padding if starts_from_zero else special["decoder_start_token"]
    names = {"end": special["eos_token"], "unknown": special["unk_token"]}
    tables = [IdTable(pieces, padding=padding, start=start, **names) for pieces in vocabularies]
    return tables if tables[0] != tables[1] else tables[:1] * 2


def _vocabulary(folder, side, unknown):
    path = folder / f"{side}_vocabulary.txt"
    if path.exists():
        pieces = pieces_in_lines(path)
    else:
        path = existing(folder, f"{side}_vocabulary.json", _WHOSE)
        pieces = read_json(path, list[str], rule="The file must hold a JSON array of pieces.")
    if len({*pieces}) < len(pieces):
        raise ValueError(
            f"The pieces of a vocabulary must be strings that differ. Received: {str(path)!r}."
        )
    return pieces if unknown in pieces else [*pieces, unknown]
