from .classifier import PocketClassifier
from .language_model import PocketLanguageModel
from .translator import PocketTranslator

__all__ = ["PocketClassifier", "PocketLanguageModel", "PocketTranslator"]
