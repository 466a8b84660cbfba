"""What shipping needs: a folder for TF Serving, a file for LiteRT, and the proof that they agree.

Names are imported when they are first used.
"""

import importlib

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
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'kformer.export' has no attribute {name!r}")
    return getattr(importlib.import_module(f"kformer.export.{_MODULE_OF[name]}"), name)


def __dir__():
    return __all__
