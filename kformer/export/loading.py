"""`kformer.load`, which loads any saved form.

Each form is imported when it is loaded, so that a `.tflite` file needs no TensorFlow.
"""

from pathlib import Path
from typing import Any

from kformer.arguments import check_choice
from kformer.export.saved_model.serving_files import holds_saved_model, newest_version, read_report
from kformer.imports.published.foreign_files import keep
from kformer.imports.published.model_names import published_name
from kformer.kinds import EXPORTED, MODEL_FILES, TRANSLATOR, Kind, any_of
from kformer.pocket import metadata
from kformer.pocket.demo_translator import DEMO, DEMO_FILE
from kformer.tasks.run_file import model_file

FORMS = {  # The class of a kind that runs each form, by its field.
    "keras": "model",
    "tflite": "pocket",
    "saved_model": "served",
    "ctranslate2": "ctranslate2",
    "route": "route",
}
ROUTE = "route"  # The form, and the name in its JSON file.
_CTRANSLATE2 = ("model.bin", "config.json", "source.spm", "target.spm")


def load(path: str | Path) -> Any:
    """Loads any saved form, or a published model by its name.

    Saved forms are a `.keras` or `.tflite` file, a SavedModel and a folder of CTranslate2. Of the
    folder of a training run, or of `kformer demo`, it loads the best model, such as
    `translator.keras`.

    A published model has a name such as "firefox://en-pt" or "hf://Helsinki-NLP/opus-mt-de-en"; or
    is an archive of another program, .argosmodel or .zip, at a path or an address. It is downloaded
    once, checked by its digest, converted to a `.tflite` file with weights of 8 bits, and kept in
    the cache; `kformer.from_published` returns it as a `kformer.Translator`.

    `load` of `kformer.Translator` and of the other classes loads `.keras` files of its own alone.

    Returns:
        The model in the file. For a `.keras` file: `kformer.Translator`, `kformer.TextClassifier`,
        `kformer.TextTagger`, `kformer.TextEncoder` or `kformer.LanguageModel`; for a network or a
        functional model that was saved without a tokenizer, the Keras model. For a SavedModel, a
        folder of one version or of several, and for a `.tflite` file: the class of its kind in
        `kformer.export` and in `kformer.pocket`, such as `ServedTranslator` and `PocketTranslator`.
        For a folder of CTranslate2: `kformer.export.CTranslate2Translator`. An export has the
        search that was chosen for it.

    Raises:
        ConnectionError: A published model that is not in the cache cannot be downloaded.
        FileNotFoundError: There is no such file or folder, or no such published model.
        ImportError: The form needs TensorFlow, which is not installed; a `.tflite` file and a
            folder of CTranslate2 need none. The model of another program is converted with it.
        ValueError: It holds none of these, is damaged, or has a newer format.

    Examples:
        >>> import kformer
        >>> kformer.load("runs/de-en").translate("Ein Hund läuft.")
        'A dog runs.'
        >>> kformer.load("de-en.tflite").translate("Ein Hund läuft.")
        'A dog runs.'
    """
    path = model_file(local_file(path))
    form = saved_form(path)
    if form == "keras":
        return _load_keras_file(path)
    return saved_kind(path).part(FORMS[form])(path)


def from_published(name: str | Path) -> Any:
    """Returns a published model as a Keras model, to fine-tune or export it.

    Args:
        name: As for `kformer.load`, such as "hf://Helsinki-NLP/opus-mt-de-en".

    Returns:
        What its `.keras` file holds, such as a `kformer.Translator`; with the shortlist of its
        publisher, if there is one.

    Raises:
        ConnectionError, FileNotFoundError, ImportError: As for `kformer.load`.
        ValueError: It is no name, or its publisher gives a `.tflite` file alone.

    Examples:
        >>> import kformer
        >>> translator = kformer.from_published("firefox://de-en")
        >>> translator.save("de-en.keras")
    """
    if published_name(name) is None:
        raise ValueError(
            "The name of a published model is needed, such as firefox://en-pt. "
            f"Received: name={str(name)!r}."
        )
    return _with_shortlist(local_file(name, ".keras"))


def local_file(name: str | Path, suffix: str = ".tflite") -> Path:
    """Returns the path of a published model in the cache; any other path as it is.

    Args:
        suffix: Of the form that is needed.
    """
    published = published_name(name)
    if published is None:
        return Path(name)
    from kformer.imports.published.model_cache import (
        cached_model,  # Other paths do without its locks.
    )

    def check():
        if not published.may_be_converted:
            TRANSLATOR.part("model")  # Its error names TensorFlow if that is missing.

    return cached_model(published, _kept, check).file(suffix, _converted)


def _kept(files, folder):
    """Writes the model of downloaded files to a folder, and returns what it says about itself."""
    about = keep(files, folder)
    if about:
        return about
    if (file := folder / "model.tflite").exists():
        return dict(metadata.read_metadata(file))
    if (file := folder / "model.keras").exists():
        from kformer.tasks.keras_file import about_in  # It imports SentencePiece.

        return about_in(file)
    return {}


def _converted(path, new):
    """Writes the `.tflite` file of a `.keras` file."""
    if path.suffix != ".keras":
        raise ValueError(
            "To be changed or exported, a published model must have a .keras file. "
            f"Received: {str(path)!r} alone."
        )
    from kformer.export.tflite.tflite_writer import export_tflite
    from kformer.imports.published.downloads import tell

    tell("Converting it to a .tflite file, once ...")
    export_tflite(_with_shortlist(path), new, precision="int8")


def _with_shortlist(path):
    """Loads a `.keras` file, with the shortlist beside it."""
    model = _load_keras_file(path)
    table = path.with_suffix(".npz")
    if table.exists():
        from kformer.decoding.shortlist import Shortlist

        model.shortlist = Shortlist.load(table)
    return model


def _load_keras_file(path):
    from kformer.tasks.keras_file import kind_in

    kind = kind_in(path)
    model = (kind or TRANSLATOR).part("model")  # Its error names TensorFlow if that is missing.
    if kind is not None:
        return model.load(path)
    from kformer.tasks.network_file import load_network

    return load_network(path)


def saved_kind(path: str | Path) -> Kind:
    """Returns the kind of the model at `path`, whatever its form, without loading it.

    A `.keras` file of others counts as a translator, whose class refuses it.
    """
    path = model_file(path)
    form = saved_form(path)
    if form == "tflite":
        return metadata.kind_in(metadata.read_metadata(path))
    if form in ("ctranslate2", ROUTE):
        return TRANSLATOR
    if form == "saved_model":
        name = read_report(newest_version(path)).get("kind", TRANSLATOR.name)  # Early ones lack it.
        kinds = {kind.name: kind for kind in EXPORTED}
        return kinds[check_choice("kind", name, kinds)]
    from kformer.tasks.keras_file import kind_in  # It imports SentencePiece.

    return kind_in(path) or TRANSLATOR


def named_model(name: str | Path, suffix: str = ".tflite") -> Path:
    """Returns the path of the model that a command or a server is given as `name`.

    The name of a published model leads to its file in the cache, of the form with that suffix.

    The word "demo" is the model in the package, unless a file or folder has this name; "./demo" and
    a `Path` are always paths. Of the folder of a run it is the best model, as for `load`.
    """
    path = model_file(local_file(name, suffix))
    return DEMO_FILE if name == DEMO and not path.exists() else path


def saved_form(path: str | Path) -> str:
    """Returns "keras", "saved_model", "tflite", "ctranslate2" or "route", by what is at `path`."""
    path = Path(path)
    if path.is_dir():
        if all((path / name).is_file() for name in _CTRANSLATE2):
            return "ctranslate2"
        if not holds_saved_model(path):
            raise _no_model_folder(path)
        return "saved_model"
    if not path.exists():
        raise FileNotFoundError(f"There is no such file or folder. Received: path={str(path)!r}.")
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"PK"):
        return "keras"
    if head[4:8] == b"TFL3":
        return "tflite"
    if path.suffix == ".json" and head.lstrip().startswith(b"{"):
        return ROUTE
    raise ValueError(
        "A model is a .keras file, a .tflite file, a folder of a SavedModel or of CTranslate2, or "
        "the .json file of a route. "
        f"Received: path={str(path)!r}, which is none of them."
    )


def _no_model_folder(path):
    models = sorted(file.name for file in path.iterdir() if file.suffix in (".keras", ".tflite"))
    held = f"which holds {', '.join(models[:5])}" if models else "which holds no model"
    if str(path) == DEMO:
        held += ". The model in the package is `demo` only where no file or folder has that name"
    return ValueError(
        "A folder must hold a SavedModel, which is saved_model.pb or numbered versions, or the "
        f"model of a training run, which is {any_of([*MODEL_FILES])}. "
        f"Received: path={str(path)!r}, {held}."
    )
