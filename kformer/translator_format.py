"""The format of a translator's `.keras` file, read without loading it."""

import json
import zipfile

FORMAT = 1  # Of the `.keras` file; readers refuse what is newer than they are.


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
