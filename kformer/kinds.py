"""The kinds of models: their one list, with the names of each and the places of its classes.

Trainers, exports, loaders, runners and commands ask a `Kind` for what differs between them. Its
classes are imported when they are asked for, so that this module needs no TensorFlow.
"""

import dataclasses
import pkgutil
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """A kind of model.

    The fields from `model` to `task` name a class each, as "module:class"; None where the kind has
    no such form.

    Attributes:
        name: In file names, in the report of a SavedModel and on a server.
        model: The Keras model, which a `.keras` file holds.
        network: Keys that lead to the settings of the network, or of its encoder, in the config of
            the Keras model.
        does: Name of the method that answers texts, which all saved forms have.
        doing: The same as a participle, for a message.
        searches: Whether its answers are found by a search.
        has_target: Whether it answers in a target language.
        pocket: The class that runs a `.tflite` file.
        served: The class that runs a SavedModel.
        ctranslate2: The class that runs a folder of CTranslate2.
        route: What loads several models that translate one behind the other.
        saved_model, tflite: What the two exports need of the kind.
        verification: How its exports are compared with Python.
        metadata: Fields that the metadata of its `.tflite` file must have, beside those of all.
        saved_model_bytes, tflite_bytes: Bytes of an export beside the weights: for any model, for
            each layer, for each id.
        task: Its training, before TensorFlow loads.
        task_name: Name of its training in a run config.
        recipe: Name of the recipe of its training, if none is given; empty without training.
    """

    name: str
    model: str
    network: tuple[str, ...]
    does: str = "encode"
    doing: str = "Encoding"
    searches: bool = False
    has_target: bool = False
    pocket: str | None = None
    served: str | None = None
    ctranslate2: str | None = None
    route: str | None = None
    saved_model: str | None = None
    tflite: str | None = None
    verification: str | None = None
    metadata: tuple[str, ...] = ()
    saved_model_bytes: tuple[int, int, int] = (0, 0, 0)
    tflite_bytes: tuple[int, int, int] = (0, 0, 0)
    task: str | None = None
    task_name: str | None = None
    recipe: str = ""

    @property
    def words(self) -> str:
        """The name in messages, and in the metadata of a `.tflite` file."""
        return self.name.replace("_", " ")

    @property
    def file(self) -> str:
        """Name of the file of the best model in the folder of a training run."""
        return f"{self.name}.keras"

    @property
    def class_name(self) -> str:
        """Name of the Keras model's class."""
        return self.model.rpartition(":")[2]

    @property
    def registered_name(self) -> str:
        """Name of the Keras model's class in a `.keras` file."""
        return f"kformer>{self.class_name}"

    def part(self, name: str) -> Any:
        """Imports and returns the class that the field `name` names."""
        return pkgutil.resolve_name(getattr(self, name))

    def check(self, name: str, value: Any):
        """Raises a TypeError unless the argument `name` is a Keras model of this kind."""
        if not isinstance(value, self.part("model")):
            raise TypeError(
                f"`{name}` must be a kformer.{self.class_name}, which only a .keras file holds. "
                f"Received: {name}={value!r:.99}."
            )


TRANSLATOR = Kind(
    name="translator",
    model="kformer:Translator",
    network=("transformer",),
    does="translate",
    doing="Translating",
    searches=True,
    has_target=True,
    pocket="kformer.pocket:PocketTranslator",
    served="kformer.export:ServedTranslator",
    ctranslate2="kformer.export:CTranslate2Translator",
    route="kformer.export.route:Route.load",
    saved_model="kformer.export.saved_model.saved_translator:SavedTranslatorExport",
    tflite="kformer.export.tflite.tflite_translator:TFLiteTranslatorExport",
    verification="kformer.export.verify.translations:Translations",
    metadata=("max_target_length",),
    saved_model_bytes=(1_400_000, 300_000, 55),
    tflite_bytes=(420_000, 50_000, 35),
    task="kformer.training.kinds.translation_task:TranslationTask",
    task_name="translation",
    recipe="tiny",
)
CLASSIFIER = Kind(
    name="classifier",
    model="kformer:TextClassifier",
    network=("classifier", "encoder"),
    does="classify",
    doing="Classifying",
    pocket="kformer.pocket:PocketClassifier",
    served="kformer.export:ServedClassifier",
    saved_model="kformer.export.saved_model.saved_classifier:SavedClassifierExport",
    tflite="kformer.export.tflite.tflite_classifier:TFLiteClassifierExport",
    verification="kformer.export.verify.classifications:Classifications",
    metadata=("d_model", "labels"),
    saved_model_bytes=(640_000, 300_000, 55),
    tflite_bytes=(300_000, 60_000, 35),
    task="kformer.training.kinds.classification_task:ClassificationTask",
    task_name="classification",
    recipe="texts",
)
LANGUAGE_MODEL = Kind(
    name="language_model",
    model="kformer:LanguageModel",
    network=("decoder",),
    does="generate",
    doing="Continuing",
    searches=True,
    pocket="kformer.pocket:PocketLanguageModel",
    served="kformer.export:ServedLanguageModel",
    saved_model="kformer.export.saved_model.saved_language_model:SavedLanguageModelExport",
    tflite="kformer.export.tflite.tflite_language_model:TFLiteLanguageModelExport",
    verification="kformer.export.verify.generations:Generations",
    metadata=("d_model", "max_target_length"),
    saved_model_bytes=(1_400_000, 300_000, 55),
    tflite_bytes=(0, 170_000, 130),
    task="kformer.training.kinds.language_task:LanguageTask",
    task_name="language modelling",
    recipe="lm",
)
TAGGER = Kind(
    name="tagger",
    model="kformer:TextTagger",
    network=("classifier", "encoder"),
    does="tag",
    doing="Tagging",
    pocket="kformer.pocket:PocketTagger",
    served="kformer.export:ServedTagger",
    saved_model="kformer.export.saved_model.saved_classifier:SavedTaggerExport",
    tflite="kformer.export.tflite.tflite_classifier:TFLiteTaggerExport",
    verification="kformer.export.verify.classifications:Taggings",
    metadata=("d_model", "labels"),
    saved_model_bytes=(640_000, 300_000, 55),
    tflite_bytes=(300_000, 60_000, 35),
    task="kformer.training.kinds.tagging_task:TaggingTask",
    task_name="tagging",
    recipe="words",
)
TEXT_ENCODER = Kind(name="text_encoder", model="kformer:TextEncoder", network=("encoder",))

KINDS = (TRANSLATOR, CLASSIFIER, LANGUAGE_MODEL, TAGGER, TEXT_ENCODER)
EXPORTED = tuple(kind for kind in KINDS if kind.saved_model)
# The functions that write exports, by Keras's names of the formats.
EXPORTERS = {
    "tf_saved_model": "kformer.export:export_saved_model",
    "litert": "kformer.export:export_tflite",
}
# Names of the model in the folder of a training run.
MODEL_FILES = tuple(kind.file for kind in KINDS if kind.task)


def kind_named(name: str) -> Kind | None:
    """Returns the kind of a name or of the words for it; None if there is none."""
    return next((kind for kind in KINDS if name in (kind.name, kind.words)), None)


def kind_of_task(name: str) -> Kind:
    """Returns the kind whose training has a name in the config of a run."""
    return next(kind for kind in KINDS if kind.task_name == name)


def kind_of(model: Any) -> Kind | None:
    """Returns the kind of a model of any form, or of its class; None if it is none of ours."""
    classes = model.__mro__ if isinstance(model, type) else type(model).__mro__
    names = {name.__name__ for name in classes if name.__module__.startswith("kformer.")}
    for kind in KINDS:
        forms = kind.model, kind.served, kind.pocket, kind.ctranslate2, kind.route
        if names & {place.rpartition(":")[2].split(".")[0] for place in forms if place}:
            return kind
    return None


def known_kind(model: Any) -> Kind:
    """Returns the kind of a model, as `kind_of`; raises a TypeError if it is none of ours."""
    kind = kind_of(model)
    if kind is None:
        raise TypeError(
            f"A model must be {kinds_in_words(KINDS)}. Received: {type(model).__name__}."
        )
    return kind


def kinds_in_words(kinds: tuple[Kind, ...]) -> str:
    """Lists kinds in words, such as "a translator, a classifier or a tagger"."""
    return any_of([f"a {kind.words}" for kind in kinds])


def any_of(words: list[str]) -> str:
    """Lists alternatives: "a, b or c"."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
