"""The classes of `.keras` files: Keras finds them by name wherever kformer is imported.

Keras finds a class of a saved model by the name under which its decorator registered it, so the
module of the class must have been imported. Ours are imported when they are first used, to keep
`import kformer` fast. `register` therefore puts a `LazyClass` under each name into Keras's
dictionary of custom objects: when a model is loaded, it imports the module, whose decorators then
put the classes themselves into the dictionary.

`import kformer` does not import Keras. `register_with_keras` registers at once if Keras is imported
already; otherwise a finder of modules, which comes before all others, waits for `import keras` and
registers after it. So the order of the two imports does not matter.
"""

import importlib
import sys

MODULES = {
    "model.attention": ("MultiHeadAttention",),
    "model.decoder": ("Decoder", "DecoderLayer"),
    "model.embedding": ("PositionalEncoding", "TokenEmbedding"),
    "model.encoder": ("Encoder", "EncoderLayer"),
    "model.feed_forward": ("FeedForward",),
    "model.residual": ("Dropout", "LayerNorm", "Residual"),
    "model.sequence_classifier": ("SequenceClassifier", "TokenClassifier"),
    "model.ssru": ("SSRU",),
    "model.transformer": ("Transformer",),
    "model.transformer_decoder": ("TransformerDecoder",),
    "model.transformer_encoder": ("TransformerEncoder",),
    "tasks.language_model": ("LanguageModel",),
    "tasks.text_classifier": ("TextClassifier",),
    "tasks.text_encoder": ("TextEncoder",),
    "tasks.text_tagger": ("TextTagger",),
    "tasks.translator": ("Translator",),
    "text.tokenizer": ("Tokenizer",),
    "training.objective.loss": ("MaskedCrossEntropy",),
    "training.objective.metrics": ("MacroF1", "MaskedAccuracy", "Perplexity", "Tokens"),
    "training.objective.optimizer": ("AveragedAdam", "AveragedMuon", "WarmupSchedule"),
}


class LazyClass:
    """Stands for a class in Keras's dictionary until its module is imported."""

    def __init__(self, module: str, name: str):
        self.module = module
        self.name = name

    def from_config(self, config: dict):
        """Makes an object of the class, as its own `from_config` does."""
        return getattr(importlib.import_module(self.module), self.name).from_config(config)


def register(keras):
    """Registers all classes whose modules are not imported yet."""
    registered = keras.saving.get_custom_objects()
    for module, names in MODULES.items():
        for name in names:
            registered.setdefault(f"kformer>{name}", LazyClass(f"kformer.{module}", name))


def register_with_keras():
    """Registers all classes, now or as soon as Keras is imported."""
    keras = sys.modules.get("keras")
    if hasattr(keras, "saving"):  # Not while Keras itself is being imported.
        register(keras)
    elif not any(isinstance(finder, _KerasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _KerasFinder())


class _KerasFinder:
    """Finds Keras as the other finders do, and registers the classes after its import."""

    def find_spec(self, name, path=None, target=None):
        if name != "keras":
            return None
        finders = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in finders)
        spec = next(filter(None, specs), None)
        loader = spec and spec.loader
        if loader is None:  # Keras is not installed.
            return spec

        def import_and_register(module):
            del loader.exec_module  # The method of its class is back.
            loader.exec_module(module)
            register(module)

        loader.exec_module = import_and_register
        return spec
