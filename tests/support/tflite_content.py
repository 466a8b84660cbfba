"""The bytes of a `.tflite` file, changed as an export changes them."""

import tempfile
from pathlib import Path

from ai_edge_litert import schema_py_generated as schema

from kformer.export.tflite_graph.flatbuffer import merge_buffers, shrink, write_model


def shrunk(content, first, change=None):
    """Returns the file `content` as an export writes it: in fewer bytes.

    Args:
        content: A `.tflite` file.
        first: The default signature.
        change: If given, called with the `schema.ModelT`, without equal buffers, to change it.
    """
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    if change:
        merge_buffers(model)
        change(model)
    shrink(model, first)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        write_model(model, path)
        return path.read_bytes()
