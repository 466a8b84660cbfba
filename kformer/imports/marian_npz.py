"""The files of a folder that Marian itself writes, and that OPUS-MT publishes as an archive."""

from pathlib import Path

from kformer.imports.marian_model import MarianModel
from kformer.imports.marian_vocabularies import vocabulary_files
from kformer.imports.yaml_text import read_yaml

_OPTIMIZER = ".optimizer.npz"
_SETTINGS = ("{}.decoder.yml", "decoder.yml")  # For translating; {} is the name of the weights.


def open_npz(path: Path) -> MarianModel:
    """Returns the model of a folder, or of one of several .npz files in it."""
    weights = _chosen(path)
    settings = _beside(weights)
    names = settings.get("vocabs", [])
    names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return MarianModel(weights, vocabulary_files(weights.parent, names), settings)


def _chosen(path):
    """Returns the file of weights."""
    if path.is_file():
        return path
    files = [file for file in sorted(path.glob("*.npz")) if not file.name.endswith(_OPTIMIZER)]
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise (ValueError if files else FileNotFoundError)(
            "A folder of Marian must hold one file *.npz; of several, give the path of one. "
            f"Received: {str(path)!r}, which holds {names}."
        )
    return files[0]


def _beside(weights):
    """Returns the settings of the files beside the weights, those for translating first."""
    settings = {}
    for name in _SETTINGS:
        path = weights.with_name(name.format(weights.name))
        if path.is_file():
            settings = read_yaml(path) | settings
    training = weights.with_name(f"{weights.name}.yml")
    if "vocabs" not in settings and training.is_file():
        settings["vocabs"] = read_yaml(training).get("vocabs", [])
    return settings
