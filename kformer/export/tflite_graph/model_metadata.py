"""The metadata inside the FlatBuffer of a `.tflite` file, which other tools show.

Netron and Android Studio read `TFLITE_METADATA`, a FlatBuffer of its own, by TensorFlow Lite's
[metadata schema](https://ai.google.dev/edge/litert/models/metadata). LiteRT's runtimes return any
entry by its name, such as `kformer.json`.
"""

from collections.abc import Mapping

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

ENTRY = "TFLITE_METADATA"
_IDENTIFIER = b"M001"
_FIELDS = {  # Places in the table `ModelMetadata`, which has eight.
    "name": 0,
    "description": 1,
    "version": 2,
    "author": 4,
    "license": 5,
    "min_parser_version": 7,
}
_PARSER = "1.0.0"  # The first version of the schema has all of these fields.


def add_entry(model: schema.ModelT, name: str, content: bytes):
    """Adds an entry to the metadata of a model.

    Args:
        content: Its bytes.
    """
    buffer, entry = schema.BufferT(), schema.MetadataT()
    buffer.data = np.frombuffer(content, np.uint8)
    entry.name, entry.buffer = name, len(model.buffers)
    model.buffers.append(buffer)
    model.metadata = [*(model.metadata or ()), entry]


def model_metadata(texts: Mapping[str, str]) -> bytes:
    """Returns the content of the entry `TFLITE_METADATA`."""
    builder = flatbuffers.Builder(256)
    fields = {**texts, "min_parser_version": _PARSER}
    strings = {_FIELDS[name]: builder.CreateString(text) for name, text in fields.items()}
    builder.StartObject(8)
    for place, string in strings.items():
        builder.PrependUOffsetTRelativeSlot(place, string, 0)
    builder.Finish(builder.EndObject(), file_identifier=_IDENTIFIER)
    return bytes(builder.Output())
