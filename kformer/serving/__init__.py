"""A client of TensorFlow Serving for SavedModels of `kformer.export`, over REST or gRPC.

Over REST, `Client` needs neither TensorFlow nor Keras.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
