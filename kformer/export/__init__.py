"""What shipping needs: a folder for TF Serving, a file for LiteRT, and the proof that they agree.

Names are imported when they are first used.
"""

from kformer.lazy import imported

if __name__ != "kformer.export":  # The link of that name, at the top of the repository.
    raise ImportError(f"The package is `kformer.export`: import that. Received: import {__name__}.")

_MODULE_OF = {
    "export_saved_model": "saved_model",
    "ServedTranslator": "served_translator",
    "export_tflite": "tflite",
    "export_web_page": "web_page",
    "Verifier": "verify",
    "Report": "verify",
}

__all__ = list(_MODULE_OF)


def __getattr__(name):
    return imported("kformer.export", _MODULE_OF, name)


def __dir__():
    return __all__
