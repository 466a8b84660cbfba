"""The metadata of a `.tflite` file: in an archive at its end, or in a file beside it."""

import hashlib
import json
import zipfile
from pathlib import Path

FORMAT = 2  # Readers refuse newer formats. Files of format 1 have their metadata beside them.
METADATA, VECTORS = "kformer.json", "test_vectors.json"  # In the archive.
# Only export reports have this key; they, too, are called NAME.tflite.json.
REPORT_KEY = "equal_to_python"
TRANSLATOR, CLASSIFIER, LANGUAGE_MODEL = "translator", "classifier", "language model"  # Kinds.
READERS = {  # In this folder.
    TRANSLATOR: "PocketTranslator",
    CLASSIFIER: "PocketClassifier",
    LANGUAGE_MODEL: "PocketLanguageModel",
}
_BLOCK = 2**20  # Bytes that are read at once.
_FORMAT_2 = ("padding_id", "end_id", "max_source_length", "max_source_bytes", "batches")
_NEEDED = {  # Keys of each format and kind.
    (1, TRANSLATOR): ("signature", "source_model", "padding_id", "end_id", "max_source_length"),
    (2, TRANSLATOR): (*_FORMAT_2, "max_target_length"),
    (2, CLASSIFIER): (*_FORMAT_2, "labels", "d_model"),
    (2, LANGUAGE_MODEL): (*_FORMAT_2, "max_target_length", "d_model"),
}


def read_metadata(path: Path) -> dict:
    """Returns the metadata of the `.tflite` file at `path`.

    Raises:
        FileNotFoundError: The file or its metadata is missing.
        ValueError: The metadata is broken, or newer than this kformer.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no such file. Received: {str(path)!r}.")
    text, place = _inside(path), path
    if text is None:
        place = path.with_name(f"{path.name}.json")
        text = _beside(path, place)
    try:
        metadata = json.loads(text.decode("utf-8"))
        truncated = REPORT_KEY in metadata
        version, kind = FORMAT, TRANSLATOR
        if not truncated:
            version, kind = metadata["format"], kind_in(metadata)
        newer = version > FORMAT or kind not in READERS
        needed = () if newer or truncated else _NEEDED[version, kind]
        lacking = [key for key in needed if key not in metadata]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"The metadata of a .tflite file must be JSON with a format. Received: {str(place)!r}."
        ) from error
    if truncated:
        raise ValueError(
            "The .tflite file is not whole: its end, with the metadata, is missing. "
            f"Received: {str(path)!r}."
        )
    if newer:
        raise ValueError(
            f"This kformer reads metadata up to format {FORMAT}; update it. "
            f"Received: format={version} in {str(place)!r}, of a {kind}."
        )
    if lacking:
        raise ValueError(
            f"The metadata of a .tflite file must have {', '.join(needed)}. "
            f"Received: {str(place)!r}, without {', '.join(lacking)}."
        )
    return metadata


def kind_in(metadata) -> str:
    """Returns which kind of model a file holds; without one, it is a translator."""
    return metadata.get("kind", TRANSLATOR)


def check_kind(path, metadata, kind):
    """Raises a ValueError unless the file at `path`, of this metadata, holds `kind`."""
    found = kind_in(metadata)
    if found != kind:
        raise ValueError(
            f"A {kind} is needed; `kformer.pocket.{READERS[found]}` runs a {found}. "
            f"Received: the {found} {str(path)!r}."
        )


def checksum_of(path: Path, size: int | None = None) -> str:
    """Returns the SHA-256 of the first `size` bytes of a file, or of all, in hexadecimal."""
    checksum = hashlib.sha256()
    with path.open("rb") as file:
        left = path.stat().st_size if size is None else size
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            checksum.update(block)
            left -= len(block)
    return checksum.hexdigest()


def check_whole(path: Path, metadata: dict):
    """Raises a ValueError if the model in a file is not the one that its metadata describes.

    Files that kformer 0.1 wrote have no checksum.
    """
    if "sha256" not in metadata:
        return
    size = metadata.get("model_bytes")
    if not isinstance(size, int) or checksum_of(path, size) != metadata["sha256"]:
        raise ValueError(
            "The model in a .tflite file must have the SHA-256 that its metadata names: the file "
            f"was damaged or changed. Received: {str(path)!r}."
        )


def _inside(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(METADATA)
    except (zipfile.BadZipFile, KeyError):
        return None


def _beside(path, beside):
    if not beside.is_file():
        raise FileNotFoundError(
            "A .tflite file has its metadata at its end, or, if older, in a file beside it. "
            f"Received: {str(path)!r}, without {beside.name!r}."
        )
    return beside.read_bytes()
