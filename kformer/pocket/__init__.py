"""Runs `.tflite` files with NumPy and ai-edge-litert alone, without TensorFlow.

- `pocket_translator`, `pocket_classifier`, `pocket_language_model`: a class for
  each kind of model. `pocket_model`: their base class.
- `demo_translator`: the model in the package, `kformer.demo()`.
- `pocket_engine`: the search of a translator, also for the terms of a glossary, step by step.
- `pocket_text`: strings to the bytes of a file's inputs, and back. `bulk_text`: many texts, outside
  of the graph.
- `held_file`: the copy of a file that they run, which stays as it was.
- `worker_team`, `workers`, `worker_process`: interpreters in threads and in processes of their own.
- `metadata`: the JSON metadata of a file.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
