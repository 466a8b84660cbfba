"""The metadata of a `.tflite` file: in an archive at its end, or in a file beside it."""

import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from kformer.archives import Archive
from kformer.files import check_file
from kformer.json_files import check_schema, parse_json
from kformer.kinds import TRANSLATOR, Kind, kind_named

FORMAT = 2  # Readers refuse newer formats. Files of format 1 have their metadata beside them.
METADATA, VECTORS = "kformer.json", "test_vectors.json"  # In the archive.
# Only export reports have this key; they, too, are called NAME.tflite.json.
REPORT_KEY = "equal_to_python"
_BLOCK = 2**20  # Bytes that are read at once.
_MOST = 2**24  # Maximum of a size in ids, bytes or rows, by which arrays are allocated.
METADATA_RULE = "The metadata of a .tflite file must be as the export wrote it."


class _Any(TypedDict):
    """The fields for the format and the kind."""

    format: int
    kind: NotRequired[str]


class _Format1(TypedDict):
    signature: str
    source_model: str
    target_model: NotRequired[str]
    padding_id: int
    end_id: int
    max_source_length: int
    signatures: NotRequired[dict[str, tuple[int, int]]]


class _Vector(TypedDict):
    text: str


ArrayPlace = tuple[int, int, str]  # First byte in the file, number of elements, type.


class KeyPlaces(TypedDict):
    label: ArrayPlace
    follow: ArrayPlace
    start: int
    ends: int


class SourcePlaces(TypedDict):
    replacements: KeyPlaces
    pieces: KeyPlaces
    scores: ArrayPlace
    scale: float
    dummy_prefix: bool
    remove_extra: bool
    byte_ids: NotRequired[list[int]]


class TargetPlaces(TypedDict):
    strings: ArrayPlace
    start: ArrayPlace
    length: ArrayPlace
    kind: ArrayPlace
    strip_all: bool


class TablePlaces(TypedDict):
    """The field `tables` of the metadata."""

    source: SourcePlaces
    target: TargetPlaces


class _Format2(TypedDict):
    padding_id: int
    end_id: int
    max_source_length: int
    max_source_bytes: int
    lengths: NotRequired[list[int]]  # Of sources with a branch of their own, ascending.
    batches: dict[str, tuple[int, int]]
    signatures: NotRequired[list[str]]
    sha256: NotRequired[str]
    model_bytes: NotRequired[int]
    # A kind of model needs some of these, see `Kind.metadata`.
    d_model: NotRequired[int]
    labels: NotRequired[list[str]]
    max_target_length: NotRequired[int]
    source_language: NotRequired[str | None]
    target_language: NotRequired[str | None]
    target_languages: NotRequired[dict[str, int]]
    directions: NotRequired[list[str]]
    source_vocab_size: NotRequired[int]
    unknown_id: NotRequired[int]
    quality_estimate: NotRequired[dict]
    tables: NotRequired[TablePlaces]


def read_metadata(path: Path) -> dict:
    """Returns the metadata of the `.tflite` file at `path`."""
    check_file(path)
    content, place = _inside(path), path
    if content is None:
        place = path.with_name(f"{path.name}.json")
        content = _beside(path, place)
    try:
        metadata = parse_json(content)
        truncated = REPORT_KEY in metadata
        if not truncated:
            check_schema(metadata, _Any)
    except ValueError as error:
        raise ValueError(f"{METADATA_RULE} Received: {str(place)!r} ({error}).") from error
    if truncated:
        raise ValueError(
            "The .tflite file is not whole: its end, with the metadata, is missing. "
            f"Received: {str(path)!r}."
        )
    version, words = metadata["format"], metadata.get("kind", TRANSLATOR.words)
    kind = kind_named(words)
    if version > FORMAT or kind is None or kind.pocket is None:
        raise ValueError(
            f"This kformer reads metadata up to format {FORMAT}; update it. "
            f"Received: format={version} in {str(place)!r}, of a {words}."
        )
    try:
        _check(metadata, version, kind)
    except ValueError as error:
        raise ValueError(f"{METADATA_RULE} Received: {str(place)!r} ({error}).") from error
    return metadata


def read_examples(path: Path) -> list[str]:
    """Returns the texts by which the `.tflite` file at `path` can be checked, if it has any."""
    try:
        content = _inside(path, VECTORS)
        vectors = parse_json(content, list[_Vector]) if content else []
    except ValueError:  # Nothing depends on them.
        return []
    return [vector["text"] for vector in vectors]


def _check(metadata, version, kind):
    if version != FORMAT and (version, kind) != (1, TRANSLATOR):
        raise ValueError(f"a {kind.words} has no format {version}")
    check_schema(metadata, _Format1 if version == 1 else _Format2)
    missing = [name for name in kind.metadata if name not in metadata]
    if missing and version > 1:
        raise ValueError(f"it must have {', '.join(map(repr, missing))}")
    sizes = {name: metadata[name] for name in metadata if name.startswith("max_")}
    shapes = metadata.get("batches", metadata.get("signatures") if version == 1 else None) or {}
    sizes |= {f"{name}[{i}]": size for name in shapes for i, size in enumerate(shapes[name])}
    for name, size in sizes.items():
        if type(size) is not int or not 0 < size <= _MOST:
            raise ValueError(f"{name!r} must be a size of 1 to {_MOST:,}")
    for name in ("source_model", "target_model"):
        if version == 1 and Path(metadata.get(name, "model")).name != metadata.get(name, "model"):
            raise ValueError(f"{name!r} must be a file beside it")


def kind_in(metadata: Mapping[str, Any]) -> Kind:
    """Returns the kind of the model in a file, of `read_metadata`."""
    kind = kind_named(metadata.get("kind", TRANSLATOR.words))  # Early files lack it.
    assert kind is not None  # `read_metadata` has checked it.
    return kind


def check_kind(path: str | Path, metadata: Mapping[str, Any], kind: Kind):
    """Raises a ValueError unless the file at `path`, of this metadata, holds `kind`."""
    actual = kind_in(metadata)
    if actual is not kind:
        reader = str(actual.pocket).replace(":", ".")
        raise ValueError(
            f"A {kind.words} is needed; `{reader}` runs a {actual.words}. "
            f"Received: the {actual.words} {str(path)!r}."
        )


def checksum_of(path: str | os.PathLike, size: int | None = None) -> str:
    """Returns the SHA-256 of the first `size` bytes of a file, or of all, in hexadecimal."""
    checksum = hashlib.sha256()
    with Path(path).open("rb") as file:
        left = Path(path).stat().st_size if size is None else size
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            checksum.update(block)
            left -= len(block)
    return checksum.hexdigest()


def check_whole(path: str | os.PathLike, metadata: dict):
    """Raises a ValueError if the checksum in a file's metadata is not its model's.

    Files that kformer 0.1 wrote have no checksum.
    """
    if "sha256" not in metadata:
        return
    if checksum_of(path, metadata.get("model_bytes")) != metadata["sha256"]:
        raise ValueError(
            "The model in a .tflite file must have the SHA-256 that its metadata names: the file "
            f"was damaged or changed. Received: {str(path)!r}."
        )


def _inside(path, name=METADATA):
    """Returns a file of the archive at the end; None if there is no archive or no such file."""
    if not zipfile.is_zipfile(path):
        return None
    with Archive(path, "A .tflite file must end in an archive with its metadata.") as archive:
        return archive.read(name)


def _beside(path, beside):
    if not beside.is_file():
        raise FileNotFoundError(
            "A .tflite file has its metadata at its end, or, if older, in a file beside it. "
            f"Received: {str(path)!r}, without {beside.name!r}."
        )
    return beside.read_bytes()
