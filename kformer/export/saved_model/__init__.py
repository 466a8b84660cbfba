"""A SavedModel in a version folder, with the files that TensorFlow Serving needs around it.

- `writer`: `export_saved_model`.
- `signatures`, `reading`, `translating`, `chunks`, `compiled`, `degenerate_in_graph`: the graph,
  from strings to strings.
- `batch_limits`: the limits of requests.
- `serving_files`, `warmup`, `templates/`: configuration, warm-up requests and a README.
- `served_translator`: `ServedTranslator`, which loads such a folder in Python.
- `report`: the export report.
"""
