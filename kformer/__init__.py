"""kformer: the encoder-decoder Transformer for Keras 3, from text to server and phone.

    text -> ids -> vectors -> encoder -> memory -> decoder -> logits -> search -> ids -> text

- `model`: the paper's layers and networks. `decoding`: the decoder step by step, search and scores.
- `text`: tokenizer and scores. `tasks`: a network with its tokenizers.
- `inference`: what a translator answers, once for all saved forms.
- `imports`: models that other toolkits trained, also by name.
- `training`, `export`: from text files to a translator, and on to a server and a phone.
- `scale`: preparing and translating text of any size, on Apache Beam.
- `pocket`, `serving`: run a `.tflite` file, and ask a server, without TensorFlow.
- `identification`: the language of texts.
- `documents`: web pages, subtitles and other files to segments of text and back.
- `server`: `kformer serve`, a server of any saved form.
- `plot`: pictures. `phrasebook`: the built-in corpus. `cli`: the `kformer` command.
- `kinds`: the kinds of models, with the names and classes of each.
- `keras_classes`: the classes that Keras finds by name when it loads a model.
- `backend`, `threads`: Keras's backend; threads and batches of equal lengths.
- `arguments`, `near_names`: checks of arguments, and the name that an unknown one may mean.
- `files`, `archives`, `json_files`: files written at once or not at all; bounded readers of ZIP
  files and JSON.

The public names are in `__init__.pyi`. Each is imported when it is first used, so that
`import kformer` costs milliseconds.
"""

import importlib
import os
from pathlib import Path

import lazy_loader

from kformer.keras_classes import register_with_keras

register_with_keras()


def lazy_names(package: str, file: str):
    """Returns `__getattr__`, `__dir__` and `__all__` of a package whose names are in its stub.

    The subpackages in the stub become attributes, too, which are not in `__all__`.
    """
    imported, names, listed = lazy_loader.attach_stub(package, file)
    folders = {entry.name for entry in os.scandir(Path(file).parent) if entry.is_dir()}
    public = [name for name in listed if name not in folders]

    def get(name):
        if name not in listed:
            raise AttributeError(_no_such_name(package, name), name=name)
        try:
            return imported(name)
        except ModuleNotFoundError as error:
            missing = (error.name or "").split(".")[0]
            if missing == "apache_beam":
                raise ImportError(
                    f"`{package}.{name}` needs Apache Beam: pip install 'kformer[beam]'. "
                    f"Received: no module named {missing!r}."
                ) from error
            if missing not in ("tensorflow", "tensorflow_text", "keras"):
                raise
            raise ImportError(
                f"`{package}.{name}` needs TensorFlow and Keras, whatever Keras's backend is: "
                "pip install kformer, with Python 3.11 to 3.13, on Linux or macOS, or in WSL 2 on "
                f"Windows. Received: no module named {missing!r}."
            ) from error

    return get, names, public


def _no_such_name(package, name):
    """Returns the message for a name that a package lacks, with the name that is meant."""
    message = f"module {package!r} has no attribute {name!r}"
    if name.startswith("_"):
        return message
    from kformer.near_names import near_name  # Programs without an error do not need it.

    parts = sorted({*__dir__()} - {*__all__}, key="scale".__eq__)  # Variants on Beam come last.
    packages = [package, __name__, *(f"{__name__}.{part}" for part in parts)]
    homes: dict[str, str] = {}
    for home in packages:
        for public in getattr(importlib.import_module(home), "__all__", ()):
            homes.setdefault(public, home)
    nearest = [name for name, home in homes.items() if home == package]
    near = name if name in homes else near_name(name, nearest) or near_name(name, homes)
    return f"{message}: use `{homes[near]}.{near}`" if near else message


_imported, __dir__, __all__ = lazy_names(__name__, __file__)


def __getattr__(name):
    if name == "__version__":
        import importlib.metadata  # 20 ms that most commands need not spend.

        try:
            return importlib.metadata.version("kformer")
        except importlib.metadata.PackageNotFoundError:
            return importlib.metadata.version("kformer-runtime")
    return _imported(name)
