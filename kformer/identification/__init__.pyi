from .identifier import Identification, identify, languages

__all__ = ["Identification", "identify", "languages"]
