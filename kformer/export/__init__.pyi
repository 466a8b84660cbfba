from .ctranslate2.writer import export_ctranslate2
from .saved_model.served_classifier import ServedClassifier
from .saved_model.served_language_model import ServedLanguageModel
from .saved_model.served_translator import ServedTranslator
from .saved_model.writer import export_saved_model
from .tflite.writer import export_tflite
from .verify.verifier import Report, Verifier
from .web.writer import export_web_page

__all__ = [
    "Report",
    "ServedClassifier",
    "ServedLanguageModel",
    "ServedTranslator",
    "Verifier",
    "export_ctranslate2",
    "export_saved_model",
    "export_tflite",
    "export_web_page",
]
