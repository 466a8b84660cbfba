"""Decoding: rows of ids in, rows of ids out.

- `options`: `SearchOptions`, checked where they enter.
- `batches`: any number of rows, sorted by length and decoded in batches, one on each core.
- `inputs`: the arrays that such a batch consists of.
- `search`: greedy search, beam search and sampling over any `step`.
- `step`, `layer_step`, `step_attention`, `source_memory`: the decoder for one position, in as few
  operations as a runtime allows.
- `buffers`, `runtime`: what differs between TensorFlow, TF Serving and LiteRT.
- `scoring`: the log-probability of given translations.
- `parallel`, `sequential`: several batches at once, and graphs whose operations run in order.
"""
