"""Loads networks and other Keras models without a tokenizer from `.keras` files."""

import warnings
from pathlib import Path

import keras

from kformer.archives import Archive
from kformer.arguments import stacklevel_of_user
from kformer.backend import check_process
from kformer.json_files import parse_json
from kformer.tasks.keras_file import RULE, check_sizes, check_weights


def load_network(path: str | Path) -> keras.Model:
    """Loads a network of kformer, or another Keras model, and runs no code from the file."""
    path = Path(path)
    config = _config(path)
    if config is None:
        raise ValueError(
            "A model's file is a .keras file, as `save` of a model of kformer or Keras writes it. "
            f"Received: path={str(path)!r}, which holds none."
        )
    check_process()
    try:
        with Archive(path, RULE) as archive:
            check_sizes(archive, _settings_of_stacks(config))
            model = load_model(path)
            check_weights(archive, model)
    except Exception as error:  # Keras, h5py and zipfile each have their own.
        raise ValueError(
            "The file must hold a whole Keras model, whose classes are those of Keras and kformer "
            "or were registered before. "
            f"Received: path={str(path)!r} "
            f"({type(error).__name__}: {str(error).split(chr(10))[0]:.300})."
        ) from error
    return model


def load_model(path: Path) -> keras.Model:
    """Loads a Keras model in safe mode; without its optimizer if that cannot be read here."""
    try:
        return keras.saving.load_model(path, safe_mode=True)
    except Exception as error:
        model = keras.saving.load_model(path, compile=False, safe_mode=True)
        warnings.warn(
            "The model is loaded without its optimizer, loss and metrics, because one of them "
            f"cannot be read here. Received: path={str(path)!r} ({str(error).split(chr(10))[0]}).",
            stacklevel=stacklevel_of_user(),
        )
        return model


def _config(path):
    """Returns the description of the Keras model in a file; None for other files."""
    if path.suffix != ".keras" or not path.is_file():
        return None
    try:
        with Archive(path, RULE) as archive:
            config = parse_json(archive.read("config.json"))
    except ValueError:
        return None
    return config if isinstance(config.get("config"), dict) and "class_name" in config else None


def _settings_of_stacks(config):
    """Returns the settings of a network of kformer; of other models {}."""
    if not str(config.get("registered_name")).startswith("kformer>"):
        return {}
    settings = config["config"]
    encoder = settings.get("encoder")
    return encoder if isinstance(encoder, dict) else settings
