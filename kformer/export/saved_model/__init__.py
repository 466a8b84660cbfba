"""A SavedModel in a version folder, with the files that TensorFlow Serving needs around it.

- `writer`: `export_saved_model`.
- `translator_export`, `classifier_export`: what each kind of model has of its own.
- `graph`: the functions from strings to answers.
- `batch_limits`: the limits of requests.
- `serving_files`, `warmup`, `templates/`: configuration, warm-up requests and a README.
- `served_model`, `served_translator`, `served_classifier`: load such a folder in Python.
- `report`, `versions`: the export report, and the folder of versions.
"""
