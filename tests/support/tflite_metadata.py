"""A `.tflite` file with other metadata."""

import json
import zipfile


def with_metadata(tflite, path, **values):
    """Writes a copy of the file `tflite` to `path`, with other values in its metadata."""
    with zipfile.ZipFile(tflite) as archive:
        metadata = json.loads(archive.read("kformer.json"))
    path.write_bytes(tflite.read_bytes()[: metadata["model_bytes"]])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("kformer.json", json.dumps({**metadata, **values}))
        archive.writestr("test_vectors.json", "[]")
    return path
