"""The metadata of a `.tflite` translator: in an archive at its end, or in a file beside it."""

import json
import zipfile
from pathlib import Path

FORMAT = 2  # Readers refuse newer formats. Files of format 1 have their metadata beside them.
METADATA, VECTORS = "kformer.json", "test_vectors.json"  # In the archive.
# Only export reports have this key; they, too, are called NAME.tflite.json.
REPORT_KEY = "equal_to_python"
NEEDED = {  # Keys of each format.
    1: ("signature", "source_model", "padding_id", "end_id", "max_source_length"),
    2: (
        *("padding_id", "end_id", "max_source_length", "max_source_bytes"),
        *("max_target_length", "batches"),
    ),
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
        newer = not truncated and metadata["format"] > FORMAT
        needed = () if newer or truncated else NEEDED[metadata["format"]]
        lacking = [key for key in needed if key not in metadata]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            "The metadata of a .tflite translator must be JSON with a format. "
            f"Received: {str(place)!r}."
        ) from error
    if truncated:
        raise ValueError(
            "The .tflite file is not whole: its end, with the metadata, is missing. "
            f"Received: {str(path)!r}."
        )
    if newer:
        raise ValueError(
            f"This kformer reads metadata up to format {FORMAT}; update it. "
            f"Received: format={metadata['format']} in {str(place)!r}."
        )
    if lacking:
        raise ValueError(
            f"The metadata of a .tflite translator must have {', '.join(needed)}. "
            f"Received: {str(place)!r}, without {', '.join(lacking)}."
        )
    return metadata


def _inside(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(METADATA)
    except (zipfile.BadZipFile, KeyError):
        return None


def _beside(path, beside):
    if not beside.is_file():
        raise FileNotFoundError(
            "A .tflite translator has its metadata at its end, or, if older, in a file beside it. "
            f"Received: {str(path)!r}, without {beside.name!r}."
        )
    return beside.read_bytes()
