"""One `.tflite` file with tokenizer and model, in built-in operations only.

- `tflite_writer`: `export_tflite`. `tflite_report`: the export report.
- `tflite_translator`, `tflite_classifier`, `tflite_language_model`: the signatures of each kind of
  model, from UTF-8 bytes. `tflite_signatures`: the signatures that all kinds share, and their
  sizes.
- `table_places`: where the tables of the tokenizer are in the file.
- `rounded_weights`, `quantized_embedding`: weights in float16, int4 and int8.

`kformer.export.byte_codec` is the tokenizer, `kformer.export.tflite_graph` changes the graph.
"""
