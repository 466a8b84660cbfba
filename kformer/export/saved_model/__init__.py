"""A SavedModel in a version folder, with the files that TensorFlow Serving needs around it.

- `saved_model_writer`: `export_saved_model`, and the export report.
- `saved_translator`, `saved_classifier`, `saved_language_model`: the signatures of each kind of
  model, from strings to answers. `serving_signatures`: the signatures that all kinds share.
- `text_in_graph`: texts to ids and back, flags of degenerate output. `graph_search`: searches in a
  graph, in chunks of a batch, compiled by XLA.
- `serving_files`: configuration, README and versions. `warmup`: warm-up requests, limits of
  batches.
- `served_model`, `served_translator`: load such a folder in Python, whatever its kind.
"""
