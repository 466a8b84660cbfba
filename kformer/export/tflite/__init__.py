"""One `.tflite` file with tokenizer, model and search, in built-in operations only.

- `writer`: `export_tflite`.
- `signatures`: the graphs, from UTF-8 bytes to UTF-8 bytes. `limits`: their static sizes.
- `byte_codec/`: SentencePiece in built-in operations.
- `float16_weights`, `int4_weights`, `quantized_embedding`, `flatbuffer`: smaller weights.
- `report`: the export report.
"""
