from .answers import (
    ServedClass,
    ServedGeneration,
    ServedScore,
    ServedTranslation,
    Signature,
    Tensor,
    Tokenized,
    VersionStatus,
)
from .client import Client
from .errors import ServerError

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
