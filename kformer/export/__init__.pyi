from .android.android_project import export_android_project
from .argos_package import export_argos_package
from .ctranslate2_folder import export_ctranslate2
from .ctranslate2_translator import CTranslate2Translator
from .ios.ios_project import export_ios_project
from .saved_model.saved_model_writer import export_saved_model
from .saved_model.served_translator import (
    ServedClassifier,
    ServedLanguageModel,
    ServedTagger,
    ServedTranslator,
)
from .tflite.tflite_writer import export_tflite
from .verify.verifier import Report, Verifier
from .web.page_writer import export_web_page

__all__ = [
    "CTranslate2Translator",
    "Report",
    "ServedClassifier",
    "ServedLanguageModel",
    "ServedTagger",
    "ServedTranslator",
    "Verifier",
    "export_android_project",
    "export_argos_package",
    "export_ctranslate2",
    "export_ios_project",
    "export_saved_model",
    "export_tflite",
    "export_web_page",
]
