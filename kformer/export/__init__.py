"""Export: a folder for TF Serving, a file for LiteRT, a web page, and checks that they agree.

- `saved_model`, `tflite`, `web`: the three forms. `ctranslate2_folder`,
  `ctranslate2_translator`: a folder for CTranslate2, written and run.
  `argos_package`: one in a package of Argos Translate.
- `android`, `ios`: a project of an app with a `.tflite` file. `app_project`: its files.
- `byte_codec`: the tokenizer of a `.tflite` file. `tflite_graph`: changes to its graph.
- `verify`: compares the forms with Python. `model_card`: the model card of an export.
- `loading`: `kformer.load`, for every form. `route`: translators one behind the other.

The public names are in `__init__.pyi`; each is imported when it is first used.
"""

from kformer import lazy_names

if __name__ != "kformer.export":  # The link of that name, at the top of the repository.
    raise ImportError(f"The package is `kformer.export`: import that. Received: import {__name__}.")

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
