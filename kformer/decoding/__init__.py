"""Decoding: rows of ids in, rows of ids out.

- `options`: `SearchOptions`, checked when they are made.
- `batch_decoder`: `BatchDecoder`, for any number of rows; `inputs`: the arrays of its batches.
- `search_ids`: one batch of source ids to target ids, by any search and on any runtime.
- `search`: greedy search, beam search and sampling over any `Step`.
- `step`, `layer_step`, `step_attention`, `source_memory`: the decoder for one position, in as few
  operations as a runtime allows. Its reference is `kformer.model.decoder`.
- `kv_cache`, `buffers`: the keys and values of earlier positions.
- `runtime`: what differs between TensorFlow, TF Serving and LiteRT.
- `scoring`: the log-probability of given translations.
- `parallel`, `sequential`: several batches at once; graphs whose operations run in order.
"""
