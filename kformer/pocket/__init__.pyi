from .classifier import PocketClassifier
from .translator import PocketTranslator

__all__ = ["PocketClassifier", "PocketTranslator"]
