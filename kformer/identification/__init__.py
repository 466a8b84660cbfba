"""Tells the language of texts, offline and without TensorFlow: `kformer.identify`.

- `identifier`: `identify`, by scripts and by the classifier `languages.tflite` of the package.
- `scripts`: the words of a text by script, and the languages that have a script of their own.

`make identifier` of the repository trains the classifier.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
