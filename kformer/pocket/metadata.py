"""What a `.tflite` translator says of itself: in an archive at its end, or in a file beside it."""

import json
import zipfile

FORMAT = 2  # Readers refuse what is newer than they are. Of format 1 is what has it beside it.
MANIFEST, VECTORS = "kformer.json", "test_vectors.json"  # In the archive.
RECEIPT = "equal_to_python"  # What only a receipt has, which is also called NAME.tflite.json.
NEEDED = {
    1: ("signature", "source_model", "padding_id", "end_id", "max_source_length"),
    2: (
        *("padding_id", "end_id", "max_source_length", "max_source_bytes"),
        *("max_target_length", "batches"),
    ),
}


def read_manifest(path) -> dict:
    """Returns the manifest of the `.tflite` file at `path`.

    Raises:
        FileNotFoundError: The file is missing; or it has none in it, and none beside it.
        ValueError: It is broken, or newer than this kformer.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no such file. Received: {str(path)!r}.")
    text, place = _inside(path), path
    if text is None:
        place = path.with_name(f"{path.name}.json")
        text = _beside(path, place)
    try:
        manifest = json.loads(text.decode("utf-8"))
        not_whole = RECEIPT in manifest
        newer = not not_whole and manifest["format"] > FORMAT
        needed = () if newer or not_whole else NEEDED[manifest["format"]]
        lacking = [key for key in needed if key not in manifest]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            "The manifest of a .tflite translator must be JSON with a format. "
            f"Received: {str(place)!r}."
        ) from error
    if not_whole:
        raise ValueError(
            "The .tflite file is not whole: its end, with the manifest, is missing. "
            f"Received: {str(path)!r}."
        )
    if newer:
        raise ValueError(
            f"This kformer reads manifests up to format {FORMAT}; update it. "
            f"Received: format={manifest['format']} in {str(place)!r}."
        )
    if lacking:
        raise ValueError(
            f"The manifest of a .tflite translator must have {', '.join(needed)}. "
            f"Received: {str(place)!r}, without {', '.join(lacking)}."
        )
    return manifest


def _inside(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(MANIFEST)
    except (zipfile.BadZipFile, KeyError):
        return None


def _beside(path, beside):
    if not beside.is_file():
        raise FileNotFoundError(
            "A .tflite translator has a manifest at its end, or an older one beside it, of the "
            f"same name. Received: {str(path)!r}, without {beside.name!r}."
        )
    return beside.read_bytes()
