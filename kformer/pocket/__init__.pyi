from .pocket_classifier import PocketClassifier
from .pocket_language_model import PocketLanguageModel
from .pocket_translator import PocketTranslator

__all__ = ["PocketClassifier", "PocketLanguageModel", "PocketTranslator"]
