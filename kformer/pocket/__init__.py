"""Runs `.tflite` files with NumPy and ai-edge-litert alone, without TensorFlow.

- `translator`, `classifier`: `PocketTranslator`, `PocketClassifier`. `model`: what both share.
- `text`: strings to the bytes of a file's inputs, and back.
- `team`, `workers`, `process`: interpreters in threads and in processes of their own.
- `metadata`: the JSON metadata of a file.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
