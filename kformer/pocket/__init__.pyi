from .pocket_classifier import PocketClassifier, PocketTagger
from .pocket_language_model import PocketLanguageModel
from .pocket_translator import PocketTranslator

__all__ = ["PocketClassifier", "PocketLanguageModel", "PocketTagger", "PocketTranslator"]
