"""One `.tflite` file with tokenizer and model, in built-in operations only.

- `writer`: `export_tflite`. `translator_export`, `classifier_export`: what each kind of model has
  of its own.
- `signatures`: the graphs, from UTF-8 bytes; `translator_signatures`, `classifier_signatures`:
  those of each kind. `limits`: their static sizes.
- `constants/`: weights and tables, which go around the converter.
- `byte_codec/`: SentencePiece in built-in operations.
- `float16_weights`, `int4_weights`, `quantized_embedding`, `flatbuffer`: smaller weights.
- `report`: the export report.
"""
