"""Decoding: rows of ids in, rows of ids out.

- `batch_decoder`: `BatchDecoder`, for any number of rows; `decoder_inputs`: the arrays of its
  batches.
- `search_ids`: one batch of source ids to target ids, by any search and on any runtime.
- `search`: greedy search, beam search and sampling over any `Step`.
- `decoder_step`, `layer_step`, `fused_layers`, `step_attention`, `source_memory`: the decoder for
  one position, in as few operations as a runtime allows. Its reference is `kformer.model.decoder`.
- `kv_cache`: the keys and values of earlier positions; `recurrent_state`: the states of an SSRU.
- `runtime`: the differences between TensorFlow, TF Serving and LiteRT.
- `scoring`: the log-probability of given translations.
- `shortlist`: `Shortlist`, the few hundred ids that a translation of a source may have.
"""
