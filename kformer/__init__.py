"""kformer: the encoder-decoder Transformer for Keras 3, from text to server and phone.

    text -> ids -> vectors -> encoder -> memory -> decoder -> logits -> search -> ids -> text

- `model`: the paper's layers. `decoding`: the decoder step by step, search and scores.
- `text`: tokenizer and scores. `tasks`: a model with its tokenizers.
- `training`, `export`: from text files to a translator, and from there to a server and a phone.
- `pocket`, `serving`: run a `.tflite` file, and ask a server, without TensorFlow.
- `phrasebook`: the built-in corpus. `cli`: the `kformer` command.

The public names are in `__init__.pyi`. Each is imported when it is first used, so that
`import kformer` costs milliseconds.
"""

import importlib.metadata

import lazy_loader

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name):
    if name == "__version__":
        return importlib.metadata.version("kformer")
    return _imported(name)
