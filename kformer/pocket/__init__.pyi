from .translator import PocketTranslator

__all__ = ["PocketTranslator"]
