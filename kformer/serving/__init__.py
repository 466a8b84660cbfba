"""Asks a server for translations, over REST or gRPC: the other end of `kformer.export`.

`Client` needs neither TensorFlow nor Keras for REST.
"""

from kformer.serving.answers import (
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
    "ServedScore",
    "ServedTranslation",
    "ServerError",
    "Signature",
    "Tensor",
    "Tokenized",
    "VersionStatus",
]
