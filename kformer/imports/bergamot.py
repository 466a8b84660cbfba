"""A translator from a folder of Firefox's, also called Bergamot's.

Mozilla and the University of Edinburgh publish such folders: a model of Marian with int8 weights,
its SentencePiece vocabularies, a lexical shortlist and facts about the model, all but the last also
packed by gzip.
"""

import hashlib
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from sentencepiece import sentencepiece_model_pb2

from kformer.archives import read_unpacked
from kformer.imports.bergamot_shortlist import read_lexical_table, shortlist_of
from kformer.imports.marian import translator_of
from kformer.imports.marian_model import MarianModel
from kformer.imports.marian_weights import network_of
from kformer.imports.readme_card import read_card
from kformer.imports.yaml_text import read_yaml
from kformer.json_files import read_json
from kformer.tasks.translator import Translator

_WEIGHTS = ("model*.bin", "*.npz")
_VOCABULARIES = ("srcvocab*.spm", "trgvocab*.spm")
_SHORTLIST = "lex*.bin"
_SETTINGS = "config*.yml"
_METADATA = "metadata.json"
_REGISTRY = "registry.json"
_MODELS = "models.json"  # The same, or a list of other programs.
_INFO = "model_info.json"  # Of translateLocally and of Bergamot's Python package.
_SHORT_NAME = re.compile("([a-z]{2,3})-([a-z]{2,3})(?:-.*)?")
_PAIR = re.compile("([a-z]{2})([a-z]{2})")  # Of languages, in names of files and in the registry.
_IN_NAME = re.compile(rf"model\.{_PAIR.pattern}\..*")
_PIECE = sentencepiece_model_pb2.ModelProto.SentencePiece


class _Metadata(TypedDict, total=False):
    """The fields of metadata.json, or of an entry of registry.json, that are read."""

    sourceLanguage: str
    targetLanguage: str
    license: str
    flores: dict[str, float | int | None]
    metrics: dict[str, dict[str, float | int | None]]


class _RegistryFile(TypedDict, total=False):
    expectedSha256Hash: str
    uncompressedHash: str


class _RegistryEntry(_Metadata, total=False):
    model: _RegistryFile
    files: dict[str, _RegistryFile]


class _Info(TypedDict, total=False):
    """The field of model_info.json that is read, such as "en-pt-tiny"."""

    shortName: str


_OldRegistry = dict[str, _RegistryEntry]


class _Registry(TypedDict):
    models: dict[str, list[_RegistryEntry]]


def from_bergamot(folder: str | Path, shortlist: bool = False) -> Translator:
    """Returns the translator of a folder of Firefox's translators, also called Bergamot's.

    The folder holds model*.bin, in Marian's binary format with int8 or float32 weights, or an .npz
    file; one .spm file, or srcvocab*.spm and trgvocab*.spm; and, if there is one, the shortlist
    lex*.bin. All of these may be packed by gzip, as Mozilla
    [publishes](https://github.com/mozilla/translations) them. Nothing from the folder is run, and
    no length in a file is trusted. int8 weights become the float32 numbers that they stand for.

    With `shortlist`, the folder's shortlist becomes `Translator.shortlist`: translations are then
    those of Firefox's engine, word for word. Without it, the search is as good, and as fast in
    Python; one sentence takes 1.4 times as long in a `.tflite` file. Settings of the search in
    config*.yml become the search defaults, as for `kformer.from_marian`.
    Languages, licence and scores of metadata.json, of this model's entry in registry.json or
    models.json, of model_info.json, or of the model card, README.md, go into `Translator.about`.
    Symbols that the trainer of a vocabulary reserved, such as "__source__", are text like any
    other: no sentence is written with them.

    Args:
        folder: Path of the folder; or of the file of weights, where a folder holds several.
        shortlist: Whether the search is to be among the candidates of lex*.bin.

    Raises:
        FileNotFoundError: The folder or a file is missing, such as lex*.bin for a shortlist.
        ValueError: A file is damaged, or the files do not belong together, or the weights are
            packed for one kind of processor, or the model has parts that a `kformer.Transformer`
            lacks.

    Examples:
        >>> import kformer
        >>> translator = kformer.from_bergamot("firefox-deen")
        >>> translator.about["source_language"], translator.about["target_language"]
        ('de', 'en')
        >>> translator.save("de-en.keras")
    """
    path = Path(folder)
    weights = path if path.is_file() else _only(path, _WEIGHTS, "file of weights")
    folder = weights.parent
    settings = next((read_yaml(file) for file in sorted(folder.glob(_SETTINGS))), {})
    files = MarianModel(weights, _vocabularies(folder, settings), settings)
    for model in files.models:
        _free_reserved(model)
    translator = translator_of(files, network_of(files), read_facts(weights))
    if shortlist:
        if not has_shortlist(path):
            raise FileNotFoundError(
                "A folder without lex*.bin has no shortlist. "
                f"Received: {str(path)!r}, shortlist=True."
            )
        table = read_lexical_table(_only(folder, (_SHORTLIST,), "shortlist"), files.sizes)
        is_shared = files.tables[0] is files.tables[1]
        translator.shortlist = shortlist_of(table, translator, is_shared)
    return translator


def has_shortlist(path: Path) -> bool:
    """Returns whether there is a shortlist in a folder, or beside a file of weights."""
    return bool(_files_of(path.parent if path.is_file() else path, (_SHORTLIST,)))


def _files_of(folder: Path, patterns: Iterable[str]):
    """Returns the files of the first pattern that has any, unpacked ones before the same packed."""
    for pattern in patterns:
        files: dict[str, Path] = {}
        for file in (*sorted(folder.glob(pattern)), *sorted(folder.glob(f"{pattern}.gz"))):
            if not file.name.endswith(".optimizer.npz"):
                files.setdefault(file.name.removesuffix(".gz"), file)
        if files:
            return [*files.values()]
    return []


def _only(folder, patterns, kind):
    files = _files_of(folder, patterns)
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise (ValueError if files else FileNotFoundError)(
            f"A folder of Bergamot must hold one {kind}, {' or '.join(patterns)}, or give the path "
            f"of its weights. Received: {str(folder)!r}, which holds {names}."
        )
    return files[0]


def _named(folder, settings):
    """Returns the vocabularies that the settings list and that lie in the folder."""
    values = settings.get("vocabs")
    values = values if isinstance(values, list) else []
    names = [Path(item).name for item in values if isinstance(item, str)]
    paths = [folder / end for item in names if item for end in (item, f"{item}.gz")]
    return [path for path in paths if path.is_file()]


def _vocabularies(folder, settings):
    """Returns the files of both vocabularies."""
    named = _named(folder, settings)
    if named:
        return [named[0], named[-1]]
    sides = [_files_of(folder, (pattern,)) for pattern in _VOCABULARIES]
    if any(sides):
        return [_only(folder, (pattern,), "vocabulary") for pattern in _VOCABULARIES]
    return [_only(folder, ("*.spm",), "vocabulary")] * 2


def _free_reserved(model):
    """Makes the symbols that the trainer reserved pieces of no text."""
    for entry in model.pieces:
        if entry.type == _PIECE.USER_DEFINED:
            entry.type = _PIECE.UNUSED


def read_facts(weights: Path) -> dict:
    """Returns the facts about a model of the files beside its weights, for `Translator.about`."""
    folder, about = weights.parent, read_card(weights.parent)
    facts: _Metadata = {}
    if match := _IN_NAME.fullmatch(weights.name):
        facts = {"sourceLanguage": match[1], "targetLanguage": match[2]}
    if (folder / _INFO).is_file():
        info = read_json(folder / _INFO, _Info, rule="The file must hold facts about a model.")
        if match := _SHORT_NAME.fullmatch(info.get("shortName", "")):
            facts = {"sourceLanguage": match[1], "targetLanguage": match[2]}
    if (folder / _REGISTRY).is_file():
        facts |= _registered(folder / _REGISTRY, weights)
    elif (folder / _MODELS).is_file():
        try:
            facts |= _registered(folder / _MODELS, weights)
        except ValueError as error:
            warnings.warn(f"{_MODELS} is ignored. {error}", stacklevel=2)
    if (folder / _METADATA).is_file():
        facts |= read_json(
            folder / _METADATA, _Metadata, rule="The file must hold facts about a model."
        )
    scores = dict(facts.get("metrics", {}))
    scores |= {"flores": facts["flores"]} if "flores" in facts else {}
    about |= {
        "source_language": facts.get("sourceLanguage"),
        "target_language": facts.get("targetLanguage"),
        "licence": facts.get("license") or about.get("licence"),
        "scores": "; ".join(filter(None, map(_score_line, scores.items()))),
    }
    return {name: value for name, value in about.items() if value}


def _score_line(item):
    """Returns the scores of a test set in words, such as "flores: bleu 38.8, comet 0.8554"."""
    name, values = item
    numbers = [f"{metric} {value:g}" for metric, value in values.items() if value is not None]
    return f"{name}: {', '.join(numbers)}" if numbers else ""


def _registered(path, weights):
    """Returns the facts of the registry's entry of this model, found by the digest of its file."""
    rule = "The registry must hold facts about models, by pair of languages."
    registry = read_json(path, _OldRegistry | _Registry, rule=rule)
    digest = hashlib.sha256(read_unpacked(weights)).hexdigest()
    for pair, entries in registry.get("models", registry).items():
        for entry in entries if isinstance(entries, list) else [entries]:
            file = entry.get("model") or entry.get("files", {}).get("model", {})
            if digest in (file.get("expectedSha256Hash"), file.get("uncompressedHash")):
                match = _PAIR.fullmatch(pair)
                sides = {"sourceLanguage": match[1], "targetLanguage": match[2]} if match else {}
                return sides | entry
    return {}
