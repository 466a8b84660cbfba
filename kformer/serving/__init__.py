"""A client of TensorFlow Serving for SavedModels of `kformer.export`, over REST or gRPC.

Over REST, `Client` needs neither TensorFlow nor Keras.
"""

from kformer.serving.answers import (
    ServedClass,
    ServedGeneration,
    ServedScore,
    ServedTranslation,
    Signature,
    Tensor,
    Tokenized,
    VersionStatus,
)
from kformer.serving.client import Client
from kformer.serving.errors import ServerError

__all__ = [
    "Client",
    "ServedClass",
    "ServedGeneration",
    "ServedScore",
    "ServedTranslation",
    "ServerError",
    "Signature",
    "Tensor",
    "Tokenized",
    "VersionStatus",
]
