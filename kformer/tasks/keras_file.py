"""The format of a translator's `.keras` file, read without loading it."""

import json
import zipfile

from kformer.files import check_file
from kformer.text.vocabulary import ASSET

FORMAT = 2  # Of the `.keras` file; readers refuse what is newer than they are.
_ADDED = {"activation": "relu", "num_decoder_layers": None}  # Settings that format 1 lacks.
_ASSETS = "assets/layers"  # A folder for each layer, where Keras puts its assets.
_TOKENIZERS = ("tokenizer", "tokenizer_1")  # Of the source; of the target, if it has its own.


def format_of(path):
    """Returns the format of the translator in a `.keras` file; None, if there is none in it."""
    if path.suffix != ".keras" or not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            held = json.loads(archive.read("config.json"))
        return held["config"]["format"] if held["registered_name"] == "kformer>Translator" else None
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError):
        return None


def check_format(received):
    """Refuses a format that is newer than this kformer."""
    if received > FORMAT:
        raise ValueError(
            f"This kformer reads translators up to format {FORMAT}; update it. "
            f"Received: format={received}."
        )


def transformer_config(path) -> dict:
    """Reads the settings of the transformer in a translator's `.keras` file.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: The file holds no translator, or one of a newer format.
    """
    check_file(path)
    check_translator(path)
    with zipfile.ZipFile(path) as archive:
        return _ADDED | json.loads(archive.read("config.json"))["config"]["transformer"]


def tokenizer_models(path) -> tuple[bytes, bytes | None]:
    """Reads the SentencePiece models of a translator's `.keras` file, without loading the rest.

    Returns:
        That of the source; and that of the target, if it has a tokenizer of its own, else None.

    Raises:
        ValueError: The file holds no translator, or one of a newer format.
    """
    check_translator(path)
    try:
        with zipfile.ZipFile(path) as archive:
            own_target = json.loads(archive.read("config.json"))["config"]["own_target_tokenizer"]
            names = _TOKENIZERS if own_target else _TOKENIZERS[:1]
            source, *target = (archive.read(f"{_ASSETS}/{name}/{ASSET}") for name in names)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(
            "The file must hold a whole translator, as `Translator.save` writes it. "
            f"Received: path={str(path)!r} ({error})."
        ) from error
    return source, target[0] if target else None


def check_translator(path):
    """Raises a ValueError unless `path` holds a translator of a format that this kformer reads."""
    received = format_of(path)
    if received is None:
        raise ValueError(
            "A translator is a .keras file, as `Translator.save` writes it. "
            f"Received: path={str(path)!r}, which holds none."
        )
    check_format(received)
